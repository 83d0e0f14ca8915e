-- Which kinds of request a place may answer (preferences and rules of the user), so that the server's order of candidates
-- includes the part "advice" of the score. Rows are derived again: the layout of the tables has a new number.
ALTER TABLE search_places ADD COLUMN cues bigint NOT NULL DEFAULT 0;
