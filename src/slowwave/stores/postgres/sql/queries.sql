-- The statements of the Postgres store, under the names and with the parameters of sqlite/sql/queries.sql.
--
-- `-- name: x (a, b) …` names a statement and its parameters: $1 is a, $2 is b. Names in braces are replaced
-- when the file is loaded: by the columns of a memory, an index entry or a run, by the text of a `-- fragment: x`, which
-- several statements contain, `{values}` by ($1, …, $n) of all parameters. Each statement names the scope of its rows, so that
-- the server reads one partition of each table; the scope of a key is `key >> 40`. The words after the parameters:
--   deferred            returns no rows, so it is sent with the next statement that returns some, or with COMMIT;
--   strict              leaves out a row that clashes with a stored one: the session counts the inserted rows;
--   skipped_with_hints  is not sent, and finds nothing, while a write relies on the keys that the last write left.

-- name: scope_token (path)
SELECT token FROM scopes WHERE path IN ($1, unnamed($1))

-- name: add_scope (path)
INSERT INTO scopes (path) VALUES (unnamed($1)) ON CONFLICT (path) DO UPDATE SET path = excluded.path RETURNING token

-- name: name_scope (path, scope) deferred
UPDATE scopes SET path = $1 WHERE token = $2 AND path <> $1

-- name: forget_scope (scope)
UPDATE scopes SET path = unnamed(path)
WHERE token = $1 AND path >= '!' AND NOT EXISTS (SELECT 1 FROM memories WHERE scope = $1) RETURNING token

-- name: forget_prefix (path, at) deferred
UPDATE access_keys SET prefix = unnamed($1), label = '', revoked_at = coalesce(revoked_at, $2) WHERE prefix = $1

-- name: embedder_token (name)
SELECT token FROM embedders WHERE name = $1

-- name: add_embedder (name)
INSERT INTO embedders (name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING token

-- name: last_keys (low, high)
SELECT (SELECT max(key) FROM memories WHERE scope = $1 >> 40 AND key BETWEEN $1 AND $2),
       (SELECT max(key) FROM journal WHERE scope = $1 >> 40 AND key BETWEEN $1 AND $2),
       (SELECT max(key) FROM runs WHERE scope = $1 >> 40 AND key BETWEEN $1 AND $2)

-- name: known_message (scope, ref, conversation) skipped_with_hints
SELECT id, role, text, speaker FROM memories WHERE scope = $1 AND ref = $2 AND conversation = $3 AND seq IS NOT NULL

-- name: fact_ref (scope, ref)
SELECT id FROM memories WHERE scope = $1 AND ref = $2 AND seq IS NULL AND kind <> 'note'

-- name: live_fact (scope, content)
SELECT id FROM memories WHERE scope = $1 AND content = $2 AND phase IN ('active', 'core')

-- name: live_note (scope, conversation, ref)
SELECT id FROM memories
WHERE scope = $1 AND conversation = $2 AND ref = $3 AND kind = 'note' AND phase IN ('active', 'core')

-- name: key_of (scope, id)
SELECT key FROM memories WHERE scope = $1 AND id = $2

-- name: trimmed_key_of (scope, id)
SELECT key FROM memories WHERE scope = $1 AND id = $2 AND gist IS NOT NULL

-- name: seq_taken (scope, conversation, seq)
SELECT id FROM memories WHERE scope = $1 AND conversation = $2 AND seq = $3

-- name: clear_entry (key, scope) deferred
INSERT INTO entries (key, scope) VALUES ($1, $2) ON CONFLICT (key, scope) DO UPDATE SET
    embedder = NULL, terms = NULL, words = NULL, question = NULL, cues = NULL, dim = NULL, vectors = NULL,
    checksum = NULL

-- name: reindexed (token) deferred
UPDATE scopes SET reindexed = reindexed + 1 WHERE token = $1

-- name: last_seq (scope, name)
SELECT greatest(erased_seq, coalesce((
    SELECT seq FROM memories WHERE scope = $1 AND conversation = $2 AND seq IS NOT NULL ORDER BY seq DESC LIMIT 1
), 0)) FROM conversations WHERE scope = $1 AND name = $2

-- name: add_conversation (scope, name) deferred strict
INSERT INTO conversations (scope, name) VALUES ($1, $2) ON CONFLICT DO NOTHING

-- name: keep_seq (seq, scope, name) deferred
UPDATE conversations SET erased_seq = greatest(erased_seq, $1) WHERE scope = $2 AND name = $3

-- name: title (scope, name)
SELECT title FROM conversations WHERE scope = $1 AND name = $2

-- name: put_title (title, scope, name) deferred
UPDATE conversations SET title = $1 WHERE scope = $2 AND name = $3

-- name: titles (scope)
SELECT name, title FROM conversations WHERE scope = $1 AND title IS NOT NULL

-- name: title_rows (low, high)
SELECT key, op, memory, other, because, payload FROM journal
WHERE scope = $1 >> 40 AND key BETWEEN $1 AND $2 AND op = 'title'

-- name: last_memory (low, high)
SELECT max(key) FROM memories WHERE scope = $1 >> 40 AND key BETWEEN $1 AND $2

-- name: conversation_places (scope, snapshot, at, before, limit, latest, low, name)
SELECT name, title, at, key FROM (
    SELECT c.name, c.title, m.key, CASE WHEN m.valid_from <= $6 THEN m.valid_from ELSE coalesce((
        SELECT valid_from FROM memories
        WHERE scope = $1 AND key BETWEEN $7 AND m.key AND seq IS NOT NULL AND valid_from <= $6 ORDER BY key DESC LIMIT 1
    ), 0) END AS at
    FROM conversations c CROSS JOIN LATERAL (
        SELECT key, valid_from FROM memories WHERE scope = $1 AND conversation = c.name AND seq IS NOT NULL
            AND phase <> 'retracted' AND key <= $2
        ORDER BY seq DESC LIMIT 1
    ) m
    WHERE c.scope = $1 AND c.name = coalesce($8, c.name) OFFSET 0  -- otherwise the server looks each time up twice
) listed
WHERE CAST($3 AS bigint) IS NULL OR (at, key) < ($3, $4)
ORDER BY at DESC, key DESC LIMIT nullif($5, -1)

-- name: conversation_counts (scope, names, length)
SELECT conversation, count(*), sum(CASE WHEN phase = 'quarantined' THEN 1 ELSE 0 END), min(valid_from), max(valid_from), (
        SELECT substr(text, 1, CAST($3 AS integer)) FROM memories f WHERE f.scope = $1 AND f.conversation = m.conversation
            AND f.seq IS NOT NULL AND f.phase IN ('active', 'cold') AND f.role = 'user'
        ORDER BY f.seq LIMIT 1
    )
FROM memories m
WHERE scope = $1 AND conversation IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb))) AND seq IS NOT NULL
    AND phase <> 'retracted'
GROUP BY conversation

