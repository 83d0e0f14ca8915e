"""Patterns of messages that ask for work on a text (translate, correct, shorten, …), and the kinds of text that people paste."""

from typing import Final

from slowwave.policy.text.foreign.cues import Cue, cue

FIRST_PERSON: Final = r"(?:I|I['’](?:m|ve|d|ll)|im|ive|my|we|we['’](?:re|ve|ll|d)|our|me|mine|us)"
# Kinds of text that people paste, in which "I" is its author.
_TEXT: Final = (
    r"(?:text|sentences?|paragraphs?|passages?|e-?mails?|mails?|letters?|messages?|sms|posts?|comments?|reviews?|tweets?|threads?|articles?|essays?|stor(?:y|ies)|"
    r"poems?|haikus?|limericks?|sonnets?|lyrics|songs?|verses?|chorus|rap|chapters?|scenes?|scripts?|screenplays?|dialogues?|monologues?|novels?|fables?|fairy ?tales?|"
    r"excerpts?|extracts?|quot(?:e|es|ation|ations)|transcripts?|transcriptions?|interviews?|conversations?|chats?|logs?|notes?|abstracts?|statements?|testimon(?:y|ies|ials?)|"
    r"bios?|biograph(?:y|ies)|profiles?|cvs?|r[ée]sum[ée]s?|cover letters?|applications?|job ads?|job postings?|postings?|vacanc(?:y|ies)|adverts?|ads?|captions?|speech(?:es)?|"
    r"descriptions?|paragraph|phrases?|words|lines?|grammar|spelling|punctuation|wording|phrasing|translations?|drafts?|fan ?fic(?:tion)?s?|diar(?:y|ies)|journal entry|entries|readme|docs?|documentation|english|german|french|spanish|italian|portuguese|dutch)"
)
PASTED_KIND: Final = (
    r"(?:cvs?|r[ée]sum[ée]s?|cover letters?|applications?|job ads?|job postings?|vacanc(?:y|ies)|profiles?|bios?|e-?mails?|mails?|letters?|messages?|texts?|sms|posts?|"
    r"comments?|reviews?|tweets?|threads?|articles?|transcripts?|interviews?|conversations?|chats?|statements?|testimon(?:y|ials?)|poems?|haikus?|limericks?|lyrics|songs?|"
    r"verses?|rap|chapters?|scenes?|scripts?|screenplays?|dialogues?|monologues?|short stor(?:y|ies)|novels?|fables?|fairy ?tales?|excerpts?|extracts?|quotes?|quotations?|"
    r"paragraphs?|passages?|essays?|abstracts?|speech(?:es)?|diar(?:y|ies)|fan ?fic(?:tion)?s?|voicemails?|ads?|adverts?|listings?|reports?|memos?|newsletters?)"
)
FICTION_KIND: Final = (
    r"(?:poem|haiku|limerick|sonnet|lyrics|song|verse|chorus|rap|chapter|scene|script|screenplay|dialogue|monologue|short story|story|novel|fable|fairy ?tale|excerpt|"
    r"fan ?fic(?:tion)?|flash fiction|fiction|opening line|first line|prologue|epilogue|ballad|hymn|jingle|joke|riddle|tagline|epitaph|sketch)s?"
)
_TASK_VERB: Final = (
    r"(?:translat(?:e|ing)|rewrit(?:e|ing)|rephras(?:e|ing)|paraphras(?:e|ing)|reword(?:ing)?|summari[sz](?:e|ing)|proof-?read(?:ing)?|polish(?:ing)?|shorten(?:ing)?|"
    r"condens(?:e|ing)|tl;?dr|tighten(?:ing)?(?: up)?|soften(?:ing)?|redraft(?:ing)?|rework(?:ing)?|spruce up|smooth(?:ing)?(?: out)?|transcrib(?:e|ing)|spell-?check(?:ing)?|copy-?edit(?:ing)?|grammar-?check(?:ing)?|paraphrase)"
)
_TEXT_TASK_VERB: Final = (
    r"(?:edit|correct|fix|improve|revise|review|check|critique|score|rate|grade|evaluate|assess|analy[sz]e|continue|finish|complete|extend|expand|format|convert|simplify|"
    r"explain|interpret|comment on|feedback on|feedback for|thoughts on|opinion on|screen|tidy up|clean up|respond to|reply to|answer|read|judge|extract|classify|label|annotate|"
    r"make|turn|put|change|rhyme|tag|parse|write)"
)
_DEICTIC: Final = (
    r"(?:this|these|that|the following|following|the (?:text |passage |paragraph )?below|below|it|here|attached)"
)
_LANGUAGE: Final = (
    r"(?:english|german|french|spanish|italian|portuguese|dutch|swedish|danish|norwegian|finnish|polish|czech|russian|ukrainian|turkish|greek|arabic|hebrew|hindi|urdu|"
    r"chinese|mandarin|cantonese|japanese|korean|vietnamese|thai|indonesian|malay|swahili|latin|hungarian|romanian|bulgarian|croatian|serbian|catalan|irish|welsh)"
)
START: Final = r"(?:^|(?<=[.!?:\n]\s)|(?<=\n))[ \t\"'(]{0,9}"
_POLITE: Final = (
    r"(?:(?:please|pls|plz|now|hey|hi|hello|ok(?:ay)?|so|and|can you|could you|would you|will you|can u|help me(?: to)?|help|i want you to|i need you to|i need|i['’]d like you to|"
    r"i want|need|kindly|quick(?:ly)?|just),?\s+){0,4}"
)


