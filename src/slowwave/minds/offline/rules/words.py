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
    "team company client clients lawyer advisor adviser supervisor landlord landlady band class tenant accountant vet plumber "
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
    "orthodontist cardiologist neurologist oncologist paediatrician pediatrician anaesthetist foreman forewoman shepherd headmistress headmaster bricklayer roofer plasterer seamstress sommelier brewer barber"
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
