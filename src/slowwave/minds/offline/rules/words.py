"""Tables of English words that the rules read: people, occupations, adverbs, moods, talk about the talk."""

from typing import Final

from slowwave.policy.text.names import word_set

MODALS: Final = word_set(
    "can could will would should must may might shall shan't can't cannot couldn't won't wouldn't shouldn't"
)
ADVERBS: Final = word_set(
    "also always usually often never still just really recently actually currently already even only ever sometimes mostly "
    "typically generally now finally totally absolutely definitely mainly probably hardly rarely personally originally once then "
    "both especially truly simply regularly normally occasionally primarily successfully eventually officially initially "
    "previously frequently basically too so once again genuinely rather honestly literally kinda super soon lately nearly almost "
    "barely quickly slowly strongly deeply briefly accidentally secretly fully partly temporarily permanently legally certainly "
    "obviously apparently seriously much vastly"
)

KIN: Final = word_set(
    "mother mom mum father dad parents sister sisters brother brothers siblings sibling son sons daughter daughters kid kids child "
    "children husband wife spouse partner boyfriend girlfriend fiance fiancé fiancée grandma grandmother grandpa grandfather grandad "
    "granddad granny nan grandparents grandson granddaughter aunt auntie uncle cousin cousins niece nephew family friend friends "
    "colleague colleagues coworker coworkers boss manager mentor neighbor neighbour neighbors neighbours roommate roommates flatmate "
    "flatmates housemate housemates teammate teammates teacher coach therapist doctor dentist dog dogs cat cats puppy pup kitten pet "
    "pets stepson stepdaughter stepmother stepfather stepbrother stepsister twins twin baby toddler in-laws mother-in-law "
    "father-in-law mate bestie hubby missus gran nana stepdad stepmum stepmom godson goddaughter godmother godfather grandchildren grandkids budgie tortoise pony sister-in-law brother-in-law son-in-law daughter-in-law ex ex-husband ex-wife rabbit horse parrot hamster"
)
PERSON_WORDS: Final = KIN | word_set(
    "co-founder cofounder founder ceo editor agent publisher intern apprentice lodger carer caregiver pupil pupils au-pair godparents instructor principal director team company client clients lawyer advisor adviser supervisor landlord landlady band class tenant accountant vet plumber "
    "electrician nurse babysitter nanny cleaner assistant student students tutor trainer gp surgeon"
)
ANIMATE: Final = word_set("someone somebody people guy woman man girl boy lady person everyone")
NAMED_KIN: Final = word_set(
    "mum mom dad grandma grandpa grandad granddad granny nan mother father grandmother grandfather mummy daddy"
)
"""Kin that need no "my": "Mum lives in Truro"."""
PLURAL_KIN: Final = word_set(
    "parents sisters brothers siblings sons daughters kids children grandparents cousins friends colleagues coworkers neighbors "
    "neighbours roommates flatmates housemates teammates dogs cats pets twins in-laws clients students"
)

