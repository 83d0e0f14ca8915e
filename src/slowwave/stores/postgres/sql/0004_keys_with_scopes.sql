-- The scope is part of every primary key, so that each table can be partitioned or distributed by it.
--
-- A key begins with the scope's token, so that the order by key is the order by scope. The column stands behind it: rows
-- are found by key and scope, and by the key alone.

ALTER TABLE memories DROP CONSTRAINT memories_pkey, ADD PRIMARY KEY (key, scope);
ALTER TABLE entries DROP CONSTRAINT entries_pkey, ADD PRIMARY KEY (key, scope);
ALTER TABLE gists DROP CONSTRAINT gists_pkey, ADD PRIMARY KEY (key, scope);
ALTER TABLE runs DROP CONSTRAINT runs_pkey, ADD PRIMARY KEY (key, scope);
ALTER TABLE journal DROP CONSTRAINT journal_pkey, ADD PRIMARY KEY (key, scope);

-- As before, but for the scope beside the key: one partition is asked.
CREATE OR REPLACE FUNCTION mark_due(whose bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    taken bigint := coalesce((SELECT run FROM slowwave.leases WHERE scope = whose), whose << 40);
    after bigint := (whose + 1) << 40;
    wanted bigint;
BEGIN
    IF EXISTS (
        SELECT 1 FROM slowwave.runs WHERE scope = whose AND key > taken AND key < after AND cause IN ('observe', 'add')
    ) THEN
        wanted := 0;
    ELSE
        wanted := (
            SELECT min(due_at) FROM slowwave.memories
            WHERE scope = whose AND due_at IS NOT NULL AND phase IN ('active', 'core')
        );
    END IF;
    IF wanted IS NULL THEN
        DELETE FROM slowwave.due WHERE scope = whose;
    ELSIF NOT EXISTS (SELECT 1 FROM slowwave.due WHERE scope = whose AND at = wanted) THEN
        INSERT INTO slowwave.due VALUES (whose, wanted) ON CONFLICT (scope) DO UPDATE SET at = excluded.at;
    END IF;
END
$$;

-- As before, but told by the trigger's name: that of a table is its partition's.
CREATE OR REPLACE FUNCTION due_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    whose bigint := coalesce(NEW.scope, OLD.scope);
BEGIN
    IF TG_NAME = 'taken' OR NOT EXISTS (SELECT 1 FROM slowwave.due WHERE scope = whose AND at = 0) THEN
        PERFORM slowwave.mark_due(whose);
    END IF;
    RETURN NULL;
END
$$;
