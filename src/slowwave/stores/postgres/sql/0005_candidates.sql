-- What a search of a large scope begins with at the server: vectors that hold their context, and where each word occurs.
--
-- Derived from memories and entries, batch by batch, behind the journal, and only in scopes too large for RAM. What is
-- erased goes from here in the same transaction, by a trigger.

-- How far a scope was taken in, and the statistics of what was.
CREATE TABLE search_state (
    scope bigint PRIMARY KEY,
    layout bigint NOT NULL,
    journal bigint NOT NULL,    -- the last row of the journal that was looked at
    reindexed bigint NOT NULL,  -- that of the scope when all entries were looked at; -1: not yet
    originals bigint NOT NULL,  -- texts that document frequencies are counted over
    words bigint NOT NULL,      -- of these
    latest bigint               -- of all times
);

-- What was taken in of each memory.
CREATE TABLE search_taken (
    scope bigint NOT NULL,
    key bigint NOT NULL,
    entry bigint NOT NULL,      -- the checksum of its entry
    gist bigint,                -- and of that of what is left of its wording
    words bigint NOT NULL,
    original boolean NOT NULL,
    at bigint NOT NULL,
    terms bigint[] NOT NULL,    -- each once; days too
    stale boolean NOT NULL DEFAULT false,  -- to be taken in again
    PRIMARY KEY (scope, key)
);

CREATE INDEX search_at ON search_taken (scope, at);
CREATE INDEX search_stale ON search_taken (scope, key) WHERE stale;

-- What is searched, apart from words: a vector, and what may be added to its nearness.
CREATE TABLE search_places (
    scope bigint NOT NULL,
    key bigint NOT NULL,
    part bigint NOT NULL,       -- 0: the whole; 1, 2, …: its passages; -1: what is hot of its wording; -2, -3, …: passages of that
    embedder bigint NOT NULL,   -- 0: no vector
    hot boolean NOT NULL,
    open boolean NOT NULL,
    speaker text COLLATE "C",
    by_user boolean NOT NULL,   -- said by the user of an assistant
    prior real NOT NULL,        -- what its kind of sentence adds to any score
    PRIMARY KEY (scope, key, part)
);

CREATE TABLE search_postings (
    scope bigint NOT NULL,
    term bigint NOT NULL,
    key bigint NOT NULL,
    PRIMARY KEY (scope, term, key)
);

CREATE TABLE search_terms (
    scope bigint NOT NULL,
    term bigint NOT NULL,
    memories bigint NOT NULL,
    originals bigint NOT NULL,  -- of these
    PRIMARY KEY (scope, term)
);

CREATE TABLE search_rests (
    scope bigint NOT NULL,
    message text COLLATE "C" NOT NULL,  -- its id: it may come later
    fact bigint NOT NULL,
    PRIMARY KEY (scope, message, fact)
);

CREATE INDEX search_rests_fact ON search_rests (scope, fact);

CREATE TABLE search_talks (
    scope bigint NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    messages bigint NOT NULL,
    named bigint NOT NULL,      -- of these, by somebody with a name
    assisted bigint NOT NULL,   -- of these, by an assistant without one
    PRIMARY KEY (scope, conversation)
);

CREATE TABLE search_speakers (
    scope bigint NOT NULL,
    name text COLLATE "C" NOT NULL,
    messages bigint NOT NULL,
    PRIMARY KEY (scope, name)
);

DO $$
DECLARE
    one text;
BEGIN
    FOREACH one IN ARRAY ARRAY[
        'search_state', 'search_taken', 'search_places', 'search_postings', 'search_terms', 'search_rests', 'search_talks',
        'search_speakers'
    ] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', one);
        EXECUTE format('CREATE POLICY own ON %I USING (scope = ANY ((SELECT seen())::bigint[]) OR (SELECT seen_all()))', one);
    END LOOP;
END
$$;

-- A server without pgvector searches in RAM only.
DO $$
BEGIN
    CREATE EXTENSION IF NOT EXISTS vector SCHEMA public;
EXCEPTION
    WHEN insufficient_privilege OR undefined_file OR feature_not_supported THEN NULL;
END
$$;