-- name: after_cursor (scope, cursor, name)
SELECT c.name, count(*)
FROM conversations c LEFT JOIN cursors r ON r.scope = $1 AND r.conversation = c.name AND r.cursor = $2
JOIN memories m ON m.scope = $1 AND m.conversation = c.name AND m.seq > coalesce(r.seq, 0) AND m.seq IS NOT NULL
WHERE c.scope = $1 AND c.name = coalesce($3, c.name) GROUP BY c.name

-- name: hidden_after_cursor (scope, cursor, name)
SELECT m.conversation, count(*)
FROM memories m LEFT JOIN cursors r ON r.scope = $1 AND r.conversation = m.conversation AND r.cursor = $2
WHERE m.scope = $1 AND m.seq IS NOT NULL AND m.phase <> 'active' AND m.phase IN ('quarantined', 'retracted')
    AND m.seq > coalesce(r.seq, 0) AND m.conversation = coalesce($3, m.conversation)
GROUP BY m.conversation

-- name: released_before_cursor (scope, cursor, released, name)
SELECT m.conversation, count(*)
FROM memories m LEFT JOIN cursors r ON r.scope = $1 AND r.conversation = m.conversation AND r.cursor = $2
WHERE m.scope = $1 AND m.flags IS NOT NULL AND m.seq IS NOT NULL AND m.phase IN ('active', 'cold')
    AND strpos(m.flags, $3) > 0 AND m.seq <= coalesce(r.seq, 0) AND m.conversation = coalesce($4, m.conversation)
GROUP BY m.conversation

-- name: conversation (scope, name)
SELECT greatest(c.erased_seq, coalesce(m.seq, 0)), coalesce(m.valid_from, 0), c.title
FROM conversations c LEFT JOIN memories m ON m.scope = $1 AND m.key = (
    SELECT key FROM memories WHERE scope = $1 AND conversation = $2 AND seq IS NOT NULL ORDER BY seq DESC LIMIT 1
)
WHERE c.scope = $1 AND c.name = $2

-- name: conversations (scope)
SELECT c.name, greatest(c.erased_seq, coalesce(m.seq, 0)), coalesce(m.valid_from, 0), c.title
FROM conversations c LEFT JOIN LATERAL (
    SELECT key, seq, valid_from FROM memories
    WHERE scope = $1 AND conversation = c.name AND seq IS NOT NULL ORDER BY seq DESC LIMIT 1
) m ON true
WHERE c.scope = $1 ORDER BY m.key DESC NULLS LAST, c.name

-- name: cursors (scope)
SELECT conversation, cursor, seq FROM cursors WHERE scope = $1

-- name: cursors_of (scope, conversation)
SELECT cursor, seq FROM cursors WHERE scope = $1 AND conversation = $2

-- name: cursor (scope, conversation, cursor)
SELECT seq FROM cursors WHERE scope = $1 AND conversation = $2 AND cursor = $3

-- name: put_cursor (scope, conversation, cursor, seq) deferred
INSERT INTO cursors (scope, conversation, cursor, seq) VALUES {values}
ON CONFLICT (scope, conversation, cursor) DO UPDATE SET seq = excluded.seq

-- name: link_weight (scope, source, target, kind)
SELECT weight FROM links WHERE scope = $1 AND source = $2 AND target = $3 AND kind = $4

-- name: put_link (scope, source, target, kind, weight, at) deferred
INSERT INTO links (scope, source, target, kind, weight, at) VALUES {values}
ON CONFLICT (scope, source, target, kind) DO UPDATE SET weight = excluded.weight, at = excluded.at

-- name: cut_link (scope, source, target, kind) deferred
DELETE FROM links WHERE scope = $1 AND source = $2 AND target = $3 AND kind = $4

-- name: links_of (scope, id)
SELECT source, target, kind, weight, at FROM links WHERE scope = $1 AND source = $2
UNION
SELECT source, target, kind, weight, at FROM links WHERE scope = $1 AND target = $2

-- name: put_held (scope, keys) deferred
INSERT INTO held (scope, content) SELECT $1, jsonb_array_elements_text(CAST($2 AS jsonb))
ON CONFLICT DO NOTHING

-- name: cut_held (scope, keys) deferred
DELETE FROM held WHERE scope = $1 AND content IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb)))

-- name: held_among (scope, keys)
SELECT content FROM held WHERE scope = $1 AND content IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb)))

-- name: unless_held (scope, keys) skipped_with_hints
SELECT 1 FROM held WHERE scope = $1 AND content IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb))) LIMIT 1

-- name: count_of_ids (scope, ids)
SELECT count(*) FROM memories WHERE scope = $1 AND id IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb)))

-- name: held_beginning (scope, low, high)
SELECT content FROM held
WHERE scope = $1 AND content COLLATE "C" >= $2 AND content COLLATE "C" < $3 ORDER BY content COLLATE "C"

-- name: held_since (low, high, keys)
SELECT DISTINCT ON (1) CAST(j.payload AS jsonb) ->> 0, r.at, coalesce(r.parent, r.id)
FROM journal j JOIN runs r ON r.scope = j.scope AND r.key = j.run
WHERE j.scope = $1 >> 40 AND j.key BETWEEN $1 AND $2 AND j.op = 'hold' AND CAST(CAST(j.payload AS jsonb) ->> 1 AS boolean)
    AND CAST(j.payload AS jsonb) ->> 0 IN (SELECT jsonb_array_elements_text(CAST($3 AS jsonb)))
ORDER BY 1, r.at DESC

-- name: add_run ({run}) strict
INSERT INTO runs ({run}) VALUES {values} ON CONFLICT DO NOTHING

-- name: extend_run (because, details, last, key) deferred
UPDATE runs SET because = left(because, -1) || ',' || CAST(to_json(CAST($1 AS text)) AS text) || ']',
    details = left(details, -1) || ',' || $2 || ']', last = $3
WHERE scope = $4 >> 40 AND key = $4

-- name: run_exists (scope, id)
SELECT 1 FROM runs WHERE scope = $1 AND id = $2

-- name: add_journal (key, scope, run, part, op, memory, other, because, payload, checksum) deferred strict
INSERT INTO journal (key, scope, run, part, op, memory, other, because, payload, checksum)
VALUES {values} ON CONFLICT DO NOTHING

-- name: due (scope, now)
SELECT count(*) FROM memories WHERE scope = $1 AND due_at <= $2 AND phase IN ('active', 'core')

-- name: faint (scope, pace, accesses, until, limit)
SELECT id, kind, category, depth FROM memories
WHERE scope = $1 AND pace = $2 AND accesses = $3 AND greatest(recorded_at, coalesce(used_at, recorded_at)) <= $4
    AND phase = 'active' AND pinned = 0
ORDER BY greatest(recorded_at, coalesce(used_at, recorded_at)), confidence, id DESC LIMIT $5

-- name: gone_faint (scope, kind, category, limit, embedder)
SELECT m.id, m.kind, m.category, m.depth, substr(e.vectors, 1, CAST(4 * e.dim AS integer))
FROM memories m JOIN entries e ON e.scope = $1 AND e.key = m.key
WHERE m.scope = $1 AND m.key IN (
    SELECT key FROM memories WHERE scope = $1 AND seq IS NULL AND kind = $2 AND phase = 'cold' AND category = $3
    ORDER BY key DESC LIMIT $4
) AND m.reason = 'faded' AND m.pinned = 0 AND m.span_first IS NULL AND e.embedder = $5 AND e.dim > 0
ORDER BY m.key

