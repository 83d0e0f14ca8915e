-- How the sleep passes of a scope end: the time of the last one that ended, how many failed one after the other, when the
-- next may begin, and the kind of the last failure (the class of an error, never its text).
ALTER TABLE leases ADD COLUMN ended bigint;
ALTER TABLE leases ADD COLUMN failures integer NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN next_try bigint NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN error text COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX leases_failing ON leases (failures) WHERE failures > 0;

-- A lease with a holder is one that was not released: its process ended, which is a failure. Released ones lose it.
SELECT set_config('slowwave.every_scope', 'on', true);
UPDATE leases SET ended = until WHERE run > scope << 40;
UPDATE leases SET holder = '';
SELECT set_config('slowwave.every_scope', 'off', true);

-- The workers that run. Each renews its row; the queue's jobs of a worker that stops renewing are cancelled.
CREATE TABLE workers (
    number bigint PRIMARY KEY,
    name text COLLATE "C" NOT NULL,     -- machine and process, for people
    process text COLLATE "C" NOT NULL,  -- the same so that a process of that machine can find out whether it has ended
    version text COLLATE "C" NOT NULL,  -- of Slowwave
    began bigint NOT NULL,
    renewed bigint NOT NULL             -- by the server's clock, microseconds since 1970
);
