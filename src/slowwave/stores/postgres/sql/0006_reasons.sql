-- What code needs of the reasons of a run, beside their words: no statement and no code reads the words.
--
-- Runs that are stored already are filled in by `stores.migrations` after this script.

ALTER TABLE runs ADD COLUMN undoes text COLLATE "C";  -- of an undo: the id of the run that it takes back
ALTER TABLE runs ADD COLUMN details text COLLATE "C" NOT NULL DEFAULT '[]';  -- JSON: an object for each group, as in `because`
