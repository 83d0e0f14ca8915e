-- Cuts every table that holds rows of scopes into partitions by the hash of the scope, with all that belongs to it: rows,
-- indexes, triggers, row-level security and rights. The program needs no change. Run it as the owner of the tables while no
-- program uses the store. What is cut already stays as it is: run it again after a migration that made a table.
--
--     PGOPTIONS='-c slowwave.partitions=16' psql postgresql://owner@host/memory --set=ON_ERROR_STOP=1 --file=partitions.sql

DO $$
DECLARE
    parts integer := coalesce(nullif(current_setting('slowwave.partitions', true), ''), '16');
    whole oid;      -- the table as it was
    name text;      -- its name
    called text[];  -- the names of its partitions
    columns text;
    guards text[];  -- statements for the table and each of its partitions, who may be asked by name too
    further text[]; -- statements for the table: its partitions follow
    one text;
    told text;
BEGIN
    IF parts NOT BETWEEN 2 AND 1024 THEN
        RAISE EXCEPTION 'slowwave.partitions is %: take 2 to 1024', parts;
    END IF;
    PERFORM set_config('search_path', 'slowwave, pg_catalog', true), set_config('slowwave.every_scope', 'on', true),
        set_config('role', (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = 'slowwave.memories'::regclass), true),
        pg_advisory_xact_lock(1936488311, 0);  -- that of migrations
    FOR whole, name IN
        SELECT c.oid, c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'scope'
        WHERE c.relnamespace = 'slowwave'::regnamespace AND c.relkind = 'r' AND NOT c.relispartition AND c.relrowsecurity
        ORDER BY c.relname
    LOOP
        called := ARRAY(SELECT name || '_' || number FROM generate_series(0, parts - 1) number);
        columns := (
            SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
            WHERE attrelid = whole AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
        );
        guards := ARRAY['ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY']
            || ARRAY(
                SELECT format('CREATE POLICY %I ON %%I USING (%s)', polname, replace(pg_get_expr(polqual, whole), '%', '%%'))
                FROM pg_policy WHERE polrelid = whole
            )
            || ARRAY(
                SELECT format('GRANT %s ON %%I TO %s', a.privilege_type, coalesce(quote_ident(r.rolname), 'PUBLIC'))
                FROM pg_class c, aclexplode(c.relacl) a LEFT JOIN pg_roles r ON r.oid = a.grantee
                WHERE c.oid = whole AND a.grantee <> c.relowner
            );
        further := ARRAY(
                SELECT format('ALTER TABLE %I ADD CONSTRAINT %I %s', name, conname, pg_get_constraintdef(oid))
                FROM pg_constraint WHERE conrelid = whole AND contype IN ('p', 'u')
            )
            || ARRAY(
                SELECT pg_get_indexdef(indexrelid) FROM pg_index
                WHERE indrelid = whole AND indexrelid NOT IN (SELECT conindid FROM pg_constraint WHERE conrelid = whole)
            )
            || ARRAY(SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = whole AND NOT tgisinternal);

        EXECUTE format('ALTER TABLE %I RENAME TO whole', name);
        EXECUTE format('CREATE TABLE %I (LIKE whole INCLUDING ALL EXCLUDING INDEXES) PARTITION BY HASH (scope)', name);
        FOR number IN 0 .. parts - 1 LOOP
            EXECUTE format(
                'CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
                called[number + 1], name, parts, number
            );
        END LOOP;
        EXECUTE format('INSERT INTO %I (%s) SELECT %s FROM whole', name, columns, columns);
        DROP TABLE whole;
        FOREACH one IN ARRAY name || called LOOP
            FOREACH told IN ARRAY guards LOOP
                EXECUTE format(told, one);
            END LOOP;
        END LOOP;
        FOREACH told IN ARRAY further LOOP
            EXECUTE told;
        END LOOP;
        EXECUTE format('ANALYZE %I', name);
    END LOOP;
END
$$;