_VERBS: Final = "translat rewrit rephras paraphras reword summari proof polish shorten condens tldr tl;dr tighten soften redraft rework spruce smooth transcrib spell copy grammar"
_TEXT_VERBS: Final = (
    "edit correct fix improve revise review check critique score rate grade evaluate assess analy continue finish complete extend expand format convert simplify explain "
    "interpret comment feedback thoughts opinion screen tidy clean respond reply answer read judge extract classify label annotate make turn put change rhyme tag parse write"
)
KINDS: Final = (
    "text sentence paragraph passage mail letter message sms post comment review tweet thread article essay stor poem haiku limerick sonnet lyrics song verse chorus rap chapter "
    "scene script screenplay dialogue monologue novel fable tale excerpt extract quot transcri interview conversation chat log note abstract statement testimon bio profile cv "
    "resume résumé application ad posting vacanc caption speech description phrase word line grammar spelling punctuation phrasing translation draft fic diar journal entr prologue "
    "epilogue ballad hymn jingle joke riddle epitaph sketch readme doc english german french spanish italian portuguese dutch voicemail listing report memo newsletter"
)
_LANGUAGES: Final = (
    "ish german french italian portuguese dutch norwegian czech russian ukrainian greek arabic hebrew hindi urdu chinese mandarin cantonese japanese korean vietnamese thai "
    "indonesian malay swahili latin hungarian romanian bulgarian croatian serbian catalan"
)