-- name: unpaced (scope, low, high, limit)
SELECT {memory} FROM memories WHERE scope = $1 AND key IN (
    SELECT key FROM memories WHERE scope = $1 AND pace IS NULL AND seq IS NULL AND span_first IS NULL
        AND kind <> 'note' AND phase IN ('active', 'core')
    UNION ALL
    SELECT key FROM memories WHERE scope = $1 AND pace < $2
    UNION ALL
    SELECT key FROM memories WHERE scope = $1 AND pace > $3
    LIMIT nullif($4, -1)
)

-- name: count_unpaced (scope, low, high)
SELECT (
        SELECT count(*) FROM memories
        WHERE scope = $1 AND pace IS NULL AND seq IS NULL AND span_first IS NULL
            AND kind <> 'note' AND phase IN ('active', 'core')
    )
    + (SELECT count(*) FROM memories WHERE scope = $1 AND pace < $2)
    + (SELECT count(*) FROM memories WHERE scope = $1 AND pace > $3)

-- name: lanes (scope)
WITH RECURSIVE
    step (pace) AS (
        SELECT (SELECT pace FROM memories WHERE scope = $1 AND pace IS NOT NULL ORDER BY pace LIMIT 1)
        UNION ALL
        SELECT (SELECT pace FROM memories WHERE scope = $1 AND pace > step.pace ORDER BY pace LIMIT 1)
        FROM step WHERE step.pace IS NOT NULL
    ),
    lane (pace, accesses) AS (
        SELECT pace, (
            SELECT accesses FROM memories WHERE scope = $1 AND pace = step.pace ORDER BY accesses LIMIT 1
        ) FROM step WHERE pace IS NOT NULL
        UNION ALL
        SELECT pace, (
            SELECT accesses FROM memories WHERE scope = $1 AND pace = lane.pace AND accesses > lane.accesses
            ORDER BY accesses LIMIT 1
        ) FROM lane WHERE accesses IS NOT NULL
    )
SELECT pace, accesses, (
    SELECT greatest(recorded_at, coalesce(used_at, recorded_at)) FROM memories
    WHERE scope = $1 AND pace = lane.pace AND accesses = lane.accesses
    ORDER BY greatest(recorded_at, coalesce(used_at, recorded_at)) DESC LIMIT 1
) FROM lane WHERE accesses IS NOT NULL
UNION ALL
SELECT * FROM (
    SELECT CAST(NULL AS bigint), 0, CAST(NULL AS bigint) FROM memories
    WHERE scope = $1 AND pace IS NULL AND seq IS NULL AND span_first IS NULL AND kind <> 'note'
        AND phase IN ('active', 'core')
    LIMIT 1
) AS without

-- name: lane (scope, pace, accesses, limit)
SELECT id, greatest(recorded_at, coalesce(used_at, recorded_at)), confidence FROM memories
WHERE scope = $1 AND pace = $2 AND accesses = $3
ORDER BY greatest(recorded_at, coalesce(used_at, recorded_at)) DESC, confidence DESC, id LIMIT $4

-- name: count_facts (scope)
SELECT kind, phase, count(*) FROM memories WHERE scope = $1 AND seq IS NULL GROUP BY kind, phase

-- name: count_cascades (scope)
SELECT kind, phase, count(*) FROM memories WHERE scope = $1 AND span_first IS NOT NULL GROUP BY kind, phase

-- name: count_messages (scope)
SELECT count(*) FROM memories WHERE scope = $1 AND seq IS NOT NULL

-- name: count_messages_off (scope)
SELECT phase, count(*) FROM memories WHERE scope = $1 AND seq IS NOT NULL AND phase <> 'active' GROUP BY phase

-- name: erase_memories (scope, ids) deferred
DELETE FROM memories WHERE scope = $1 AND id IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb)))

-- name: erase_entries (scope, ids) deferred
DELETE FROM entries WHERE scope = $1 AND key IN (
    SELECT key FROM memories WHERE scope = $1 AND id IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb)))
)

-- name: erase_links_from (scope, ids) deferred
DELETE FROM links WHERE scope = $1 AND source IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb)))

-- name: erase_links_to (scope, ids) deferred
DELETE FROM links WHERE scope = $1 AND target IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb)))

-- name: groups_of_memories (scope, ids)
SELECT j.run, j.part, r.because, r.details FROM (
    SELECT scope, run, part FROM journal
    WHERE scope = $1 AND key IN (
        SELECT born FROM memories WHERE scope = $1 AND id IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb)))
    )
    UNION
    SELECT scope, run, part FROM journal
    WHERE scope = $1 AND memory IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb))) AND op <> 'add'
    UNION
    SELECT scope, run, part FROM journal
    WHERE scope = $1 AND other IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb)))
) j LEFT JOIN runs r ON r.scope = $1 AND r.key = j.run

-- name: reasons_of_groups (scope, runs, blank, groups)
WITH r AS MATERIALIZED (
    SELECT key, first, last FROM runs
    WHERE scope = $1 AND key IN (SELECT CAST(jsonb_array_elements_text(CAST($2 AS jsonb)) AS bigint))
)
SELECT j.key, j.op, j.memory, j.other, j.payload
FROM r CROSS JOIN LATERAL (
    SELECT * FROM journal
    WHERE scope = $1 AND key BETWEEN first AND last AND run = r.key AND because <> $3 OFFSET 0
) j  -- one run after the other, by key: otherwise the server reads the whole journal
WHERE j.run || '.' || j.part IN (SELECT jsonb_array_elements_text(CAST($4 AS jsonb))) AND NOT (
    j.op = 'add' AND EXISTS (SELECT 1 FROM memories m WHERE m.scope = $1 AND m.id = j.memory AND m.seq IS NOT NULL)
)

-- name: put_reason (because, checksum, key) deferred
UPDATE journal SET because = $1, checksum = $2 WHERE scope = $3 >> 40 AND key = $3

-- name: reseal_memory (checksum, scope, id) deferred
UPDATE memories SET checksum = $1 WHERE scope = $2 AND id = $3

-- name: reseal_run (because, details, seal, key) deferred
UPDATE runs SET because = $1, details = $2, seal = $3 WHERE scope = $4 >> 40 AND key = $4

-- name: text_of_key (scope, key)
SELECT text FROM memories WHERE scope = $1 AND key = $2

-- name: reseal_journal (payload, checksum, key) deferred
UPDATE journal SET payload = $1, checksum = $2 WHERE scope = $3 >> 40 AND key = $3


-- name: all_reasons (low, high)
SELECT key, op, memory, other, payload, because FROM journal WHERE scope = $1 >> 40 AND key BETWEEN $1 AND $2

-- name: all_run_reasons (low, high)
SELECT key, because, details FROM runs WHERE scope = $1 >> 40 AND key BETWEEN $1 AND $2

