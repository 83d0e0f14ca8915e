-- How the sleep passes of a scope end: the time of the last one that ended, how many failed one after the other, when the
-- next may begin, and the kind of the last failure (the class of an error, never its text).
ALTER TABLE leases ADD COLUMN ended INTEGER;
ALTER TABLE leases ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN next_try INTEGER NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN error TEXT NOT NULL DEFAULT '';
CREATE INDEX leases_failing ON leases (failures) WHERE failures > 0;

-- A lease with a holder is one that was not released: its process ended, which is a failure. Released ones lose it.
UPDATE leases SET ended = until WHERE run > scope << 40;
UPDATE leases SET holder = '';
