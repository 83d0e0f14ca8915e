-- The search index of a scope as it was in RAM, so that the next process need not build it row by row.
--
-- Derived: a row that does not fit its scope is passed over and written anew; erasing in a scope deletes it.

CREATE TABLE snapshots (
    scope bigint PRIMARY KEY,
    journal bigint NOT NULL,   -- the last row of the journal it has taken in
    reindexed bigint NOT NULL, -- that of the scope when it was written
    layout bigint NOT NULL,
    checksum bigint NOT NULL,  -- of the next two
    head text COLLATE "C" NOT NULL, -- JSON: names, ids, and where each array lies
    arrays bytea NOT NULL
);

ALTER TABLE snapshots ALTER COLUMN arrays SET STORAGE EXTERNAL;
ALTER TABLE snapshots ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON snapshots USING (scope = ANY ((SELECT seen())::bigint[]) OR (SELECT seen_all()));