-- name: someone_in_conversations (scope, names)
SELECT conversation FROM memories
WHERE scope = $1 AND conversation IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb))) AND kind <> 'note'
LIMIT 1

-- name: conversations_of (scope, names)
SELECT name FROM conversations WHERE scope = $1 AND name IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb)))

-- name: erase_conversations (scope, names) deferred
DELETE FROM conversations WHERE scope = $1 AND name IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb)))

-- name: erase_cursors (scope, names) deferred
DELETE FROM cursors WHERE scope = $1 AND conversation IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb)))

-- name: erase_refusals_of (low, high, names) deferred
DELETE FROM journal
WHERE scope = $1 >> 40 AND key BETWEEN $1 AND $2 AND op = 'refuse' AND (run, part) IN (
    SELECT run, part FROM journal
    WHERE scope = $1 >> 40 AND key BETWEEN $1 AND $2 AND op = 'advance'
        AND CAST(payload AS json) ->> 0 IN (SELECT jsonb_array_elements_text(CAST($3 AS jsonb)))
)

-- name: erase_advances (low, high, names) deferred
DELETE FROM journal
WHERE scope = $1 >> 40 AND key BETWEEN $1 AND $2 AND op IN ('advance', 'title')
    AND CAST(payload AS json) ->> 0 IN (SELECT jsonb_array_elements_text(CAST($3 AS jsonb)))

-- name: runs_of_conversations (low, high)
SELECT key, because, details FROM runs
WHERE scope = $1 >> 40 AND key BETWEEN $1 AND $2 AND strpos(details, '"conversations"') > 0

-- name: texts_of_memories (after, high, limit)
SELECT key, id, text, category, subject, speaker, ref, conversation, last_session, reason, metadata, sources, flags
FROM memories WHERE scope = $2 >> 40 AND key > $1 AND key <= $2 ORDER BY key LIMIT $3

-- name: texts_of_changes (after, high, limit)
SELECT key, memory, payload FROM journal
WHERE scope = $2 >> 40 AND key > $1 AND key <= $2 AND memory IS NOT NULL AND op IN ('add', 'change', 'use')
ORDER BY key LIMIT $3

-- name: former_bases (low, high)
SELECT memory, payload FROM journal
WHERE scope = $1 >> 40 AND key BETWEEN $1 AND $2 AND op = 'change'
    AND (strpos(payload, '"sources"') > 0 OR strpos(payload, '"members"') > 0)

-- name: put_run_because (because, details, key) deferred
UPDATE runs SET because = $1, details = $2 WHERE scope = $3 >> 40 AND key = $3

-- name: erase_journal (scope, ids) deferred
DELETE FROM journal WHERE scope = $1 AND key IN (
    SELECT born FROM memories WHERE scope = $1 AND id IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb)))
    UNION ALL
    SELECT key FROM journal
    WHERE scope = $1 AND memory IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb)))
        AND op <> 'add' AND op <> 'erase'
    UNION ALL
    SELECT key FROM journal WHERE scope = $1 AND other IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb)))
)

-- name: erase_holds (scope, keys) deferred
DELETE FROM journal
WHERE scope = $1 AND op = 'hold' AND CAST(payload AS json) ->> 0 IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb)))

-- name: refused (scope)
SELECT key, payload FROM journal WHERE scope = $1 AND op = 'refuse'

-- name: latest_refused (scope, limit)
SELECT key, because, payload, checksum FROM journal
WHERE scope = $1 AND op = 'refuse' ORDER BY key DESC LIMIT nullif($2, -1)

-- name: erase_journal_row (key) deferred
DELETE FROM journal WHERE scope = $1 >> 40 AND key = $1

-- name: runs (low, high, since, parts, limit)
SELECT {run} FROM runs
WHERE scope = $1 >> 40 AND key BETWEEN $1 AND $2 AND (CAST($3 AS bigint) IS NULL OR at > $3)
    AND (parent IS NULL OR $4 = 2 OR ($4 = 1 AND cause > 'sleep/' AND cause < 'sleep0'))
ORDER BY key DESC LIMIT nullif($5, -1)

-- name: runs_of_frequent_cause (low, high, since, cause, parts, limit)
SELECT {run} FROM runs
WHERE scope = $1 >> 40 AND key BETWEEN $1 AND $2 AND (CAST($3 AS bigint) IS NULL OR at > $3) AND cause = $4
    AND (parent IS NULL OR $5 = 2 OR ($5 = 1 AND cause > 'sleep/' AND cause < 'sleep0'))
ORDER BY key DESC LIMIT nullif($6, -1)

-- name: runs_of_cause (scope, cause, low, high, since, parts, limit)
SELECT {run} FROM runs
WHERE scope = $1 AND key IN (
    SELECT key FROM runs WHERE scope = $1 AND cause = $2 AND cause <> 'observe' AND cause <> 'use'
    UNION ALL
    SELECT key FROM runs WHERE scope = $1 AND cause > $2 || '/' AND cause < $2 || '0'
        AND cause <> 'observe' AND cause <> 'use'
) AND key BETWEEN $3 AND $4 AND (CAST($5 AS bigint) IS NULL OR at > $5)
    AND (parent IS NULL OR $6 = 2 OR ($6 = 1 AND cause > 'sleep/' AND cause < 'sleep0'))
ORDER BY key DESC LIMIT nullif($7, -1)

-- name: run (scope, id)
SELECT {run} FROM runs WHERE scope = $1 AND id = $2

-- name: undos (scope)
SELECT id, undoes, parent FROM runs
WHERE scope = $1 AND cause = 'undo' AND cause <> 'observe' AND cause <> 'use' AND undoes IS NOT NULL
ORDER BY key DESC

-- name: totals_of_parts (scope, parents)
SELECT r.parent, j.op, count(*) FROM runs r CROSS JOIN LATERAL (
    SELECT op FROM journal WHERE scope = $1 AND key BETWEEN r.first AND r.last AND run = r.key OFFSET 0
) j
WHERE r.scope = $1 AND r.parent IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb))) GROUP BY r.parent, j.op

-- name: count_parts (scope, parents)
SELECT parent, count(*) FROM runs
WHERE scope = $1 AND parent IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb))) GROUP BY parent

-- name: children (scope, parent)
SELECT {run} FROM runs
WHERE scope = $1 AND parent = $2 ORDER BY key

-- name: later (scope, first, last, run)
SELECT {run} FROM runs
WHERE scope = $1 AND key IN (
    SELECT b.run FROM journal a JOIN journal b ON b.scope = $1 AND b.memory = a.memory AND b.key > a.key
    WHERE a.scope = $2 >> 40 AND a.key BETWEEN $2 AND $3 AND a.run = $4 AND a.op IN ('add', 'change')
        AND b.op <> 'add' AND b.op IN ('change', 'erase') AND b.run <> $4
)
ORDER BY key DESC