# A task on a text, with the text behind it: after a colon, a line break, or the end of a sentence that points at it.
TASK: Final[tuple[Cue, ...]] = (
    cue(
        rf"{START}{_POLITE}{_TASK_VERB}(?:\s+(?:please|pls|this|it|that|these|for me|the following|below|here))*\s*[.!:\n]",
        _VERBS,
    ),
    cue(rf"\b(?:this|these|that|the following) {_TEXT}\b[^.!?:\n]{{0,30}}[?:](?=\s+\S)", KINDS, ": ?"),
    cue(rf"{START}{_POLITE}{_TASK_VERB}\b[^:?\n.\"“]{{0,80}}(?::|\n|[\"“])", _VERBS),
    cue(
        rf"\b{_TASK_VERB}\b[^:\n.!?]{{0,30}}\b{_DEICTIC}\b[^:\n.!?]{{0,60}}(?:[:\n.!?]|\s[-–—]\s)",
        _VERBS,
        "this these that following below it here attached",
    ),
    cue(
        rf"{START}{_POLITE}{_TASK_VERB}\b[^:\n.!?]{{0,40}}\b(?:to|into|in) {_LANGUAGE}\b[^:\n.!?]{{0,40}}(?:[:\n.!?,]|\s[-–—]\s)",
        _VERBS,
        _LANGUAGES,
    ),
    cue(
        rf"{START}{_POLITE}(?:put|turn|write|say|render)\b[^:\n.!?]{{0,40}}\b(?:to|into|in) {_LANGUAGE}\b[^:\n.!?]{{0,40}}(?:[:\n.!?,]|\s[-–—]\s)",
        "put turn write say render",
        _LANGUAGES,
    ),
    cue(
        rf"\b{_TEXT_TASK_VERB}\b[^:\n.!?]{{0,40}}\b(?:{_DEICTIC}|the|my|his|her|their|a|an|some)\b[^:\n.!?]{{0,40}}\b{_TEXT}\b[^:\n.!?]{{0,50}}(?::|\n|\s[-–—]\s|(?<=below)[.,!])",
        _TEXT_VERBS,
        KINDS,
        ": ¶ _-_ – — below",
    ),
    cue(
        rf"\b{_TEXT_TASK_VERB}\b[^:\n.!?]{{0,20}}\b{_DEICTIC}\b(?! (?:code|bug|error|function|issue|problem|app|question))[^:\n.!?]{{0,50}}(?::(?!\s*```)|[.?!](?=\s*[\"“]))",
        _TEXT_VERBS,
        "this these that following below it here attached",
        ': " “',
    ),
    cue(
        rf"{START}{_POLITE}(?:(?:continue|finish|rhyme)\s+(?:{_DEICTIC})\b[^:\n.!?]{{0,50}}[:\n.!?]|(?:complete|extend|expand|rewrite|edit|correct|fix|answer)\s+(?:{_DEICTIC})\b(?! (?:code|bug|error|function|issue|problem|app|question))[^:\n.!?]{{0,50}}[:\n])",
        "continue finish complete extend expand rewrite edit correct fix rhyme answer",
        "this these that following below it here attached",
    ),
    cue(
        rf"\b(?:feedback|thoughts|opinion|comments?|criticism|critique)\s+(?:on|about|for)\s+[^:\n.!?]{{0,30}}\b{_TEXT}\b[^:\n.!?]{{0,40}}(?:[:\n?!]|\s[-–—]\s)",
        "feedback thoughts opinion comment critici critique",
        KINDS,
    ),
    cue(
        r"\b(?:commas?|apostrophes?|grammar|spelling|punctuation|tenses?|word order|wording|phrasing|prepositions?|hyphens?|semicolons?|sentences?|typos?|capital letters?)\b"
        r"[^:\n.!?]{0,40}(?:right|correct|ok(?:ay)?|fine|wrong|here|good|mistakes?|errors?|in|missing|check(?:ed)?|please)\b[^:\n.!?]{0,40}[:?\n]",
        "comma apostrophe grammar spelling punctuation tense word_order wording phrasing preposition hyphen semicolon sentence typo capital_letter",
        ": ? ¶",
    ),
    cue(
        rf"\b(?:is|are|does|do|was) (?:{_DEICTIC}|the|my)\b[^:\n.!?]{{0,40}}\b{_TEXT}\b[^:\n!?]{{0,40}}\?\s*(?=[\"“\n])",
        KINDS,
        "?",
    ),
    cue(
        r"\b(?:does|do|is|are) (?:this|these|it|that|the following)\s+(?:sound|read|look|make sense|correct|right|ok(?:ay)?|rude|polite|grammatical|natural|formal|good)\b[^:\n.!?]{0,40}[:?\n]",
        "sound read look make_sense correct right ok rude polite grammatical natural formal good",
        "this these that following below it here attached",
    ),
    cue(
        r"\b(?:how (?:do|would|can|should) (?:you|i|we|one) (?:say|write|pronounce|spell|translate)|what does)\b[^\n]*",
        "how_ what_does",
    ),
)
# Further tasks that are recognised only where the text behind them begins in the first person.
TASK_BEFORE_I: Final[tuple[Cue, ...]] = (
    cue(
        rf"\bas follows\s*[.:]\s+(?={FIRST_PERSON}\b)|\bwhat would (?!(?:i|you|we|my)\b)[^.!?\n]{{1,40}} say\?\s+(?={FIRST_PERSON}\b)",
        "as_follows what_would",
    ),
    cue(
        rf"\b(?:make|turn|put|word|phrase|get) (?:this|these|the following|it) (?:less|more|sound|read|into|in {_LANGUAGE}|\w+er|\w+ly)\b[^.!?:\n]{{0,40}}[?.!]\s+(?={FIRST_PERSON}\b)",
        "make turn put word phrase get",
        "this these following it",
    ),
    cue(
        rf"\b(?:this|these|that|it|the following)\b[^.!?:\n]{{0,40}}\b(?:to|into|in) {_LANGUAGE}\b[^.!?:\n]{{0,40}}[:\n]\s*(?={FIRST_PERSON}\b)",
        _LANGUAGES,
    ),
    cue(
        rf"\bwhich\b[^.!?\n]{{0,40}}\b(?:funnier|funniest|catchier|wittier|politer|correct|grammatical|sounds?|reads?|more (?:natural|formal|polite|idiomatic))\b[^.!?\n]{{0,40}}\?\s+(?={FIRST_PERSON}\b)",
        "which",
    ),
    cue(
        rf"\b(?:this|these|the following) (?:sentence|phrase|quote|line|verse|lyric|proverb)s?\b[^.!?:\n]{{0,40}},\s+(?={FIRST_PERSON}\b)",
        "sentence phrase quote line verse lyric proverb",
    ),
    cue(
        rf"\b(?:make up|invent|create|write|continue|develop|come up with|flesh out)\b[^.!?\n]{{0,30}}\b(?:backstory|persona|character|riddle|plot|villain|hero)\b[^.!?\n]{{0,40}}[.!]\s+(?={FIRST_PERSON}\b)",
        "backstory persona character riddle plot villain hero",
    ),
)
_INVENTED: Final = (
    r"(?:(?:short |bedtime |love |fairy )?(?:stor(?:y|ies)|tales?)|poems?|haikus?|limericks?|sonnets?|ballads?|songs?|lyrics|novels?|fables?|fairy ?tales?|"
    r"monologues?|flash fiction|fan ?fic(?:tion)?s?)"
)
# A text to be invented, with its material behind the request: "Write a story. I am a dragon."; not one that the user writes ("Help
# me write a novel. I am a teacher.").
TO_INVENT: Final = cue(
    rf"{START}(?![^.!?\n]{{0,40}}\bhelp\b){_POLITE}(?:write|tell|compose|invent|make up|create|spin|sing|narrate|come up with)(?: (?:me|us))?(?: (?:an?|another|the|some|one|my|your))?(?: [\w-]+){{0,3}}? {_INVENTED}\b"
    r"[^.!?:\n]{0,120}[.!?\n]",
    "write tell compose invent make_up create spin sing narrate come_up",
    KINDS,
)
# The same after the text: "… Translate this." Then what stands before is the text.
TASK_AFTER: Final[tuple[Cue, ...]] = (
    cue(
        rf"(?:^|(?<=[.!?\n\"”]\s)|(?<=\n)|(?<=\s[-–—]\s)|(?<=[.!?\"”]))[ \t(^]*{_POLITE}{_TASK_VERB}\b[^:\n.!?]{{0,20}}"
        rf"(?:\b(?:this|that|it|the above|above|these|the (?:text|message|mail|email|passage|paragraph|sentence|letter|post))\b[^:\n.!?]{{0,60}})?\s{{0,9}}[.!?)]{{0,9}}\s{{0,20}}$",
        _VERBS,
    ),
    cue(
        rf"(?:^|(?<=[.!?\n\"”]\s)|(?<=\n)|(?<=\s[-–—]\s))[ \t(^]*{_POLITE}{_TEXT_TASK_VERB}\b[^:\n.!?]{{0,30}}\b(?:this|that|the above|above|these)\b[^:\n.!?]{{0,30}}"
        rf"(?:\b{_TEXT}\b|\babove\b|\b(?:to|into|in) {_LANGUAGE}\b)[^:\n.!?]{{0,40}}[.!?)]{{0,9}}\s{{0,20}}$",
        _TEXT_VERBS,
        "this that above these",
    ),
    cue(
        r"(?:^|(?<=[.!?\n\"”]\s)|(?<=\n))[ \t(^]*(?:is|are|does|do|what|which|where|who|how)\b[^:\n.!?]{0,50}\b(?:the (?:above|text|sentence|poem|letter|mail|email|passage|paragraph|grammar)|this (?:text|sentence|poem|"
        r"letter|mail|email|passage|paragraph|verse|song|grammar|wording|story))\b[^:\n.!?]{0,40}\?\s{0,20}$",
        KINDS,
        "?",
        "above this_",
    ),
    cue(r"(?:^|(?<=\n))[ \t]*(?:[\^↑]+|(?:the )?above)\s*(?:is|was|are|comes|:|from|needs)\b[^\n]*$", "above ^ ↑"),
)
