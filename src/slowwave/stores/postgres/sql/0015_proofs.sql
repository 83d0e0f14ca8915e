-- readable from 12
--
-- The erases that were proved for their scope and wait for the proof of the whole store: the tables from which rows were
-- deleted may keep their bytes in free space.
CREATE TABLE pending_proofs (
    scope bigint NOT NULL,
    run bigint NOT NULL,    -- the key of the run that erased
    at bigint NOT NULL,
    tables text[] NOT NULL, -- those that were not rewritten since
    PRIMARY KEY (scope, run)
);

ALTER TABLE pending_proofs ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON pending_proofs USING (scope = ANY ((SELECT seen())::bigint[]) OR (SELECT seen_all()));

-- The oldest schema whose programs can use this one; NULL: only programs that know this one.
ALTER TABLE migrations ADD COLUMN readable_from integer;