SOME_PEOPLE: Final = (
    r"(?:some|a few|a couple of|a bunch of|a group of|two|three|four|five|six|several|many|most|the|a|an|one|all|both|another|my|our)(?: of)?(?: (?:the|my|our))? (?:[a-z-]+ ){0,2}?"
    rf"(?:{'|'.join(sorted(KIN | {'people', 'guys', 'girls', 'boys', 'lads', 'gang', 'crew', 'fam', 'buddy', 'buddies', 'pals', 'classmates', 'classmate', 'mates', 'folks'}))})"
    r"(?: (?:from|at|in|of) (?:(?:my|our|the|a) )?[\w'’-]+(?: (?!and\b)[\w'’-]+)?)?"
)
"""A pattern of people without a name: "some friends from church"."""
JOBS: Final = word_set(
    "nurse doctor teacher engineer developer designer writer artist musician student lawyer accountant chef cook baker banker "
    "scientist researcher programmer architect manager consultant analyst photographer painter dancer singer actor actress "
    "producer director editor journalist author professor lecturer tutor therapist counselor counsellor psychologist dentist "
    "pharmacist veterinarian vet mechanic electrician plumber carpenter farmer gardener driver pilot soldier veteran firefighter "
    "officer technician technologist administrator coordinator specialist entrepreneur founder freelancer contractor "
    "parent mom mum mother dad father vegetarian vegan pescatarian runner volunteer coach trainer athlete blogger librarian "
    "translator economist statistician paralegal owner retiree widow widower grandfather grandmother salesperson realtor broker "
    "barista waiter waitress bartender cashier clerk secretary recruiter biologist chemist physicist mathematician historian "
    "sociologist anthropologist stylist hairdresser tailor welder builder surgeon midwife paramedic judge priest pastor imam rabbi "
    "sailor fisherman butcher florist jeweller jeweler potter sculptor composer pianist violinist cellist drummer guitarist "
    "graduate undergraduate postgraduate postdoc apprentice intern trainee beekeeper cyclist swimmer climber smoker teetotaller "
    "citizen immigrant refugee expat native optician radiographer surveyor planner auditor solicitor barrister magistrate scout "
    "crane-operator operator conductor warden ranger guide caretaker janitor cleaner courier postman postwoman policeman "
    "policewoman detective spy minister mayor councillor diplomat interpreter physiotherapist nutritionist dietitian "
    "orthodontist cardiologist neurologist oncologist paediatrician pediatrician anaesthetist foreman forewoman shepherd headmistress headmaster physio osteopath chiropractor podiatrist optometrist vicar joiner locksmith bricklayer roofer plasterer seamstress sommelier brewer barber"
)
GENERIC: Final = word_set(
    "thing things stuff something everything anything nothing lot lots way ways time times day days fun much good great nice "
    "amazing awesome cool bit one ones kind sort some any more most again back well better best lately far soon here there "
    "together really truly such all both else feeling feelings part point side sense kinda place other others hard happy "
    "positive determined focused upbeat motivated strong optimistic dream dreams vibes self goals journey passion difference chance "
    "step steps tough forward attitude possible impact life true whole new next last first little able ready break try "
    "blast world moment moments memories memory experience experiences lovely wonderful incredible fantastic super special "
    "people someone somebody everyone event events story stories adventure adventures input extra additional effort efforts unknown "
    "beautiful perfect important useful helpful interesting exciting meaningful inspiring challenging rewarding fulfilling "
    "space reminder growth strength joy peace love support courage energy perspective perspectives change changes"
)
PEOPLES: Final = word_set(
    "american british english scottish welsh irish french german swiss austrian italian spanish portuguese dutch belgian danish "
    "swedish norwegian finnish polish czech slovak hungarian romanian bulgarian greek turkish russian ukrainian serbian croatian "
    "bosnian albanian chinese japanese korean vietnamese thai indian pakistani bangladeshi nepali filipino indonesian malaysian "
    "iranian persian iraqi syrian lebanese israeli egyptian moroccan tunisian algerian nigerian ghanaian kenyan ethiopian "
    "canadian mexican brazilian argentinian chilean colombian peruvian cuban australian european african asian arab latino latina "
    "catholic protestant muslim jewish hindu buddhist sikh black white"
)
LASTING_STATES: Final = word_set(
    "vegan vegetarian pescatarian diabetic asthmatic gay trans transgender bisexual lesbian single married divorced engaged widowed "
    "separated pregnant retired autistic dyslexic unemployed self-employed lactose gluten coeliac celiac left-handed right-handed "
    "bilingual trilingual colour-blind color-blind colourblind colorblind deaf blind allergic intolerant epileptic anaemic anemic "
    "teetotal adopted homeschooled freelance sober atheist religious short-sighted nearsighted dyspraxic infertile born raised fluent"
)
"""Adjectives after "I am" that describe a person for longer than a day."""
PASSING: Final = word_set("pregnant engaged unemployed homeless injured freelance single")
"""States that end: a fact of them says when it was said."""
MOODS: Final = word_set(
    "tired hungry thirsty happy sad sick ill new fine okay ok sorry ready busy free late early lost stuck confused curious bored "
    "back afraid sure glad excited worried stressed nervous unsure aware thrilled grateful thankful blessed proud amazed touched "
    "inspired overwhelmed scared surprised honored honoured impressed moved relieved hooked motivated determined prepared pumped "
    "stoked psyched hopeful optimistic positive lucky fortunate content delighted pleased concerned anxious frustrated upset angry "
    "annoyed exhausted drained certain confident comfortable uncomfortable able unable willing keen eager interested committed "
    "dedicated focused good great well better bad doing down up here there open right wrong so in on about all set used supposed "
    "going still fascinated intrigued drawn convinced tempted torn happier proudest nice jealous envious embarrassed ashamed "
    "mad shocked stunned speechless heartbroken devastated swamped busy slammed burned burnt attached drained bummed disappointed"
)
"""What follows "I am" in talk about the moment: moods, readiness and idioms."""
CHATTING: Final = word_set(
    "think guess mean suppose wonder bet swear promise admit feel know see hear understand agree appreciate thank hope wish believe "
    "imagine forget remember notice realize realise say tell ask talk mention care mind assume doubt expect relate look seem sound "
    "trust congratulate apologize apologise reckon figure assure recall reflect ponder consider acknowledge recognize recognise "
    "struggle fear worry miss cherish treasure embrace strive deserve respect admire welcome concur stress emphasize owe clarify"
)
"""Verbs of thinking, feeling and talking: alone they are no statement about a life."""
TALKING: Final = word_set(
    "discuss talk chat mention ask tell say explain share suggest agree debate compare clarify confirm outline cover specify"
)
WANTING_OBJECT: Final = word_set(
    "decide submit need want use buy make take get have own bring put keep find lose give send choose pick prefer like love hate "
    "enjoy see meet visit receive add build create design develop include set hold raise show win break change update implement "
    "fix write order sell achieve complete discover attend do try plan book sign carry"
)
"""Verbs that say nothing without an object."""
BARE: Final = word_set(
    "smoke drink drive swim snore cook knit paint garden sing dance fish hunt ski surf sail retire graduate stutter stammer crochet "
    "sew sail dive vape meditate commute climb cycle box bake vote pray fast"
)
"""Verbs that are a statement without an object: "I don't drink"."""
TOGETHER: Final = word_set(
    "meet marry divorce separate agree argue fight talk chat disagree gather reunite reconnect bond text differ"
)
"""Verbs whose plural subject acts as one: "we met" says nothing of one person."""
LIKING: Final = word_set("like love hate enjoy prefer avoid adore dislike detest loathe despise")
TOLERATING: Final = word_set(
    "eat drink stand have tolerate smoke drive swim wear speak read play ride sing cook bear digest touch"
)
DECIDING: Final = word_set("decide choose switch agree pick select commit")
WORKING: Final = word_set(
    "build develop create design implement integrate deploy migrate configure write rewrite refactor use add optimize improve "
    "analyze reduce increase upgrade update complete debug fix test redesign track automate code measure install"
)
PLANNING: Final = word_set(
    "go plan hope aim want intend wish need look train prepare save apply start move get leave fly consider"
)
"""Verbs that announce something when they are in progress or want an object."""

