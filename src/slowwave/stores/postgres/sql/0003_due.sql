-- Which scopes are due for sleep, and when: a number each and no content, so that whoever looks for them sees all of
-- them in one index, and scopes that are not due cost nothing.
--
-- Derived from memories, runs and leases by triggers, whoever writes.

CREATE TABLE due (
    scope bigint PRIMARY KEY,
    at bigint NOT NULL  -- the least due_at of a hot fact; 0 if something came in since the lease was last taken
);

CREATE INDEX due_at ON due (at);

-- Not `slowwave.due` alone: triggers run under whatever search path a transaction has.
CREATE FUNCTION mark_due(whose bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    taken bigint := coalesce((SELECT run FROM slowwave.leases WHERE scope = whose), whose << 40);
    after bigint := (whose + 1) << 40;
    wanted bigint;
BEGIN
    IF EXISTS (SELECT 1 FROM slowwave.runs WHERE key > taken AND key < after AND cause IN ('observe', 'add')) THEN
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

-- A row of `memories` or `leases` that may change it. While something waits, facts change nothing.
CREATE FUNCTION due_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    whose bigint := coalesce(NEW.scope, OLD.scope);
BEGIN
    IF TG_TABLE_NAME = 'leases' OR NOT EXISTS (SELECT 1 FROM slowwave.due WHERE scope = whose AND at = 0) THEN
        PERFORM slowwave.mark_due(whose);
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION due_now() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM slowwave.due WHERE scope = NEW.scope AND at = 0) THEN
        INSERT INTO slowwave.due VALUES (NEW.scope, 0) ON CONFLICT (scope) DO UPDATE SET at = 0;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER came_in AFTER INSERT ON runs FOR EACH ROW
    WHEN (NEW.cause IN ('observe', 'add')) EXECUTE FUNCTION due_now();
CREATE TRIGGER fact_added AFTER INSERT ON memories FOR EACH ROW
    WHEN (NEW.due_at IS NOT NULL) EXECUTE FUNCTION due_changed();
CREATE TRIGGER fact_changed AFTER UPDATE OF due_at, phase ON memories FOR EACH ROW
    WHEN (OLD.due_at IS DISTINCT FROM NEW.due_at OR OLD.phase <> NEW.phase) EXECUTE FUNCTION due_changed();
CREATE TRIGGER fact_erased AFTER DELETE ON memories FOR EACH ROW
    WHEN (OLD.due_at IS NOT NULL) EXECUTE FUNCTION due_changed();
CREATE TRIGGER taken AFTER INSERT OR UPDATE OR DELETE ON leases FOR EACH ROW EXECUTE FUNCTION due_changed();

-- What is there already. Its own settings: the owner is bound by row-level security too.
SELECT set_config('slowwave.every_scope', 'on', true);
INSERT INTO due
SELECT scope, min(at) FROM (
    SELECT r.scope, 0 AS at FROM runs r LEFT JOIN leases l ON l.scope = r.scope
    WHERE r.cause IN ('observe', 'add') AND r.key > coalesce(l.run, 0)
    UNION ALL
    SELECT scope, due_at FROM memories WHERE due_at IS NOT NULL AND phase IN ('active', 'core')
) found GROUP BY scope;
SELECT set_config('slowwave.every_scope', 'off', true);
