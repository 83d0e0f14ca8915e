-- When the work that a sleep pass left is due, such as messages of a conversation that goes on; NULL: it left none.
-- 0 for stores of older versions, whose passes did not read messages: each scope is due once.
ALTER TABLE leases ADD COLUMN again INTEGER;
UPDATE leases SET again = 0;
