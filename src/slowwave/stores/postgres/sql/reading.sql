-- The statements that Postgres alone has, to save round trips and copies, in the form of queries.sql.
-- A row is looked up by its key inside LATERAL with LIMIT 1: joined freely, the server might read the whole scope.

-- name: find_or_add_scope (path)
WITH known AS (SELECT token FROM scopes WHERE path IN ($1, unnamed($1))),
    added AS (
        INSERT INTO scopes (path) SELECT unnamed($1) WHERE NOT EXISTS (SELECT 1 FROM known)
        ON CONFLICT (path) DO UPDATE SET path = excluded.path RETURNING token
    )
SELECT token, false FROM known UNION ALL SELECT token, true FROM added

-- `unnest` of an array counts as ten rows, `jsonb_array_elements_text` as a hundred: with a hundred the server expects
-- 350,000 rows here and allocates a table for them, which takes 5 ms in the first search of a connection.
-- name: near_memories (scope, ids)
WITH RECURSIVE near (id, steps) AS (
    SELECT id, 0 FROM (
        SELECT unnest(ARRAY(SELECT jsonb_array_elements_text(CAST($2 AS jsonb)))) AS id
        UNION
        SELECT target FROM links WHERE scope = $1
            AND source = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST($2 AS jsonb))))
        UNION
        SELECT source FROM links WHERE scope = $1
            AND target = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST($2 AS jsonb))))
    ) AS asked
    UNION
    SELECT beside.id, near.steps + 1 FROM near
    CROSS JOIN LATERAL (
        SELECT superseded_by, sources, CASE WHEN span_first IS NULL THEN members END AS members FROM memories
        WHERE scope = $1 AND id = near.id LIMIT 1
    ) AS row
    CROSS JOIN LATERAL (
        SELECT row.superseded_by AS id WHERE row.superseded_by IS NOT NULL
        UNION ALL
        SELECT unnest(ARRAY(SELECT jsonb_array_elements_text(CAST(row.members AS jsonb)))) WHERE row.members IS NOT NULL
        UNION ALL
        SELECT CAST(row.sources AS jsonb) -> 0 ->> 0 WHERE row.sources IS NOT NULL
    ) AS beside
    WHERE near.steps < 5
)
SELECT {memory} FROM memories WHERE scope = $1 AND id = ANY (ARRAY(SELECT id FROM near))

-- name: near_links (scope, ids)
SELECT source, target, kind, weight, at FROM links
WHERE scope = $1 AND source = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST($2 AS jsonb))))
UNION
SELECT source, target, kind, weight, at FROM links
WHERE scope = $1 AND target = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST($2 AS jsonb))))

-- name: snapshot_pieces (scope, size, piece)
SELECT start, substring(arrays FROM start + 1 FOR CAST($3 AS integer))
FROM snapshots CROSS JOIN generate_series(0, CAST($2 AS integer) - 1, CAST($3 AS integer)) AS start WHERE scope = $1
