-- Notes: records under a folder (`conversation`) and a name (`ref`), and filters on metadata.

-- One current note of each folder and name; the order of listings.
CREATE UNIQUE INDEX notes_name ON memories (scope, conversation, ref) WHERE kind = 'note' AND phase IN ('active', 'core');
CREATE INDEX memories_metadata ON memories (scope) WHERE metadata IS NOT NULL;

-- Facts that a sleep pass schedules: notes have no decay class and need none.
DROP INDEX facts_unpaced;
CREATE INDEX facts_unpaced ON memories (scope)
    WHERE pace IS NULL AND seq IS NULL AND span_first IS NULL AND kind <> 'note' AND phase IN ('active', 'core');
