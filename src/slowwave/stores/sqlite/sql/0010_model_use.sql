-- What all processes of the store used of models in the present hour and day, as far as a budget has it counted.
CREATE TABLE model_use (
    period TEXT PRIMARY KEY,  -- 'hour' or 'day'
    begins INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    money REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- Models that no process calls before a time, because their provider asked for a pause.
CREATE TABLE model_pauses (
    model TEXT PRIMARY KEY,  -- its name or address, without a password
    until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