-- name: resting (low, high, first, run)
SELECT m.sources, {r.run}
FROM memories m
JOIN journal j ON j.scope = $1 >> 40 AND j.key = m.born
JOIN runs r ON r.scope = $1 >> 40 AND r.key = j.run
WHERE m.scope = $1 >> 40 AND m.key BETWEEN $1 AND $2 AND m.born > $3 AND m.sources IS NOT NULL
    AND m.phase <> 'retracted' AND r.key <> $4

-- name: run_rows (low, high, run)
SELECT key, op, memory, other, because, payload, checksum, part FROM journal
WHERE scope = $1 >> 40 AND key BETWEEN $1 AND $2 AND run = $3 ORDER BY key

-- name: memory_rows (scope, id)
SELECT key, op, memory, other, because, payload, checksum FROM journal
WHERE scope = $1 AND key = (SELECT born FROM memories WHERE scope = $1 AND id = $2)
UNION
SELECT key, op, memory, other, because, payload, checksum FROM journal
WHERE scope = $1 AND memory = $2 AND op <> 'add'
UNION
SELECT key, op, memory, other, because, payload, checksum FROM journal
WHERE scope = $1 AND other = $2
ORDER BY key

-- name: history (scope, id)
SELECT j.key, r.id, r.cause, r.at FROM (
    SELECT key, run FROM journal WHERE scope = $1 AND key = (SELECT born FROM memories WHERE scope = $1 AND id = $2)
    UNION
    SELECT key, run FROM journal WHERE scope = $1 AND memory = $2 AND op <> 'add'
    UNION
    SELECT key, run FROM journal WHERE scope = $1 AND other = $2
) j JOIN runs r ON r.scope = $1 AND r.key = j.run
ORDER BY j.key

-- name: last_journal (low, high)
SELECT max(key) FROM journal WHERE scope = $1 >> 40 AND key BETWEEN $1 AND $2

-- name: written (after, last)
SELECT r.id, r.cause, r.at, r.parent, r.undoes, j.op, count(*), max(j.key)
FROM journal j JOIN runs r ON r.scope = j.scope AND r.key = j.run
WHERE j.scope = $2 >> 40 AND j.key > $1 AND j.key <= $2 GROUP BY r.id, r.cause, r.at, r.parent, r.undoes, j.op

-- name: changed (after, high, limit)
SELECT j.memory, min(j.key) FROM journal j JOIN memories m ON m.scope = j.scope AND m.id = j.memory
WHERE j.scope = $2 >> 40 AND j.key > $1 AND j.key <= $2 AND j.op IN ('add', 'change')
    AND m.seq IS NULL AND m.span_first IS NULL AND m.kind <> 'note'
    AND NOT (m.kind = 'summary' AND m.category = 'page')
GROUP BY j.memory ORDER BY min(j.key) LIMIT nullif($3, -1)

-- name: changed_after_cursor (scope, low, high, cursor, limit)
SELECT {m.memory}, page.first FROM (
    SELECT j.memory, min(j.key) AS first FROM journal j JOIN memories m ON m.scope = j.scope AND m.id = j.memory
    WHERE j.scope = $1 AND j.key <= $3 AND j.op IN ('add', 'change')
        AND j.key > $2 + coalesce((SELECT seq FROM cursors WHERE scope = $1 AND conversation = '' AND cursor = $4), 0)
        AND m.seq IS NULL AND m.span_first IS NULL AND m.kind <> 'note'
        AND NOT (m.kind = 'summary' AND m.category = 'page')
    GROUP BY j.memory ORDER BY min(j.key) LIMIT nullif($5, -1)
) page JOIN memories m ON m.scope = $1 AND m.id = page.memory ORDER BY page.first

-- name: whole_journal (low, high)
SELECT key, op, memory, other, because, payload, checksum FROM journal
WHERE scope = $1 >> 40 AND key BETWEEN $1 AND $2 ORDER BY key

-- name: state_of_scope (scope, low, high)
SELECT (SELECT max(key) FROM journal WHERE scope = $1 AND key BETWEEN $2 AND $3), reindexed
FROM scopes WHERE token = $1

-- name: snapshot (scope)
SELECT journal, reindexed, layout, checksum, head, length(arrays) FROM snapshots WHERE scope = $1

-- name: put_snapshot (scope, journal, reindexed, layout, checksum, head, arrays) deferred
INSERT INTO snapshots (scope, journal, reindexed, layout, checksum, head, arrays) VALUES {values}
ON CONFLICT (scope) DO UPDATE SET (journal, reindexed, layout, checksum, head, arrays)
    = (excluded.journal, excluded.reindexed, excluded.layout, excluded.checksum, excluded.head, excluded.arrays)

-- name: erase_snapshot (scope) deferred
DELETE FROM snapshots WHERE scope = $1

-- name: derived_since (scope, after, high)
SELECT m.span_first, m.span_last, m.conversation,
    coalesce(m.sources, '') || coalesce(m.members, '') || coalesce(m.superseded_by, '') || coalesce(j.payload, '')
FROM journal j JOIN memories m ON m.scope = j.scope AND m.id = j.memory
WHERE j.scope = $1 AND j.key > $2 AND j.key <= $3 AND j.op IN ('add', 'change') AND m.kind <> 'message'

-- name: touched (scope, after, high)
SELECT op, memory, op = 'add' OR payload LIKE '%"text":[%' FROM journal
WHERE scope = $1 AND key > $2 AND key <= $3 AND op IN ('add', 'change', 'use', 'erase')

-- name: touched_rows (scope, after, high)
SELECT {m.memory}, e.embedder, {e.entry}, e.checksum
FROM memories m JOIN entries e ON e.scope = $1 AND e.key = m.key AND e.embedder IS NOT NULL
WHERE m.scope = $1 AND m.id = ANY (ARRAY(
    SELECT memory FROM journal WHERE scope = $1 AND key > $2 AND key <= $3 AND op IN ('add', 'change', 'use')
))
ORDER BY m.key

-- name: touched_gists (scope, after, high)
SELECT m.id, e.embedder, {e.entry}, e.checksum FROM memories m JOIN gists e ON e.scope = $1 AND e.key = m.key
WHERE m.scope = $1 AND m.gist IS NOT NULL AND m.id = ANY (ARRAY(
    SELECT memory FROM journal WHERE scope = $1 AND key > $2 AND key <= $3 AND op IN ('add', 'change', 'use')
))

-- name: touched_rows (scope, after, high)
SELECT {m.memory}, e.embedder, {e.entry}, e.checksum
FROM memories m JOIN entries e ON e.scope = $1 AND e.key = m.key AND e.embedder IS NOT NULL
WHERE m.scope = $1 AND m.id = ANY (ARRAY(
    SELECT memory FROM journal WHERE scope = $1 AND key > $2 AND key <= $3 AND op IN ('add', 'change', 'use')
))
ORDER BY m.key


-- name: embedders ()
SELECT token, name FROM embedders

-- name: memory_ids_with_prefix (scope, low, high, limit)
SELECT id FROM memories WHERE scope = $1 AND id >= $2 AND id < $3 ORDER BY id LIMIT $4