FAMILIAR: Final = word_set(
    "beach gym office kitchen garden yard backyard house home city town village park mountains mountain hills woods forest sea ocean lake river coast "
    "countryside country outdoors library museum cinema movies theatre theater zoo airport station supermarket store shops mall market pub bar hospital "
    "school university college church mosque temple synagogue pool sauna balcony garage attic loft basement cellar bathroom bedroom hall hallway fridge freezer "
    "oven dishwasher boiler heating internet web web news radio tv television telephone phone world sun moon sky rain snow weather heat cold north south east west "
    "northeast northwest southeast southwest suburbs bank post police government army navy military dentist doctor vet barber hairdresser pharmacy bakery "
    "butcher postman landlord fam gang crew boys girls guys car bus train tram tube subway metro bike boat plane ferry road street sidewalk "
    "morning mornings afternoon afternoons evening evenings night nights weekend weekends week weeks month year years day days future past present time moment end "
    "beginning start middle meantime summer winter spring autumn fall holidays christmas easter pandemic lockdown war piano guitar violin viola drums flute cello "
    "saxophone clarinet trumpet trombone harp ukulele accordion banjo bass organ keyboard dark truth environment community public "
    "elderly homeless poor economy climate planet earth universe nature countryside streets stairs elevator lift dishes laundry cooking cleaning "
    "washing ironing shopping rubbish trash bins rent mortgage bills groceries mail newspaper toilet shower sofa couch bed alarm lottery floor wall walls window windows "
    "door roof ground air water fire back left right side lawn plants vegetables tomatoes chickens hens surgery clinic ward allotment shed barn greenhouse canal railway tracks harbour harbor port cathedral castle square stove fireplace chimney driveway patio terrace porch lobby courtyard gate fence hedge pond well cottage farm field fields quarry mine factory mill "
    "hour hours minute minutes way plunge trees tree studio playground campfire bonfire trail desert jungle island border capital centre center "
    "neighborhood neighbourhood local area region world olympics election elections opera ballet circus theatre stage frontend backend cloud stock piano "
    "jitters creeps chills shivers ick blues hiccups giggles user assistant same rest whole rules law flu measles virus wifi lights"
)
"""Nouns that a listener knows after "the", without a description."""
UNDER_DISCUSSION: Final = word_set(
    "list issue issues error errors problem problems bug bugs warning warnings crash fix routine option options suggestion suggestions example examples step steps tip tips "
    "method methods approach approaches result results output outputs answer answers question questions prompt idea ideas topic topics task tasks exercise exercises "
    "resource resources information info details solution solutions change changes situation case cases concept concepts strategy strategies item items process response "
    "progress other others"
)
"""Nouns of the talk itself: after "the" they mean what was said before, whatever else their sentence names."""
INCOMPLETE: Final = word_set(
    "coverage accuracy performance latency throughput efficiency scalability reliability usability readability maintainability precision quality percentage proportion "
    "runtime uptime downtime improvement improvements reduction increase decrease species kinds types varieties styles variations aspects elements features settings details "
    "adjustments modifications enhancements results outputs outcomes findings components sections categories "
    "requirements functionality implementation consumption usage rate rates score scores complexity bottleneck bottlenecks footprint utilization utilisation"
)
"""Nouns of a part, a kind or a measure: they say nothing without what they are of."""
KINDS: Final = word_set(
    "approaches methods techniques strategies options ways ideas solutions examples resources tips topics concepts improvements tasks exercises"
)
"""Nouns of kinds: without what they are for and without a name they say nothing ("different approaches")."""
WEAK: Final = word_set(
    "new more most extra additional further other different various several many few some same next last previous current existing main basic simple initial "
    "final overall general specific certain particular whole entire full total complete remaining good great better best nice big small large little long short high low "
    "higher lower larger smaller faster slower easier right wrong correct real actual own original updated revised improved modern local similar such relevant "
    "important necessary required possible potential common usual interesting beautiful amazing cool fun decent solid average physical digital fresh latest recent "
    "first-ever fewer old older newer former latter faster cheaper single multiple alternative appropriate proper suitable available unique useful helpful"
)
"""Adjectives that do not say which one is meant."""
