"""English word tables for comparing two facts: function words, irregular forms, and sets whose members exclude each other."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that carry grammar rather than content. Prepositions are counted on their own.
PREPOSITIONS: Final = _words(
    "in on at with from to up down into onto off over under behind front near through without after before above below "
    "inside outside around along across against beside besides between among beneath toward towards upon within past beyond "
    "underneath about for away out back together during since until till"
)
FORMS_OF_BE: Final = _words("is are was were am be been being")
AUXILIARIES: Final = _words(
    "is are was were am be been being has have had having do does did doing can could will would shall should may might must"
)
NEGATIONS: Final = _words("not no never none nobody nothing neither nor without hardly")
FUNCTION_WORDS: Final = (
    PREPOSITIONS
    | AUXILIARIES
    | NEGATIONS
    | _words(
        "a an the this that these those there here and or but so as by of if then than also too very really just "
        "i me my mine myself we us our ours ourselves you your yours yourself he him his himself she her hers herself "
        "it its itself they them their theirs themselves who whom whose which what when where while how why "
        "some any each other another such own one s d ll m re ve"
    )
)
# Nouns too general to tell two facts apart.
EMPTY_NOUNS: Final = _words("person someone somebody anyone group piece body thing bunch lot")

# Function words of English and of no other widely written language, and of such languages and not of English.
ENGLISH_EVIDENCE: Final = _words(
    "the is are of and with has have had does did from this that which who what when where his her their your my she they were "
    "been being would could should about into than then because after before it its he we you our every each some"
)
FOREIGN_EVIDENCE: Final = (
    _words(
        "il lo la le les un una une uno di del della dei che non è e et est pas ne dans pour avec sur des du der die das und ist nicht "
        "ein eine einen mit auf für von zu den dem el los las y en es por para con sin da dos das os em um uma não het een niet "
        "van och är inte ett på og ikke er på jeg ei ja nie się z na tidak yang dan ini ke bir ve değil"
    )
    - FUNCTION_WORDS
)

# Surface form to the form whose stem stands for it; Porter2 cannot know these.
_IRREGULAR_LINES: Final = """
be am is are was were been being
man men guy guys bloke blokes gentleman gentlemen
woman women lady ladies
child children kid kids
person people persons folk folks
foot feet
tooth teeth
mouse mice
wolf wolves
knife knives
wife wives
half halves
go went gone goes
run ran running
sit sat sitting seated
stand stood
eat ate eaten
drive drove driven
ride rode ridden riding
buy bought purchase purchased purchases purchasing
bring brought
catch caught
teach taught
think thought
make made making
take took taken taking
give gave given giving
get got gotten getting
see saw seen
say said says
tell told
find found
feel felt
lose lost losing
meet met
keep kept
hold held
sell sold
send sent
spend spent
pay paid
build built
write wrote written writing
wear wore worn
win won
throw threw thrown
fly flew flown flies
fall fell fallen
know knew known
grow grew grown
draw drew drawn
break broke broken
speak spoke spoken
choose chose chosen
wake woke woken
swim swam swum
sing sang sung
drink drank drunk
begin began begun
hide hid hidden
bite bit bitten
sleep slept
sweep swept
feed fed
fight fought
slide slid
shake shook shaken
stick stuck
strike struck stricken
hang hung
dig dug
lay laid
lie lying lain
tie tying
die dying
become became
come came coming
understand understood
shoot shot
steal stole stolen
tear tore torn
bend bent
lend lent
leap leapt
kneel knelt
light lit
ring rang rung
rise rose risen
sink sank sunk
spin spun
forget forgot forgotten
do did done does
have has had having
photo photos picture pictures photograph photographs pic pics
television tv televisions tvs
bike bikes bicycle bicycles
phone phones telephone telephones
mother mom mum mommy mummy moms mums
father dad daddy dads
movie movies film films
car cars automobile automobiles
"""
IRREGULAR: Final[Mapping[str, str]] = MappingProxyType(
    {form: line.split()[0] for line in _IRREGULAR_LINES.strip().splitlines() for form in line.split()}
)
PAST: Final = _words(
    "went ran sat stood ate drove rode bought brought caught taught thought made took gave got saw said told found felt lost met kept "
    "held sold sent spent paid built wrote wore won threw flew fell knew grew drew broke spoke chose woke swam sang drank began hid bit "
    "slept swept fed fought slid shook stuck struck hung dug became came understood stole tore lent rang rose sank forgot led left used"
)
# Participles that do not end in -ed or -en, for telling a passive from a place ("made by" against "standing by").
PARTICIPLES: Final = _words(
    "bought brought caught taught thought made seen said told found felt lost met kept held sold sent spent paid built won "
    "thrown flown known grown drawn worn torn sung drunk fed fought shaken stuck struck hung dug laid led done gone cut put set "
    "hit read run shot left spun swept lit hurt spread shut"
)

# "one" is missing on purpose: it is as often an article or a pronoun.
_NUMBER_LINES: Final = """
0 zero
2 two second twice
3 three third
4 four fourth
5 five fifth
6 six sixth
7 seven seventh
8 eight eighth
9 nine ninth
10 ten tenth
11 eleven
12 twelve dozen
13 thirteen
14 fourteen
15 fifteen
16 sixteen
17 seventeen
18 eighteen
19 nineteen
20 twenty
30 thirty
40 forty
50 fifty
60 sixty
70 seventy
80 eighty
90 ninety
100 hundred
1000 thousand
1000000 million
1000000000 billion
"""
NUMBER_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {word: line.split()[0] for line in _NUMBER_LINES.strip().splitlines() for word in line.split()[1:]}
)

QUANTITIES: Final = _words(
    "all most many few several always usually never alone together every everyone everybody everything often sometimes rarely seldom both half "
    "only mostly whole entire daily weekly monthly yearly"
)
COMPARISONS: Final = _words(
    "more less than before after until till still again yet already anymore else instead except"
)
# Words that make a statement something other than plainly so; a fact and its wish, doubt or end are two facts.
MODALS: Final = _words(
    "would could might may should must will shall need needs needed how if unless whether plan plans planned planning want wants wanted wanting hope hopes hoped "
    "hoping try tries tried trying wish wishes wished intend intends intended consider considers considered considering think "
    "thinks thought believe believes believed dream dreams dreamed doubt doubts doubted pretend pretends pretended claim claims "
    "claimed suspect suspects suspected refuse refuses refused refusing fail fails failed failing stop stops stopped stopping "
    "quit quits quitting finish finishes finished finishing start starts started starting begin begins began avoid avoids "
    "avoided avoiding forget forgot forgets deny denies denied almost former formerly maybe perhaps possibly probably "
    "ex cancel cancels cancelled canceled postpone postpones postponed unable able supposed"
)
TIME_WORDS: Final = _words(
    "last next ago yesterday today tonight tomorrow recently now currently previously week weeks weekend weekends month months "
    "year years day days hour hours minute minutes morning afternoon evening night noon midnight spring summer autumn winter "
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october "
    "november december mon tue tues wed thu thurs fri sat sun jan feb mar apr jun jul aug sept oct nov dec pm early late earlier "
    "later soon weekly monthly daily yearly christmas easter season"
) - {"may", "sun", "sat", "march", "mar"}
# Month names that are also plain words count only when written with a capital.
CAPITALISED_TIMES: Final = _words("May March Mar Sun Sat")

# One set a line; two facts that differ by members of two places of one line say different things. Words in one place, joined
# by "/", go together.
_EXCLUSIVE_LINES: Final = """
red blue green yellow orange purple/violet pink brown black white gray/grey beige gold/golden silver turquoise/cyan magenta
blond/blonde brunette
monday/mon tuesday/tue/tues wednesday/wed thursday/thu/thurs friday/fri saturday sunday
january/jan february/feb march april/apr may june/jun july/jul august/aug september/sept october/oct november/nov december/dec
spring summer autumn winter
morning afternoon evening night noon midnight
today tomorrow yesterday
weekday weekend
day night
daily weekly monthly yearly/annual
early late
past future
always never sometimes
north/northern south/southern east/eastern west/western
man woman boy girl baby
he/him/his/himself she/her/hers/herself i/me/my/mine/myself we/us/our/ours you/your/yours they/them/their/theirs
male female
husband wife
mother father sister brother son daughter aunt uncle niece nephew grandmother grandfather grandson granddaughter cousin
girlfriend boyfriend
king queen
adult child
big/large/huge/giant small/little/tiny
long short
tall short
high low
young old
new old
hot/warm cold/cool
fast/quick/quickly slow/slowly
hard soft
hard/difficult easy/simple
simple complex/complicated
heavy light
dark light/bright
thick thin
fat thin/slim
wide narrow
deep shallow
full empty
open close/shut
wet dry
clean dirty
rich poor
cheap expensive
loud/noisy quiet/silent
happy sad/upset angry
good bad
better worse
best worst
right/correct wrong/incorrect
true false
strong weak
first last/final
left right middle/center
up down
in/inside out/outside
indoor/indoors/inside outdoor/outdoors/outside
into out
on off
over under/beneath
above below
front behind beside
before after
top bottom
start/begin stop/finish/end/quit
more less/fewer
most least
all/everyone/everybody none/nobody
increase/rise/raise/grow decrease/drop/reduce/lower/shrink
add remove/delete
buy sell
give take/receive/get
send receive
lend borrow
teach learn
ask answer
win lose
pass fail
push pull
come go
arrive leave/depart
enter leave/exit
love/like/enjoy hate/dislike/fear
accept refuse/reject/decline
agree disagree
allow forbid/ban/prohibit
enable disable
live die
alive dead
remember forget
find lose
lock unlock
tie untie
pack unpack
dress undress
load unload
fold unfold
sit stand run walk lie kneel crawl swim climb
sit ride
eat drink cook fast
laugh cry
smile frown
speak/talk listen
read write
whisper shout/scream
wake/awake sleep/asleep
play work
throw catch
kick throw
lift drop
import export
upload download
internal external
public private
single married divorced widowed engaged
vegetarian vegan
alone together
dog/puppy cat/kitten horse cow sheep goat pig bird fish rabbit monkey tiger lion elephant bear panda kangaroo squirrel
apple banana orange lemon grape pear peach mango tomato potato onion carrot cucumber garlic pepper broccoli egg mushroom
beef chicken pork fish shrimp/prawn lamb turkey tofu
tea coffee water juice beer wine milk soda whisky vodka
bread rice pasta noodle pizza soup salad
guitar piano/keyboard violin drum flute trumpet cello saxophone
football basketball tennis soccer baseball volleyball hockey golf rugby cricket badminton
car bike motorcycle/motorbike truck bus train plane/airplane boat/ship scooter van
shirt dress jacket/coat hat skirt jeans shoe
kitchen bathroom bedroom garage garden office
beach mountain forest desert river lake
doctor lawyer teacher nurse engineer designer accountant chef artist programmer plumber dentist
english french german spanish italian chinese japanese korean russian portuguese arabic hindi
python java javascript typescript rust ruby kotlin swift golang php
vim emacs nano
mac windows linux
tabs spaces
postgres/postgresql mysql sqlite mongodb redis
staging production development
frontend backend
wood metal plastic glass
"""
EXCLUSIVE: Final = tuple(
    tuple(tuple(place.split("/")) for place in line.split()) for line in _EXCLUSIVE_LINES.strip().splitlines()
)
PREFIXES: Final = ("un", "dis", "in", "im", "non", "ir")
