-- A fact may have an id of the caller's, unique among the facts of its scope. Notes use the same column for their names.
CREATE UNIQUE INDEX facts_ref ON memories (scope, ref) WHERE seq IS NULL AND ref IS NOT NULL AND kind <> 'note';
