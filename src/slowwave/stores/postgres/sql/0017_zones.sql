-- readable from 17
--
-- The offset in which a memory is shown, such as "+09:00"; NULL: UTC.
ALTER TABLE memories ADD COLUMN zone text COLLATE "C";

-- Which seals a run was written with (`reasons.SEAL`); NULL: by a program that did not say so, which may have set none.
ALTER TABLE runs ADD COLUMN seal bigint;

-- The key with which a key was made; NULL: it was made at the store itself.
ALTER TABLE access_keys ADD COLUMN made_by text COLLATE "C";

-- The path of a scope in which nothing is stored: a hash with the secret of the store. A scope gets its path with its first
-- memory, and loses it when it is erased. Temporary paths begin with a space and stay as they are.
CREATE FUNCTION unnamed(path text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE WHEN path < '!' COLLATE "C" THEN path ELSE
        ' unnamed ' || encode(sha256((SELECT secret FROM slowwave.store) || convert_to(path, 'UTF8')), 'hex') END;

DROP POLICY own ON scopes;
CREATE POLICY own ON scopes USING (
    token = ANY ((SELECT seen())::bigint[])
    OR path = (SELECT current_setting('slowwave.path', true))
    OR path = (SELECT unnamed(current_setting('slowwave.path', true)))
    OR (SELECT seen_all())
);

-- Refuses programs that know a schema and none after it, if a later migration does not say that they can use it. A migration
-- waits until the transaction has ended, so that no write of such a program is applied after one.
CREATE FUNCTION refuse_newer(known integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(1936488311, 0);
    IF EXISTS (SELECT 1 FROM slowwave.migrations WHERE number > known AND coalesce(readable_from, number) > known) THEN
        RAISE EXCEPTION '%', (SELECT max(number) FROM slowwave.migrations) USING ERRCODE = 'SW001';
    END IF;
END
$$;

-- The name of an embedder gets the width of its vectors, so that vectors of two widths are never compared.
UPDATE embedders SET name = name || chr(31) || (SELECT dim FROM entries WHERE embedder = token AND dim > 0 LIMIT 1)
WHERE EXISTS (SELECT 1 FROM entries WHERE embedder = token AND dim > 0);

-- A row for each hour and day, so that a call at a wrong time counts for that time only.
ALTER TABLE model_use DROP CONSTRAINT model_use_pkey, ADD PRIMARY KEY (period, begins);

-- Work that is left until a time that no pass can mean was put off while the clock was wrong, and is due.
CREATE INDEX leases_again ON leases (again) WHERE again IS NOT NULL;
