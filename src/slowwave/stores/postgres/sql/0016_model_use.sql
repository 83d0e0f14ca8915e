-- readable from 12
--
-- What all processes of the store used of models in the present hour and day, as far as a budget has it counted.
CREATE TABLE model_use (
    period text COLLATE "C" PRIMARY KEY,  -- 'hour' or 'day'
    begins bigint NOT NULL,
    calls bigint NOT NULL,
    tokens bigint NOT NULL,
    money double precision NOT NULL
);

-- Models that no process calls before a time, because their provider asked for a pause.
CREATE TABLE model_pauses (
    model text COLLATE "C" PRIMARY KEY,  -- its name or address, without a password
    until bigint NOT NULL
);
