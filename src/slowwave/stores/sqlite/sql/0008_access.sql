-- The keys of the server, and the answers that a repeated request gets again.

CREATE TABLE access_keys (
    id TEXT PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,  -- SHA-256 of the key, hexadecimal; the key itself is not stored
    label TEXT NOT NULL,
    prefix TEXT NOT NULL,         -- the scopes that it opens: this path and those below it; '' opens all
    rights TEXT NOT NULL,         -- names between commas
    trust TEXT NOT NULL,          -- the ceiling of what is written with it
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;

-- The answers to requests that may be repeated. An erase in a scope deletes them: they may quote what is erased.
CREATE TABLE answers (
    scope INTEGER NOT NULL,
    name TEXT NOT NULL,     -- the name under which the request may be repeated
    request TEXT NOT NULL,  -- SHA-256 of the request
    holder TEXT NOT NULL,   -- the process that carries it out
    at INTEGER NOT NULL,
    answer TEXT,            -- NULL: it is being carried out
    PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;