-- name: memory_ids_with_ending (scope, ending, limit)
SELECT id FROM memories WHERE scope = $1 AND right(id, length($2)) = $2 ORDER BY id LIMIT $3

-- name: run_ids_with_prefix (scope, low, high, limit)
SELECT id FROM runs WHERE scope = $1 AND id >= $2 AND id < $3 ORDER BY id LIMIT $4

-- name: run_ids_with_ending (scope, ending, limit)
SELECT id FROM runs WHERE scope = $1 AND right(id, length($2)) = $2 ORDER BY id LIMIT $3

-- name: memory (scope, id)
SELECT {memory} FROM memories WHERE scope = $1 AND id = $2

-- name: memories (scope, ids)
SELECT {memory} FROM memories WHERE scope = $1 AND id IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb)))

-- name: memory_with_key (scope, id)
SELECT {memory}, key FROM memories WHERE scope = $1 AND id = $2

-- name: memories_with_key (scope, ids)
SELECT {memory}, key FROM memories WHERE scope = $1 AND id IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb)))

-- name: add_memory (key, scope, {memory}, born) strict
INSERT INTO memories (key, scope, {memory}, born) VALUES {values} ON CONFLICT DO NOTHING

-- name: add_entry (key, scope, embedder, {entry}, checksum) deferred strict
INSERT INTO entries (key, scope, embedder, {entry}, checksum) VALUES {values}
ON CONFLICT DO NOTHING

-- name: put_entry (key, scope, embedder, {entry}, checksum) deferred
INSERT INTO entries (key, scope, embedder, {entry}, checksum) VALUES {values}
ON CONFLICT (key, scope) DO UPDATE SET (embedder, {entry}, checksum) = (excluded.embedder, {x.entry}, excluded.checksum)

-- name: put_gist (key, scope, embedder, {entry}, checksum) deferred
INSERT INTO gists (key, scope, embedder, {entry}, checksum) VALUES {values}
ON CONFLICT (key, scope) DO UPDATE SET (embedder, {entry}, checksum) = (excluded.embedder, {x.entry}, excluded.checksum)

-- name: cut_gist (key) deferred
DELETE FROM gists WHERE scope = $1 >> 40 AND key = $1

-- name: erase_gists (scope, ids) deferred
DELETE FROM gists WHERE scope = $1 AND key IN (
    SELECT key FROM memories WHERE scope = $1 AND id IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb)))
)

-- name: some_gists (scope, ids)
SELECT m.id, e.embedder, {e.entry}, e.checksum FROM memories m JOIN gists e ON e.scope = $1 AND e.key = m.key
WHERE m.scope = $1 AND m.id IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb)))

-- name: entries (scope, ids)
SELECT m.id, b.name, {e.entry}, e.checksum
FROM memories m JOIN entries e ON e.scope = $1 AND e.key = m.key LEFT JOIN embedders b ON b.token = e.embedder
WHERE m.scope = $1 AND m.id IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb))) AND e.embedder IS NOT NULL

-- name: vectors (scope, ids, embedder)
SELECT m.id, substr(e.vectors, 1, CAST(4 * e.dim AS integer))
FROM memories m JOIN entries e ON e.scope = $1 AND e.key = m.key
WHERE m.scope = $1 AND m.id IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb))) AND e.embedder = $3 AND e.dim > 0

-- name: has_vectors_of (scope, embedder)
SELECT EXISTS (SELECT 1 FROM entries WHERE scope = $1 AND embedder = $2)

-- name: newest_vectors (low, high, spaces)
SELECT (
    SELECT embedder FROM entries
    WHERE scope = $1 >> 40 AND key BETWEEN $1 AND $2
        AND embedder = ANY (SELECT CAST(jsonb_array_elements_text(CAST($3 AS jsonb)) AS bigint))
    ORDER BY key DESC LIMIT 1
)

-- name: tell_embedders_apart ()
SELECT 1

-- name: several_embedders ()
SELECT count(*) > 1 FROM embedders

-- name: nothing_derived (scope, limit)
SELECT {memory} FROM memories WHERE scope = $1 AND key IN (
    SELECT key FROM entries WHERE scope = $1 AND embedder IS NULL
)
ORDER BY key LIMIT nullif($2, -1)

-- name: without_vector (scope, limit)
SELECT {memory} FROM memories WHERE scope = $1 AND key IN (
    SELECT key FROM entries WHERE scope = $1 AND (embedder IS NULL OR embedder = 0)
)
ORDER BY key LIMIT nullif($2, -1)

-- name: without_vector_of (scope, token, limit)
SELECT {memory} FROM memories WHERE scope = $1 AND key IN (
    SELECT key FROM entries WHERE scope = $1 AND embedder IS NULL
    UNION ALL
    SELECT key FROM entries WHERE scope = $1 AND embedder < $2
    UNION ALL
    SELECT key FROM entries WHERE scope = $1 AND embedder > $2
)
ORDER BY key LIMIT nullif($3, -1)

-- name: gists_without_vector_of (low, high, token, limit)
SELECT {memory} FROM memories WHERE scope = $1 >> 40 AND key IN (
    SELECT key FROM gists WHERE scope = $1 >> 40 AND key BETWEEN $1 AND $2 AND embedder <> coalesce($3, -1)
) AND gist IS NOT NULL
ORDER BY key LIMIT nullif($4, -1)

-- name: first_memories (low, high, limit)
SELECT {memory} FROM memories
WHERE scope = $1 >> 40 AND key BETWEEN $1 AND $2 ORDER BY key LIMIT nullif($3, -1)

-- name: messages_of_scope (low, high)
SELECT m.id, m.phase, m.reason, m.category, m.importance, m.valid_from,
    CASE WHEN m.used_at > m.recorded_at THEN m.used_at ELSE m.recorded_at END, coalesce(m.conversation, ''), m.seq,
    m.role, m.speaker, m.gist IS NOT NULL, e.embedder, e.terms, e.words, e.question, e.cues, e.vectors, e.dim, m.zone
FROM memories m JOIN entries e ON e.scope = $1 >> 40 AND e.key = m.key AND e.embedder IS NOT NULL
WHERE m.scope = $1 >> 40 AND m.key BETWEEN $1 AND $2 AND m.seq IS NOT NULL

-- name: facts_of_scope (low, high)
SELECT {m.memory}, e.embedder, {e.entry}, e.checksum
FROM memories m JOIN entries e ON e.scope = $1 >> 40 AND e.key = m.key AND e.embedder IS NOT NULL
WHERE m.scope = $1 >> 40 AND m.key BETWEEN $1 AND $2 AND m.seq IS NULL
ORDER BY m.key

-- name: speakers (scope)
SELECT DISTINCT speaker FROM memories WHERE scope = $1 AND seq IS NOT NULL AND speaker <> ''

