-- The search index of a scope as it was in RAM, so that the next process need not build it row by row.
--
-- Derived: a row that does not fit its scope is passed over and written anew; erasing in a scope deletes it.

CREATE TABLE snapshots (
    scope INTEGER PRIMARY KEY,
    journal INTEGER NOT NULL,   -- the last row of the journal it has taken in
    reindexed INTEGER NOT NULL, -- that of the scope when it was written
    layout INTEGER NOT NULL,
    checksum INTEGER NOT NULL,  -- of the next two
    head TEXT NOT NULL,         -- JSON: names, ids, and where each array lies
    arrays BLOB NOT NULL
) STRICT;
