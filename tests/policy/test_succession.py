"""Succession: which newer statement takes an older one's place, which only raises the question, which does neither."""

import pytest
from hypothesis import given, strategies as st

from slowwave.policy.comparison.succession import supersedes

CERTAIN = [
    # the older, the newer
    ("I live in Ghent", "I now live in Antwerp"),
    ("I live in Ghent", "I live in Antwerp now"),
    ("I live in Ghent", "I moved to Antwerp"),
    ("I live in Ghent.", "I've moved to Antwerp."),
    ("I work at Acme", "I now work at Globex"),
    ("I work at Acme", "I work for Globex now"),
    ("I work at Acme", "I got a new job at Globex"),
    ("My phone number is 555-1234", "My new phone number is 555-9999"),
    ("My phone number is 555-1234", "My phone number is now 555-9999"),
    ("My phone number is 555-1234", "I changed my phone number to 555-9999"),
    ("We use Postgres 15", "We switched to Postgres 16"),
    ("We use Postgres 15", "We now use Postgres 16"),
    ("We use Postgres 15", "We upgraded to Postgres 16"),
    ("The user lives in Leeds", "The user lives in Bristol now"),
    ("Matteo lives in Zurich", "Matteo moved to Bern"),
    ("The deadline is 14 April 2026", "The deadline moved to 21 April 2026"),
    ("The deadline is on 14 April", "Correction: the deadline is 21 April"),
    ("My manager is Tom", "My new manager is Ann"),
    ("Alice's manager is Tom", "Alice's manager is now Ann"),
    ("I am 30 years old", "I am now 31 years old"),
    ("I have two cats", "I now have three cats"),
    ("The budget is $400", "The budget is now $500"),
    ("The budget is $400 for the kitchen renovation", "The budget is now $500 for the kitchen renovation"),
    ("The standup is at 9:30", "The standup is now at 10:00"),
    ("My favourite colour is blue", "My favourite colour is now green"),
    ("I prefer dark mode", "I now prefer light mode"),
    ("I prefer tea", "I prefer coffee now"),
    ("I work as a nurse", "I now work as a teacher"),
    ("Our API limit is 100 requests", "Our API limit is now 200 requests"),
    ("The meeting is on Monday", "The meeting was rescheduled to Thursday"),
    ("The meeting is on Monday", "I moved the meeting to Thursday"),
    ("I report to Anna", "I now report to Ben"),
    ("My email is a@x.org", "My new email is b@y.org"),
    ("I live in Ghent", "I live in Antwerp now, with my sister"),
    ("I'm based in Ghent", "I am now based in Antwerp"),
    ("The price is 10 euros", "The price increased to 12 euros"),
    ("My name is Tom", "My name is now Thomas"),
    ("I live in Belgium", "I now live in France"),
    ("The user works at Acme", "The user now works at Globex"),
    ("I live in Ghent", "The user moved to Antwerp"),
    ("The launch is on June 5", "The launch moved to June 12"),
    ("Our database is MySQL", "Our database is now Postgres"),
    ("Matteo's phone is a Pixel 6", "Matteo's phone is now a Pixel 8"),
    ("The user's phone number is 555-1234", "The user's new phone number is 555-9999"),
    ("We use Postgres 15", "The user and others switched to Postgres 16"),
    ("I live in Ghent", "I moved from Ghent to Antwerp"),
    ("I use Vim 8", "I switched to Vim 9 from Vim 8"),
    ("Ann is our CEO", "Bob is our new CEO"),
    ("Our CEO is Ann", "Bob is now our CEO"),
    ("I am 30", "I turned 31"),
    ("I'm 30 years old", "I'm 31 now"),
    ("I work at Acme", "I moved from Acme to Globex"),
    ("My status is open", "My status is now closed"),
]
PERHAPS = [
    ("I live in Ghent", "I currently live in Antwerp"),
    ("My address is 5 Elm St", "My current address is 7 Oak St"),
    ("I live in Ghent", "I live in Antwerp"),
    ("I work at Acme", "I work at Globex"),
    ("My phone number is 555-1234", "My phone number is 555-9999"),
    ("We use Postgres 15", "We use Postgres 16"),
    ("I live in Ghent with my sister", "I now live in Antwerp"),
    ("I live in Ghent and work at Acme", "I now live in Antwerp"),
    ("i live in ghent", "i now live in antwerp"),
    ("I use Vim", "I switched to Emacs"),
    ("I use Vim", "I now use Emacs"),
    ("I drive a Volvo", "I now drive a BMW"),
    ("The deadline is May 3", "The deadline is May 9"),
    ("I live in Ghent", "I moved to Antwerp in 2015"),
    ("I work at Acme", "I joined Globex"),
    ("I have worked at Acme as a designer since 2019", "I start at the Globex Museum on 2 June"),
    ("I've worked at Acme", "I work at Globex"),
    ("I moved to Antwerp", "I now live in Bruges"),
    ("I live in Belgium", "I now live in Antwerp"),
    ("We switched to Postgres 16", "We switched to Postgres 17"),
    ("I study biology", "I now study law"),
    ("I am a student", "I am now a teacher"),
    ("The server is in Frankfurt", "The server is now in Dublin"),
    ("My favourite colour is blue", "My favourite colour is green"),
    ("I prefer tea", "I prefer coffee"),
    ("My manager is Tom", "My manager is Ann"),
    ("The call was moved to Thursday", "The call is now on Friday"),
    ("The meeting is at 10", "The meeting is at 11"),
    ("I live in a flat", "I now live in a house"),
    ("Alice owns the deploy pipeline", "Bob now owns the deploy pipeline"),
    ("I run the shop", "Bob Lee runs the shop now"),
    ("The user runs the shop", "Bob runs the shop now"),
    ("The user is single", "The user is now married"),
    ("The user comes from Ghent", "The user is from Antwerp"),
    ("Our gym class is on Mondays", "Our gym class is now on Thursdays"),
]
SIDE_BY_SIDE = [
    ("I like tea", "I like coffee"),
    ("I visited Rome", "I visited Oslo"),
    ("I like tea", "I now like coffee"),
    ("I have a dog", "I have a cat"),
    ("I have a dog", "I now have a cat"),
    ("I speak French", "I speak Dutch"),
    ("I own a bike", "I own a car"),
    ("I read Dune", "I read Emma"),
    ("My sister is Anna", "My sister is Clara"),
    ("My dog is Rex", "My dog is Fido"),
    ("My dog is brown", "My dog is now sick"),
    ("I am tall", "I am vegan"),
    ("I am tall", "I am now vegan"),
    ("I am vegetarian", "I am a mother"),
    ("We use Docker", "We use Postgres"),
    ("We use Postgres", "We use Redis"),
    ("Alice lives in Ghent", "Bob lives in Antwerp"),
    ("Alice lives in Ghent", "Bob now lives in Antwerp"),
    ("I live in Ghent", "I work at Acme"),
    ("I live in Ghent", "I now work at Acme"),
    ("I live in Ghent", "I live in Ghent now"),
    ("I live in Ghent", "I now live in Ghent, Belgium"),
    ("I work at Acme", "I also work at Globex"),
    ("I work at Acme", "I start at nine on Monday"),
    ("I have worked for two banks", "I start at Globex"),
    ("I live in Ghent", "I want to live in Antwerp"),
    ("I live in Ghent", "I might move to Antwerp"),
    ("I live in Ghent", "Do I now live in Antwerp?"),
    ("I live in Ghent", "I do not live in Antwerp"),
    ("I live in Ghent", "I lived in Antwerp"),
    ("I used to live in Ghent", "I now live in Antwerp"),
    ("I live in Belgium", "I live in Ghent"),
    ("I live in Ghent in summer", "I live in Antwerp in winter"),
    ("I moved to Rome in 2010", "I moved to Oslo in 2015"),
    ("The yoga class is on Mondays", "The yoga class is on Thursdays"),
    ("I know Python", "I know Rust"),
    ("I play piano", "I play chess"),
    ("I play piano", "I now play chess"),
    ("Alice owns the deploy pipeline", "Alice owns the data pipeline"),
    ("I study biology", "I study law"),
    ("I drive a Volvo", "I drive a truck"),
    ("I prefer tea", "I prefer dark mode"),
    ("Room 12 has 4 seats", "Room 14 has 4 seats"),
    ("I have 2 cats", "I now have 3 dogs"),
    ("I take 5 mg of aspirin", "I take 10 mg of ibuprofen"),
    ("My wife is Anna", "My wife is Belgian"),
    ("The deadline is May 3", "The deadline is now a problem"),
    ("My car is red", "My car is now broken"),
    ("I ran 5 km", "I ran 10 km"),
    ("I bought a piano", "I bought a guitar"),
    ("I love hiking", "I love swimming"),
    ("I live in Ghent", "I now live in Ghent and Antwerp"),
    ("The API is fast", "The API is in Go"),
    ("I am allergic to nuts", "I am allergic to shellfish"),
    ("Ik woon in Gent", "Ik woon nu in Antwerpen"),
    ("My son's school is Oak", "My school is Elm"),
    ("The review is on Monday", "The launch is now on Friday"),
    ("I'm reading Dune", "I'm now reading Emma"),
    ("I met Anna", "I met Ben"),
    ("I went to Rome", "I went to Oslo"),
    ("My hobby is chess", "My hobby is painting"),
    ("I joined Globex", "I joined Initech in 2019"),
    ("The user lives in Ghent", "The user moved to"),
    ("My dog is Rex", "My new dog is Fido"),
    ("Anna is my friend", "Tom is my new friend"),
    ("Anna is the best", "Tom is the best"),
    ("Anna runs the shop", "Tom runs the shop"),
    ("Alice owns the deploy pipeline", "Bob now runs the deploy pipeline"),
    ("Alice, Bob is our lead", "Alice, Tom is now our lead"),
    ("I've started with a plan", "I've started with the code"),
    ("I work at Acme", "I moved from Rome to Bern"),
    ("The deadline is 14 April", "The deadline is now important"),
    ("I live in Ghent", "I moved from Ghent to Ghent"),
    ("I live in Ghent", "I moved from Rome to Antwerp"),
    ("I, who travel, live in Ghent", "I, who travel, now live in Antwerp"),
    ("I live in Ghent " + "and so on " * 30, "I now live in Antwerp"),
]


