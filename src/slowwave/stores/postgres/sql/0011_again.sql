-- When the work that a sleep pass left is due, such as messages of a conversation that goes on; NULL: it left none.
ALTER TABLE leases ADD COLUMN again bigint;

-- As before, but the least of both: a fact that is due, and the work that was left.
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
        wanted := least(
            (SELECT again FROM slowwave.leases WHERE scope = whose),
            (
                SELECT min(due_at) FROM slowwave.memories
                WHERE scope = whose AND due_at IS NOT NULL AND phase IN ('active', 'core')
            )
        );
    END IF;
    IF wanted IS NULL THEN
        DELETE FROM slowwave.due WHERE scope = whose;
    ELSIF NOT EXISTS (SELECT 1 FROM slowwave.due WHERE scope = whose AND at = wanted) THEN
        INSERT INTO slowwave.due VALUES (whose, wanted) ON CONFLICT (scope) DO UPDATE SET at = excluded.at;
    END IF;
END
$$;

-- 0 for stores of older versions, whose passes did not read messages: each scope is due once.
SELECT set_config('slowwave.every_scope', 'on', true);
UPDATE leases SET again = 0;
SELECT set_config('slowwave.every_scope', 'off', true);
