-- The index of decay classes uses `greatest`, as the statements do. The functions of the names that SQLite has are
-- dropped: only statements that were written for SQLite needed them.
DROP INDEX facts_lane;
CREATE INDEX facts_lane ON memories (
    scope, pace, accesses, greatest(recorded_at, coalesce(used_at, recorded_at)) DESC, confidence DESC, id
) WHERE pace IS NOT NULL;
DROP FUNCTION max(bigint, bigint);
DROP FUNCTION instr(text, text);