-- name: scopes_page (after, low, high, limit)
WITH page AS MATERIALIZED (
    SELECT token, path FROM scopes WHERE path > $1 AND path >= $2 AND path < $3 ORDER BY path LIMIT $4
)
SELECT p.path,
    (SELECT count(*) FROM memories m WHERE m.scope = p.token AND m.seq IS NOT NULL),
    (SELECT count(*) FROM memories m WHERE m.scope = p.token AND m.seq IS NULL
        AND m.kind IN ('episodic', 'semantic', 'procedural') AND m.phase IN ('active', 'core')),
    (SELECT r.at FROM runs r WHERE r.scope = p.token AND r.key >= p.token << 40 AND r.key < (p.token + 1) << 40
        ORDER BY r.key DESC LIMIT 1)
FROM page p ORDER BY p.path

-- name: scope_of_memory (id, low, high)
SELECT s.path FROM scopes s CROSS JOIN LATERAL (
    SELECT 1 FROM memories m WHERE m.scope = s.token AND m.id = $1 LIMIT 1
) m
WHERE s.path >= $2 AND s.path < $3 ORDER BY s.path LIMIT 1

-- name: some_of_scope (scope, ids)
SELECT {m.memory}, e.embedder, {e.entry}, e.checksum
FROM memories m JOIN entries e ON e.scope = $1 AND e.key = m.key AND e.embedder IS NOT NULL
WHERE m.scope = $1 AND m.id IN (SELECT jsonb_array_elements_text(CAST($2 AS jsonb)))
ORDER BY m.key

-- name: scopes ()
SELECT token, path FROM scopes

-- name: without_entry ()
SELECT count(*) FROM memories m WHERE NOT EXISTS (SELECT 1 FROM entries e WHERE e.key = m.key)

-- name: lost_entries ()
SELECT count(*) FROM entries e WHERE NOT EXISTS (SELECT 1 FROM memories m WHERE m.key = e.key)

-- name: nameless ()
SELECT count(*) FROM (SELECT DISTINCT scope, conversation FROM memories WHERE seq IS NOT NULL) m
WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.scope = m.scope AND c.name = m.conversation)

-- name: orphans ()
SELECT count(*) FROM journal j WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.key = j.run)

-- name: without_entry_of (low, high)
SELECT count(*) FROM memories m WHERE m.scope = $1 >> 40 AND m.key BETWEEN $1 AND $2
    AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.scope = m.scope AND e.key = m.key)

-- name: lost_entries_of (low, high)
SELECT count(*) FROM entries e WHERE e.scope = $1 >> 40 AND e.key BETWEEN $1 AND $2
    AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.scope = e.scope AND m.key = e.key)

-- name: nameless_of (low, high)
SELECT count(*) FROM (
    SELECT DISTINCT scope, conversation FROM memories WHERE scope = $1 >> 40 AND key BETWEEN $1 AND $2 AND seq IS NOT NULL
) m WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.scope = $1 >> 40 AND c.name = m.conversation)

-- name: orphans_of (low, high)
SELECT count(*) FROM journal j WHERE j.scope = $1 >> 40 AND j.key BETWEEN $1 AND $2
    AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.scope = j.scope AND r.key = j.run)

-- name: half_copied ()
SELECT count(*) FROM scopes WHERE path < ' d'

-- name: every_memory (low, high)
SELECT {memory} FROM memories WHERE scope = $1 >> 40 AND key BETWEEN $1 AND $2

-- name: every_entry (low, high)
SELECT key, {entry}, checksum FROM entries WHERE scope = $1 >> 40 AND key BETWEEN $1 AND $2 AND embedder IS NOT NULL

-- name: every_run (low, high)
SELECT {run} FROM runs WHERE scope = $1 >> 40 AND key BETWEEN $1 AND $2 ORDER BY key

-- name: strays (low, high)
SELECT count(*) FROM journal j JOIN runs r ON r.scope = j.scope AND r.key = j.run
WHERE j.scope = $1 >> 40 AND j.key BETWEEN $1 AND $2 AND j.key NOT BETWEEN r.first AND r.last

-- name: every_link (scope)
SELECT source, target, kind, weight, at FROM links WHERE scope = $1

-- name: every_held (scope)
SELECT content FROM held WHERE scope = $1

-- name: secret ()
SELECT secret FROM store

-- fragment: due
SELECT scope, at FROM due WHERE at <= $1
UNION ALL
SELECT scope, $1 FROM leases WHERE again > $4
UNION ALL
SELECT m.scope, least(l.until, $1) FROM memories m LEFT JOIN leases l ON l.scope = m.scope
WHERE m.flags IS NOT NULL AND strpos(m.flags, $2) > 0 AND m.phase IN ('active', 'core')
    AND coalesce(l.until, 0) NOT BETWEEN $3 + 1 AND $4

-- name: scopes_due (now, waits, slept, latest, limit)
SELECT s.path FROM (SELECT DISTINCT scope FROM ({due}) one) d
JOIN scopes s ON s.token = d.scope LEFT JOIN leases l ON l.scope = d.scope
WHERE s.path >= '!' AND coalesce(l.next_try, 0) NOT BETWEEN $1 + 1 AND $4
ORDER BY coalesce(l.until, 0), s.path LIMIT nullif($5, -1)

-- name: is_due (now, waits, slept, latest, scope)
SELECT 1 FROM ({due}) d LEFT JOIN leases l ON l.scope = d.scope
WHERE d.scope = $5 AND coalesce(l.next_try, 0) NOT BETWEEN $1 + 1 AND $4 LIMIT 1

-- name: backlog (now, waits, slept, latest)
SELECT count(*), min(coalesce(nullif(d.at, 0), (
    SELECT r.at FROM runs r WHERE r.scope = d.scope AND r.key < (d.scope + 1) << 40
        AND r.key > coalesce(l.run, d.scope << 40) ORDER BY r.key LIMIT 1
), $1))
FROM (SELECT scope, min(at) AS at FROM ({due}) one GROUP BY scope) d
JOIN scopes s ON s.token = d.scope LEFT JOIN leases l ON l.scope = d.scope
WHERE s.path >= '!' AND coalesce(l.next_try, 0) NOT BETWEEN $1 + 1 AND $4

-- name: scope_count ()
SELECT count(*) FROM scopes WHERE path >= '!'

-- name: running_workers (alive)
SELECT name, version, silent FROM (
    SELECT name, version, CAST(extract(epoch FROM clock_timestamp()) - renewed / 1e6 AS double precision) AS silent FROM workers
) w WHERE abs(silent) < $1 ORDER BY name

-- name: put_secret (secret) deferred
UPDATE store SET secret = $1

-- name: costs (scope, since, until)
SELECT cause, CAST(sum(CAST(cost ->> 'calls' AS bigint)) AS bigint),
    CAST(sum(CAST(cost ->> 'tokens_in' AS bigint)) AS bigint),
    CAST(sum(CAST(cost ->> 'tokens_out' AS bigint)) AS bigint),
    sum(CAST(cost ->> 'money' AS double precision)), sum(CAST(cost ->> 'seconds' AS double precision))
FROM (SELECT cause, CAST(cost AS json) AS cost FROM runs WHERE scope = $1 AND cost <> '{}' AND at BETWEEN $2 AND $3) r
GROUP BY cause ORDER BY cause

