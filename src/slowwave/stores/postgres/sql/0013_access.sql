-- The keys of the server, and the answers that a repeated request gets again.

CREATE TABLE access_keys (
    id text COLLATE "C" PRIMARY KEY,
    digest text COLLATE "C" NOT NULL UNIQUE,  -- SHA-256 of the key, hexadecimal; the key itself is not stored
    label text COLLATE "C" NOT NULL,
    prefix text COLLATE "C" NOT NULL,         -- the scopes that it opens: this path and those below it; '' opens all
    rights text COLLATE "C" NOT NULL,         -- names between commas
    trust text COLLATE "C" NOT NULL,          -- the ceiling of what is written with it
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint
);

-- The answers to requests that may be repeated. An erase in a scope deletes them: they may quote what is erased.
CREATE TABLE answers (
    scope bigint NOT NULL,
    name text COLLATE "C" NOT NULL,     -- the name under which the request may be repeated
    request text COLLATE "C" NOT NULL,  -- SHA-256 of the request
    holder text COLLATE "C" NOT NULL,   -- the process that carries it out
    at bigint NOT NULL,
    answer text COLLATE "C",            -- NULL: it is being carried out
    PRIMARY KEY (scope, name)
);

ALTER TABLE answers ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON answers USING (scope = ANY ((SELECT seen())::bigint[]) OR (SELECT seen_all()));
