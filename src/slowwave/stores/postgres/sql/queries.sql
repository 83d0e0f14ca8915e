-- The statements that Postgres needs in other words than SQLite, under the same names; all others are shared.

-- name: add_scope
INSERT INTO scopes (path) VALUES (?) ON CONFLICT (path) DO UPDATE SET path = excluded.path RETURNING token

-- name: add_embedder
INSERT INTO embedders (name) VALUES (?) ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING token

-- name: tell_embedders_apart
SELECT 1

-- name: add_memory
INSERT INTO memories (key, scope, {memory}, born) VALUES (?, ?, {?memory}, ?) ON CONFLICT DO NOTHING

-- name: add_run
INSERT INTO runs ({run}) VALUES ({?run})
ON CONFLICT DO NOTHING

-- name: extend_run
UPDATE runs SET because = left(because, -1) || ',' || CAST(to_json(CAST(? AS text)) AS text) || ']',
    details = left(details, -1) || ',' || ? || ']', last = ?
WHERE key = ?

-- name: clear_entry
INSERT INTO entries (key, scope) VALUES (?, ?) ON CONFLICT (key, scope) DO UPDATE SET
    embedder = NULL, terms = NULL, words = NULL, question = NULL, cues = NULL, dim = NULL, vectors = NULL, checksum = NULL

-- name: put_entry
INSERT INTO entries (key, scope, embedder, {entry}, checksum) VALUES (?, ?, ?, {?entry}, ?)
ON CONFLICT (key, scope) DO UPDATE SET (embedder, {entry}, checksum) = (excluded.embedder, {x.entry}, excluded.checksum)

-- name: put_gist
INSERT INTO gists (key, scope, embedder, {entry}, checksum) VALUES (?, ?, ?, {?entry}, ?)
ON CONFLICT (key, scope) DO UPDATE SET (embedder, {entry}, checksum) = (excluded.embedder, {x.entry}, excluded.checksum)

-- name: put_cursor
INSERT INTO cursors (scope, conversation, cursor, seq) VALUES (?, ?, ?, ?)
ON CONFLICT (scope, conversation, cursor) DO UPDATE SET seq = excluded.seq

