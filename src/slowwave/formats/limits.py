"""How much of a file is read at once: every buffer has a limit, so that no file can fill the memory."""

CHUNK = 1 << 20
"""Bytes read at a time."""

LINE_MOST = 64 << 20
"""Bytes of one line of JSON lines; one message of 20 million characters fits."""

ELEMENT_MOST = 128 << 20
"""Characters of one element of a JSON array: one conversation with all its branches."""

MEMBER_MOST = 200 << 20
"""Bytes of one unpacked member of an archive; larger ones are imported unpacked."""

RATIO_MOST = 100
"""How many times larger a member may be than it was packed: text packs 5 to 20 times, bombs 1,000 times."""

MEMBERS_MOST = 10_000
"""Names in one archive."""
