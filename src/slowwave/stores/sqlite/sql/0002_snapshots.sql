-- The search index of a scope, stored so that the next process need not build it from rows.
--
-- Derived data: a row that does not fit its scope is ignored and written again; an erase in a scope deletes it.

CREATE TABLE snapshots (
    scope INTEGER PRIMARY KEY,
    journal INTEGER NOT NULL,   -- the last journal row that the index contains
    reindexed INTEGER NOT NULL, -- the value of the scope when the index was stored
    layout INTEGER NOT NULL,
    checksum INTEGER NOT NULL,  -- of head and arrays
    head TEXT NOT NULL,         -- JSON: names, ids, and the position of each array
    arrays BLOB NOT NULL
) STRICT;