-- name: put_link
INSERT INTO links (scope, source, target, kind, weight, at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (scope, source, target, kind) DO UPDATE SET weight = excluded.weight, at = excluded.at

-- name: put_held
INSERT INTO held (scope, content) SELECT :scope, jsonb_array_elements_text(CAST(:keys AS jsonb))
ON CONFLICT DO NOTHING

-- name: put_lease
INSERT INTO leases (scope, token, holder, until, run) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (scope) DO UPDATE SET (token, holder, until, run) =
    (excluded.token, excluded.holder, excluded.until, excluded.run)

-- name: conversations
SELECT c.name, greatest(c.erased_seq, coalesce(m.seq, 0)), coalesce(m.valid_from, 0), c.title
FROM conversations c LEFT JOIN LATERAL (
    SELECT key, seq, valid_from FROM memories
    WHERE scope = $1 AND conversation = c.name AND seq IS NOT NULL ORDER BY seq DESC LIMIT 1
) m ON true
WHERE c.scope = $1 ORDER BY m.key DESC NULLS LAST, c.name

-- name: lanes
WITH RECURSIVE
    step (pace) AS (
        SELECT (SELECT pace FROM memories WHERE scope = :scope AND pace IS NOT NULL ORDER BY pace LIMIT 1)
        UNION ALL
        SELECT (SELECT pace FROM memories WHERE scope = :scope AND pace > step.pace ORDER BY pace LIMIT 1)
        FROM step WHERE step.pace IS NOT NULL
    ),
    lane (pace, accesses) AS (
        SELECT pace, (
            SELECT accesses FROM memories WHERE scope = :scope AND pace = step.pace ORDER BY accesses LIMIT 1
        ) FROM step WHERE pace IS NOT NULL
        UNION ALL
        SELECT pace, (
            SELECT accesses FROM memories WHERE scope = :scope AND pace = lane.pace AND accesses > lane.accesses
            ORDER BY accesses LIMIT 1
        ) FROM lane WHERE accesses IS NOT NULL
    )
SELECT pace, accesses, (
    SELECT max(recorded_at, coalesce(used_at, recorded_at)) FROM memories
    WHERE scope = :scope AND pace = lane.pace AND accesses = lane.accesses
    ORDER BY max(recorded_at, coalesce(used_at, recorded_at)) DESC LIMIT 1
) FROM lane WHERE accesses IS NOT NULL
UNION ALL
SELECT * FROM (
    SELECT CAST(NULL AS bigint), 0, CAST(NULL AS bigint) FROM memories
    WHERE scope = :scope AND pace IS NULL AND seq IS NULL AND span_first IS NULL AND kind <> 'note' AND phase IN ('active', 'core') LIMIT 1
) AS without

-- name: reasons_of_groups
WITH r AS MATERIALIZED (
    SELECT key, first, last FROM runs
    WHERE scope = :scope AND key IN (SELECT CAST(value AS integer) FROM json_each(:runs))
)
SELECT j.key, j.op, j.memory, j.other, j.payload
FROM r CROSS JOIN LATERAL (
    SELECT * FROM journal
    WHERE scope = :scope AND key BETWEEN first AND last AND run = r.key AND because <> :blank OFFSET 0
) j  -- one run after the other, by key: else the server reads the whole journal
WHERE j.run || '.' || j.part IN (SELECT value FROM json_each(:groups)) AND NOT (
    j.op = 'add' AND EXISTS (SELECT 1 FROM memories m WHERE m.scope = :scope AND m.id = j.memory AND m.seq IS NOT NULL)
)

-- name: totals_of_parts
SELECT r.parent, j.op, count(*) FROM runs r CROSS JOIN LATERAL (
    SELECT op FROM journal WHERE scope = :scope AND key BETWEEN r.first AND r.last AND run = r.key OFFSET 0
) j
WHERE r.scope = :scope AND r.parent IN (SELECT value FROM json_each(:parents)) GROUP BY r.parent, j.op

-- name: erase_refusals_of
DELETE FROM journal WHERE key BETWEEN :low AND :high AND op = 'refuse' AND (run, part) IN (
    SELECT run, part FROM journal
    WHERE key BETWEEN :low AND :high AND op = 'advance' AND CAST(payload AS json) ->> 0 IN (SELECT value FROM json_each(:names))
)

-- name: erase_advances
DELETE FROM journal WHERE key BETWEEN :low AND :high AND op IN ('advance', 'title') AND CAST(payload AS json) ->> 0 IN (SELECT value FROM json_each(:names))

-- name: costs
SELECT cause, CAST(sum(CAST(cost ->> 'calls' AS bigint)) AS bigint),
    CAST(sum(CAST(cost ->> 'tokens_in' AS bigint)) AS bigint),
    CAST(sum(CAST(cost ->> 'tokens_out' AS bigint)) AS bigint),
    sum(CAST(cost ->> 'money' AS double precision)), sum(CAST(cost ->> 'seconds' AS double precision))
FROM (SELECT cause, CAST(cost AS json) AS cost FROM runs WHERE scope = :scope AND cost <> '{}' AND at >= :since) r
GROUP BY cause ORDER BY cause

-- name: scopes_due
SELECT s.path FROM (
    SELECT scope FROM due WHERE at <= :now
    UNION
    SELECT m.scope FROM memories m LEFT JOIN leases l ON l.scope = m.scope
    WHERE m.flags IS NOT NULL AND instr(m.flags, :waits) AND m.phase IN ('active', 'core') AND coalesce(l.until, 0) <= :slept
) d JOIN scopes s ON s.token = d.scope LEFT JOIN leases l ON l.scope = d.scope
WHERE s.path >= '!'
ORDER BY coalesce(l.until, 0), s.path LIMIT :limit

-- name: scopes_page
WITH page AS MATERIALIZED (
    SELECT token, path FROM scopes WHERE path > :after AND path >= :low AND path < :high ORDER BY path LIMIT :limit
)
SELECT p.path,
    (SELECT count(*) FROM memories m WHERE m.scope = p.token AND m.seq IS NOT NULL),
    (SELECT count(*) FROM memories m WHERE m.scope = p.token AND m.seq IS NULL
        AND m.kind IN ('episodic', 'semantic', 'procedural') AND m.phase IN ('active', 'core')),
    (SELECT r.at FROM runs r WHERE r.scope = p.token AND r.key >= p.token << 40 AND r.key < (p.token + 1) << 40
        ORDER BY r.key DESC LIMIT 1)
FROM page p ORDER BY p.path

-- name: scope_of_memory
SELECT s.path FROM scopes s CROSS JOIN LATERAL (SELECT 1 FROM memories m WHERE m.scope = s.token AND m.id = :id LIMIT 1) m
WHERE s.path >= :low AND s.path < :high ORDER BY s.path LIMIT 1
