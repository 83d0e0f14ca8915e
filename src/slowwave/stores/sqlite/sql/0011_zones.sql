-- The offset in which a memory is shown, such as "+09:00"; NULL: UTC.
ALTER TABLE memories ADD COLUMN zone TEXT;

-- Which seals a run was written with (`reasons.SEAL`); NULL: by a program that did not say so, which may have set none.
ALTER TABLE runs ADD COLUMN seal INTEGER;

-- The key with which a key was made; NULL: it was made at the store itself.
ALTER TABLE access_keys ADD COLUMN made_by TEXT;

-- A row for each hour and day, so that a call at a wrong time counts for that time only.
DROP TABLE model_use;
CREATE TABLE model_use (
    period TEXT NOT NULL,  -- 'hour' or 'day'
    begins INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    money REAL NOT NULL,
    PRIMARY KEY (period, begins)
) STRICT, WITHOUT ROWID;

-- Whether the log beside the file may hold writes that the file does not have, and when it was found to be missing.
CREATE TABLE log (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    used INTEGER NOT NULL,
    missed_at INTEGER
) STRICT;

INSERT INTO log VALUES (1, 0, NULL);

-- The name of an embedder gets the width of its vectors, so that vectors of two widths are never compared.
UPDATE embedders SET name = name || char(31) || (SELECT dim FROM entries WHERE embedder = token AND dim > 0 LIMIT 1)
WHERE EXISTS (SELECT 1 FROM entries WHERE embedder = token AND dim > 0);
