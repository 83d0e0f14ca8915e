-- The title of a conversation, for people to read.

ALTER TABLE conversations ADD COLUMN title TEXT;