DO $$
DECLARE
    kind text := (
        SELECT format('%I.halfvec', n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
        WHERE e.extname = 'vector'
    );
BEGIN
    IF to_regtype(kind) IS NOT NULL THEN
        EXECUTE 'ALTER TABLE search_places ADD COLUMN vector ' || kind;
    END IF;
END
$$;

-- Whose context a message was a part of is taken in again: the three after it and the two before it.
CREATE FUNCTION search_erased() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    gone slowwave.search_taken;
    talked boolean;
    talks boolean;
BEGIN
    UPDATE slowwave.search_taken SET stale = true WHERE scope = OLD.scope AND key IN (
        SELECT fact FROM slowwave.search_rests WHERE scope = OLD.scope AND message = OLD.id
    );
    DELETE FROM slowwave.search_rests WHERE scope = OLD.scope AND (message = OLD.id OR fact = OLD.key);
    DELETE FROM slowwave.search_taken WHERE scope = OLD.scope AND key = OLD.key RETURNING * INTO gone;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    DELETE FROM slowwave.search_postings p USING unnest(gone.terms) AS t (term)
    WHERE p.scope = OLD.scope AND p.term = t.term AND p.key = OLD.key;
    UPDATE slowwave.search_terms SET memories = memories - 1, originals = originals - CAST(gone.original AS integer)
    WHERE scope = OLD.scope AND term = ANY (gone.terms);
    DELETE FROM slowwave.search_terms WHERE scope = OLD.scope AND term = ANY (gone.terms) AND memories < 1;
    DELETE FROM slowwave.search_places WHERE scope = OLD.scope AND key = OLD.key;
    UPDATE slowwave.search_state SET
        originals = originals - CAST(gone.original AS integer),
        words = words - CASE WHEN gone.original THEN gone.words ELSE 0 END,
        latest = CASE WHEN latest > gone.at THEN latest ELSE (
            SELECT max(t.at) FROM slowwave.search_taken t WHERE t.scope = OLD.scope
        ) END
    WHERE scope = OLD.scope;
    IF OLD.seq IS NULL THEN
        RETURN NULL;
    END IF;
    UPDATE slowwave.search_speakers SET messages = messages - 1 WHERE scope = OLD.scope AND name = OLD.speaker;
    DELETE FROM slowwave.search_speakers WHERE scope = OLD.scope AND name = OLD.speaker AND messages < 1;
    IF FOUND THEN
        UPDATE slowwave.search_taken SET stale = true WHERE scope = OLD.scope AND key IN (
            SELECT key FROM slowwave.memories WHERE scope = OLD.scope AND seq IS NULL AND subject IS NOT NULL
        );
    END IF;
    SELECT named > 0 AND assisted = 0 INTO talked FROM slowwave.search_talks
    WHERE scope = OLD.scope AND conversation = OLD.conversation;
    UPDATE slowwave.search_talks SET
        messages = messages - 1,
        named = named - CASE WHEN OLD.speaker <> '' THEN 1 ELSE 0 END,
        assisted = assisted - CASE WHEN OLD.role = 'assistant' AND coalesce(OLD.speaker, '') = '' THEN 1 ELSE 0 END
    WHERE scope = OLD.scope AND conversation = OLD.conversation
    RETURNING named > 0 AND assisted = 0 INTO talks;
    DELETE FROM slowwave.search_talks WHERE scope = OLD.scope AND conversation = OLD.conversation AND messages < 1;
    UPDATE slowwave.search_taken SET stale = true WHERE scope = OLD.scope AND key IN (
        SELECT key FROM (
            SELECT m.key FROM slowwave.memories m JOIN slowwave.search_taken t ON t.scope = m.scope AND t.key = m.key
            WHERE m.scope = OLD.scope AND m.conversation = OLD.conversation AND m.seq > OLD.seq ORDER BY m.seq LIMIT 3
        ) after
        UNION ALL
        SELECT key FROM (
            SELECT m.key FROM slowwave.memories m JOIN slowwave.search_taken t ON t.scope = m.scope AND t.key = m.key
            WHERE m.scope = OLD.scope AND m.conversation = OLD.conversation AND m.seq < OLD.seq ORDER BY m.seq DESC LIMIT 2
        ) before
        UNION ALL
        SELECT key FROM slowwave.memories WHERE scope = OLD.scope AND conversation = OLD.conversation AND talks <> talked
    );
    RETURN NULL;
END
$$;

CREATE TRIGGER search_erased AFTER DELETE ON memories FOR EACH ROW EXECUTE FUNCTION search_erased();
