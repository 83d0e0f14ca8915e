"""Statements that several tests add to a memory."""

SPORTS = (
    "I went kayaking on the lake with Rui.",
    "I joined a volleyball league in Lisbon.",
    "I won a medal at the rowing race.",
    "My yoga class moved to the old gym.",
    "I climbed the granite trail behind the abbey.",
    "I bought skis for the tournament in March.",
    "I lost the tennis match against my cousin.",
)