@pytest.mark.parametrize(("old", "new"), CERTAIN)
def test_an_announced_new_value_supersedes_with_certainty(old: str, new: str) -> None:
    found = supersedes(new, old)
    assert found is not None
    assert found.certain
    assert found.new_value in found.because
    assert found.old_value in found.because
    assert found.explanation == found.because


@pytest.mark.parametrize(("old", "new"), PERHAPS)
def test_an_unannounced_value_is_uncertain(old: str, new: str) -> None:
    found = supersedes(new, old)
    assert found is not None
    assert not found.certain
    assert found.explanation.startswith("perhaps outdated: ")


@pytest.mark.parametrize(("old", "new"), SIDE_BY_SIDE)
def test_statements_that_can_both_be_true_do_not_supersede(old: str, new: str) -> None:
    assert supersedes(new, old) is None


def test_known_names_of_the_subject_are_equal() -> None:
    pair = ("The user now lives in Antwerp", "Matteo lives in Ghent")
    assert supersedes(*pair) is None
    found = supersedes(*pair, called=["the user", "Matteo"])
    assert found is not None
    assert (found.new_value, found.old_value, found.certain) == ("Antwerp", "Ghent", True)


HOLDERS = st.sampled_from(["I", "The user", "Alice", "Alice's phone number", "The standup", "We"])
VERBS = st.sampled_from(["live in", "lives in", "works at", "is", "is now", "moved to", "like", "use", "switched to"])
VALUES = st.sampled_from(["Ghent", "Antwerp", "Acme", "555-1234", "555-9999", "Postgres 15", "tea", "10:00", "a flat"])
STATEMENTS = st.tuples(HOLDERS, VERBS, VALUES, st.sampled_from(["", " now", " in summer"])).map(
    lambda parts: f"{parts[0]} {parts[1]} {parts[2]}{parts[3]}"
)


@given(STATEMENTS, STATEMENTS)
def test_no_statement_supersedes_itself(new: str, old: str) -> None:
    assert supersedes(new, new) is None
    found = supersedes(new, old)
    if found is not None:
        assert found.new_value != found.old_value
        assert found.certain <= any(word in new for word in ("now", "moved", "switched"))


@given(STATEMENTS, STATEMENTS)
def test_end_marks_and_spaces_do_not_matter(new: str, old: str) -> None:
    bare, marked = supersedes(new, old), supersedes(f"  {new}.", f"{old}!  ")
    assert (bare is None) == (marked is None)
    if bare is not None and marked is not None:
        assert (bare.certain, bare.new_value, bare.old_value) == (marked.certain, marked.new_value, marked.old_value)