-- name: words_of_memories (after, high, limit)
SELECT key, text || chr(10) || coalesce(speaker, '') || chr(10) || coalesce(subject, '') || chr(10)
    || coalesce(conversation, '') || chr(10) || coalesce(ref, '') || chr(10) || category || chr(10)
    || coalesce(metadata, '') || chr(10) || coalesce(sources, '')
FROM memories WHERE key > $1 AND key <= $2 ORDER BY key LIMIT $3

-- name: words_of_changes (after, high, limit)
SELECT j.key, j.payload FROM journal j
WHERE j.key > $1 AND j.key <= $2 AND j.payload IS NOT NULL AND (
    j.op = 'title' OR EXISTS (SELECT 1 FROM memories m WHERE m.scope = j.scope AND m.id = j.memory)
)
ORDER BY j.key LIMIT $3

-- name: put_pending_proof (scope, run, at, tables) deferred
INSERT INTO pending_proofs (scope, run, at, tables) VALUES ($1, $2, $3, CAST($4 AS text[]))
ON CONFLICT (scope, run) DO UPDATE SET tables = ARRAY(
    SELECT unnest(pending_proofs.tables) UNION SELECT unnest(excluded.tables)
)

-- name: drop_pending_proof (scope, run) deferred
DELETE FROM pending_proofs WHERE scope = $1 AND run = $2

-- name: pending_proofs ()
SELECT s.path, p.at, array_to_json(p.tables) FROM pending_proofs p JOIN scopes s ON s.token = p.scope ORDER BY p.at, s.path

-- name: lease (scope)
SELECT token, holder, until, run, failures FROM leases WHERE scope = $1

-- name: lease_token (scope)
SELECT token FROM leases WHERE scope = $1

-- name: put_lease (scope, token, holder, until, run) deferred
INSERT INTO leases (scope, token, holder, until, run) VALUES {values}
ON CONFLICT (scope) DO UPDATE SET (token, holder, until, run) =
    (excluded.token, excluded.holder, excluded.until, excluded.run)

-- name: take_lease (scope, holder, until, run)
INSERT INTO leases (scope, token, holder, until, run) VALUES ($1, 1, $2, $3, $4)
ON CONFLICT (scope) DO UPDATE SET (token, holder, until) = (leases.token + 1, excluded.holder, excluded.until)
    WHERE leases.holder = '' RETURNING token

-- name: slept (run, again, now, failures, next_try, error, scope, holder)
UPDATE leases SET run = coalesce(CAST($1 AS bigint), run), again = $2, until = $3, holder = '', ended = $3,
    failures = $4, next_try = $5, error = $6
WHERE scope = $7 AND holder = $8 RETURNING scope

-- name: lease_abandoned (failures, next_try, error, scope) deferred
UPDATE leases SET failures = $1, next_try = $2, error = $3 WHERE scope = $4

-- name: pass_record (scope)
SELECT ended, failures, next_try, error FROM leases WHERE scope = $1

-- name: failing_passes (least, limit)
SELECT s.path, l.ended, l.failures, l.next_try, l.error FROM leases l JOIN scopes s ON s.token = l.scope
WHERE l.failures > 0 AND l.failures >= $1 ORDER BY l.failures DESC, s.path LIMIT $2

-- name: retry_pass (scope)
UPDATE leases SET failures = 0, next_try = 0, error = '', again = 0
WHERE failures > 0 AND scope = $1 RETURNING scope

-- name: last_run (default, low, high)
SELECT coalesce(max(key), $1) FROM runs WHERE scope = $2 >> 40 AND key BETWEEN $2 AND $3

-- name: ingests (scope, low, high)
SELECT count(*) FROM runs
WHERE scope = $1 AND key > coalesce((SELECT run FROM leases WHERE scope = $1), $2) AND key <= $3
    AND cause IN ('observe', 'add')

-- name: add_access_key (id, digest, label, prefix, rights, trust, created_at, expires_at, made_by) deferred
INSERT INTO access_keys (id, digest, label, prefix, rights, trust, created_at, expires_at, made_by) VALUES {values}

-- name: access_keys
SELECT id, label, prefix, rights, trust, created_at, expires_at, revoked_at, made_by, digest FROM access_keys ORDER BY id

-- name: access_key (digest)
SELECT id, label, prefix, rights, trust, created_at, expires_at, revoked_at, made_by, digest FROM access_keys WHERE digest = $1

-- name: any_access_key
SELECT EXISTS (SELECT 1 FROM access_keys)

-- name: revoke_access_key (at, id)
UPDATE access_keys SET revoked_at = coalesce(revoked_at, $1) WHERE id = $2 RETURNING id

-- name: erase_old_answers (scope, before) deferred
DELETE FROM answers WHERE scope = $1 AND at < $2

-- name: answer (scope, name)
SELECT request, holder, at, answer FROM answers WHERE scope = $1 AND name = $2

-- name: add_claim (scope, name, request, holder, at)
INSERT INTO answers (scope, name, request, holder, at) VALUES {values} ON CONFLICT DO NOTHING RETURNING name

-- name: take_claim (request, holder, at, scope, name, former)
UPDATE answers SET request = $1, holder = $2, at = $3 WHERE scope = $4 AND name = $5 AND holder = $6 AND answer IS NULL RETURNING name

-- name: put_answer (answer, scope, name, holder) deferred
UPDATE answers SET answer = $1 WHERE scope = $2 AND name = $3 AND holder = $4 AND answer IS NULL

-- name: cut_claim (scope, name, holder) deferred
DELETE FROM answers WHERE scope = $1 AND name = $2 AND holder = $3 AND answer IS NULL

-- name: erase_answers (scope) deferred
DELETE FROM answers WHERE scope = $1

-- name: count_model_call (period, begins)
INSERT INTO model_use AS used (period, begins, calls, tokens, money) VALUES ($1, $2, 1, 0, 0)
ON CONFLICT (period, begins) DO UPDATE SET calls = used.calls + 1 RETURNING calls, tokens, money

-- name: drop_model_use (kept) deferred
DELETE FROM model_use WHERE begins < (SELECT begins FROM model_use ORDER BY begins DESC LIMIT 1 OFFSET $1)

-- name: add_model_use (calls, tokens, money, hour, day) deferred
UPDATE model_use SET calls = calls + $1, tokens = tokens + $2, money = money + $3
WHERE (period = 'hour' AND begins = $4) OR (period = 'day' AND begins = $5)

-- name: model_use (hour, day)
SELECT period, calls, tokens, money FROM model_use
WHERE (period = 'hour' AND begins = $1) OR (period = 'day' AND begins = $2)

-- name: pause_model (model, until, latest) deferred
INSERT INTO model_pauses AS paused (model, until) VALUES ($1, $2)
ON CONFLICT (model) DO UPDATE SET until = $2 WHERE paused.until NOT BETWEEN $2 AND $3

-- name: model_pause (model)
SELECT until FROM model_pauses WHERE model = $1

-- name: model_pauses (now, latest)
SELECT model, until FROM model_pauses WHERE until > $1 AND until <= $2 ORDER BY model
