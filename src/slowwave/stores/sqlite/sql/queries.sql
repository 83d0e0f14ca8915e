-- Every statement of the SQLite store that is not composed. `:low` and `:high` bound the keys of one scope;
-- names in braces stand for the columns of a memory or an entry, or for a fragment: `-- fragment: x` names text that several
-- statements contain.

-- name: scope_token
SELECT token FROM scopes WHERE path IN (:path, unnamed(:path))

-- name: add_scope
INSERT INTO scopes (path) VALUES (unnamed(?)) RETURNING token

-- name: name_scope
UPDATE scopes SET path = :path WHERE token = :scope AND path <> :path

-- name: forget_scope
UPDATE scopes SET path = unnamed(path)
WHERE token = :scope AND path >= '!' AND NOT EXISTS (SELECT 1 FROM memories WHERE scope = :scope) RETURNING token

-- name: forget_prefix
UPDATE access_keys SET prefix = unnamed(:path), label = '', revoked_at = coalesce(revoked_at, :at) WHERE prefix = :path

-- name: embedder_token
SELECT token FROM embedders WHERE name = ?

-- name: add_embedder
INSERT INTO embedders (name) VALUES (?) RETURNING token

-- name: last_keys
SELECT (SELECT max(key) FROM memories WHERE key BETWEEN :low AND :high),
       (SELECT max(key) FROM journal WHERE key BETWEEN :low AND :high),
       (SELECT max(key) FROM runs WHERE key BETWEEN :low AND :high)

-- name: known_message
SELECT id, role, text, speaker FROM memories WHERE scope = ? AND ref = ? AND conversation = ? AND seq IS NOT NULL

-- name: fact_ref
SELECT id FROM memories WHERE scope = ? AND ref = ? AND seq IS NULL AND kind <> 'note'

-- name: live_fact
SELECT id FROM memories WHERE scope = ? AND content = ? AND phase IN ('active', 'core')

-- name: live_note
SELECT id FROM memories WHERE scope = ? AND conversation = ? AND ref = ? AND kind = 'note' AND phase IN ('active', 'core')

-- name: key_of
SELECT key FROM memories WHERE scope = ? AND id = ?

-- name: trimmed_key_of
SELECT key FROM memories WHERE scope = ? AND id = ? AND gist IS NOT NULL

-- name: seq_taken
SELECT id FROM memories WHERE scope = ? AND conversation = ? AND seq = ?

-- name: clear_entry
INSERT OR REPLACE INTO entries (key, scope) VALUES (?, ?)

-- name: reindexed
UPDATE scopes SET reindexed = reindexed + 1 WHERE token = ?

-- name: last_seq
SELECT max(erased_seq, coalesce((
    SELECT seq FROM memories WHERE scope = :scope AND conversation = :name AND seq IS NOT NULL ORDER BY seq DESC LIMIT 1
), 0)) FROM conversations WHERE scope = :scope AND name = :name

-- name: add_conversation
INSERT INTO conversations (scope, name) VALUES (?, ?)

-- name: keep_seq
UPDATE conversations SET erased_seq = max(erased_seq, :seq) WHERE scope = :scope AND name = :name

-- name: title
SELECT title FROM conversations WHERE scope = ? AND name = ?

-- name: put_title
UPDATE conversations SET title = ? WHERE scope = ? AND name = ?

-- name: titles
SELECT name, title FROM conversations WHERE scope = ? AND title IS NOT NULL

-- name: title_rows
SELECT key, op, memory, other, because, payload FROM journal WHERE key BETWEEN :low AND :high AND op = 'title'

-- name: last_memory
SELECT max(key) FROM memories WHERE key BETWEEN :low AND :high

-- name: conversation_places
SELECT name, title, at, key FROM (
    SELECT c.name, c.title, m.key, CASE WHEN m.valid_from <= :latest THEN m.valid_from ELSE coalesce((
        SELECT valid_from FROM memories
        WHERE key BETWEEN :low AND m.key AND seq IS NOT NULL AND valid_from <= :latest ORDER BY key DESC LIMIT 1
    ), 0) END AS at
    FROM conversations c JOIN memories m ON m.key = (
        SELECT key FROM memories WHERE scope = :scope AND conversation = c.name AND seq IS NOT NULL
            AND phase <> 'retracted' AND key <= :snapshot
        ORDER BY seq DESC LIMIT 1
    )
    WHERE c.scope = :scope AND c.name = coalesce(:name, c.name)
) AS listed
WHERE :at IS NULL OR (at, key) < (:at, :before)
ORDER BY at DESC, key DESC LIMIT :limit

-- name: conversation_counts
SELECT conversation, count(*), sum(CASE WHEN phase = 'quarantined' THEN 1 ELSE 0 END), min(valid_from), max(valid_from), (
        SELECT substr(text, 1, :length) FROM memories f WHERE f.scope = :scope AND f.conversation = m.conversation
            AND f.seq IS NOT NULL AND f.phase IN ('active', 'cold') AND f.role = 'user'
        ORDER BY f.seq LIMIT 1
    )
FROM memories m
WHERE scope = :scope AND conversation IN (SELECT value FROM json_each(:names)) AND seq IS NOT NULL AND phase <> 'retracted'
GROUP BY conversation

-- name: after_cursor
SELECT c.name, count(*)
FROM conversations c LEFT JOIN cursors r ON r.scope = c.scope AND r.conversation = c.name AND r.cursor = :cursor
JOIN memories m ON m.scope = c.scope AND m.conversation = c.name AND m.seq > coalesce(r.seq, 0) AND m.seq IS NOT NULL
WHERE c.scope = :scope AND c.name = coalesce(:name, c.name) GROUP BY c.name

-- name: hidden_after_cursor
SELECT m.conversation, count(*)
FROM memories m LEFT JOIN cursors r ON r.scope = m.scope AND r.conversation = m.conversation AND r.cursor = :cursor
WHERE m.scope = :scope AND m.seq IS NOT NULL AND m.phase <> 'active' AND m.phase IN ('quarantined', 'retracted')
    AND m.seq > coalesce(r.seq, 0) AND m.conversation = coalesce(:name, m.conversation)
GROUP BY m.conversation

-- name: released_before_cursor
SELECT m.conversation, count(*)
FROM memories m LEFT JOIN cursors r ON r.scope = m.scope AND r.conversation = m.conversation AND r.cursor = :cursor
WHERE m.scope = :scope AND m.flags IS NOT NULL AND m.seq IS NOT NULL AND m.phase IN ('active', 'cold')
    AND instr(m.flags, :released) AND m.seq <= coalesce(r.seq, 0) AND m.conversation = coalesce(:name, m.conversation)
GROUP BY m.conversation

-- name: conversation
SELECT max(c.erased_seq, coalesce(m.seq, 0)), coalesce(m.valid_from, 0), c.title
FROM conversations c LEFT JOIN memories m ON m.key = (
    SELECT key FROM memories WHERE scope = :scope AND conversation = :name AND seq IS NOT NULL ORDER BY seq DESC LIMIT 1
)
WHERE c.scope = :scope AND c.name = :name

-- name: conversations
SELECT c.name, max(c.erased_seq, coalesce(m.seq, 0)), coalesce(m.valid_from, 0), c.title
FROM conversations c LEFT JOIN memories m ON m.key = (
    SELECT key FROM memories WHERE scope = c.scope AND conversation = c.name AND seq IS NOT NULL ORDER BY seq DESC LIMIT 1
)
WHERE c.scope = ? ORDER BY m.key DESC, c.name

-- name: cursors
SELECT conversation, cursor, seq FROM cursors WHERE scope = ?

-- name: cursors_of
SELECT cursor, seq FROM cursors WHERE scope = ? AND conversation = ?

-- name: cursor
SELECT seq FROM cursors WHERE scope = ? AND conversation = ? AND cursor = ?

-- name: put_cursor
INSERT OR REPLACE INTO cursors (scope, conversation, cursor, seq) VALUES (?, ?, ?, ?)

-- name: link_weight
SELECT weight FROM links WHERE scope = ? AND source = ? AND target = ? AND kind = ?

-- name: put_link
INSERT OR REPLACE INTO links (scope, source, target, kind, weight, at) VALUES (?, ?, ?, ?, ?, ?)

-- name: cut_link
DELETE FROM links WHERE scope = ? AND source = ? AND target = ? AND kind = ?

-- name: links_of
SELECT source, target, kind, weight, at FROM links WHERE scope = :scope AND source = :id
UNION
SELECT source, target, kind, weight, at FROM links WHERE scope = :scope AND target = :id

-- name: put_held
INSERT OR IGNORE INTO held (scope, content) SELECT :scope, value FROM json_each(:keys)

-- name: cut_held
DELETE FROM held WHERE scope = :scope AND content IN (SELECT value FROM json_each(:keys))

-- name: held_among
SELECT content FROM held WHERE scope = ? AND content IN (SELECT value FROM json_each(?))

-- name: unless_held
SELECT 1 FROM held WHERE scope = ? AND content IN (SELECT value FROM json_each(?)) LIMIT 1

-- name: count_of_ids
SELECT count(*) FROM memories WHERE scope = ? AND id IN (SELECT value FROM json_each(?))

-- name: held_beginning
SELECT content FROM held WHERE scope = ? AND content >= ? AND content < ? ORDER BY content

-- name: held_since
SELECT json_extract(j.payload, '$[0]'), max(r.at), coalesce(r.parent, r.id) FROM journal j JOIN runs r ON r.key = j.run
WHERE j.key BETWEEN :low AND :high AND j.op = 'hold' AND json_extract(j.payload, '$[1]')
    AND json_extract(j.payload, '$[0]') IN (SELECT value FROM json_each(:keys))
GROUP BY 1

-- name: add_run
INSERT INTO runs ({run}) VALUES ({?run})

-- name: extend_run
UPDATE runs SET because = json_insert(because, '$[#]', ?), details = json_insert(details, '$[#]', json(?)), last = ?
WHERE key = ?

-- name: run_exists
SELECT 1 FROM runs WHERE scope = ? AND id = ?

-- name: add_journal
INSERT INTO journal (key, scope, run, part, op, memory, other, because, payload, checksum)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: due
SELECT count(*) FROM memories WHERE scope = ? AND due_at <= ? AND phase IN ('active', 'core')

-- name: faint
SELECT id, kind, category, depth FROM memories
WHERE scope = ? AND pace = ? AND accesses = ? AND max(recorded_at, coalesce(used_at, recorded_at)) <= ? AND phase = 'active' AND pinned = 0
ORDER BY max(recorded_at, coalesce(used_at, recorded_at)), confidence, id DESC LIMIT ?

-- name: gone_faint
SELECT m.id, m.kind, m.category, m.depth, substr(e.vectors, 1, CAST(4 * e.dim AS integer))
FROM memories m JOIN entries e ON e.key = m.key
WHERE m.key IN (
    SELECT key FROM memories WHERE scope = ? AND seq IS NULL AND kind = ? AND phase = 'cold' AND category = ?
    ORDER BY key DESC LIMIT ?
) AND m.reason = 'faded' AND m.pinned = 0 AND m.span_first IS NULL AND e.embedder = ? AND e.dim > 0
ORDER BY m.key

-- name: unpaced
SELECT {memory} FROM memories WHERE key IN (
    SELECT key FROM memories WHERE scope = :scope AND pace IS NULL AND seq IS NULL AND span_first IS NULL AND kind <> 'note' AND phase IN ('active', 'core')
    UNION ALL
    SELECT key FROM memories WHERE scope = :scope AND pace < :low
    UNION ALL
    SELECT key FROM memories WHERE scope = :scope AND pace > :high
    LIMIT :limit
)

-- name: count_unpaced
SELECT (SELECT count(*) FROM memories WHERE scope = :scope AND pace IS NULL AND seq IS NULL AND span_first IS NULL AND kind <> 'note' AND phase IN ('active', 'core'))
    + (SELECT count(*) FROM memories WHERE scope = :scope AND pace < :low)
    + (SELECT count(*) FROM memories WHERE scope = :scope AND pace > :high)

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
    SELECT max(recorded_at, coalesce(used_at, recorded_at)) FROM memories WHERE scope = :scope AND pace = lane.pace AND accesses = lane.accesses
    ORDER BY max(recorded_at, coalesce(used_at, recorded_at)) DESC LIMIT 1
) FROM lane WHERE accesses IS NOT NULL
UNION ALL
SELECT * FROM (SELECT NULL, 0, NULL FROM memories WHERE scope = :scope AND pace IS NULL AND seq IS NULL AND span_first IS NULL AND kind <> 'note' AND phase IN ('active', 'core') LIMIT 1)

-- name: lane
SELECT id, max(recorded_at, coalesce(used_at, recorded_at)), confidence FROM memories WHERE scope = ? AND pace = ? AND accesses = ?
ORDER BY max(recorded_at, coalesce(used_at, recorded_at)) DESC, confidence DESC, id LIMIT ?

-- name: count_facts
SELECT kind, phase, count(*) FROM memories WHERE scope = ? AND seq IS NULL GROUP BY kind, phase

-- name: count_cascades
SELECT kind, phase, count(*) FROM memories WHERE scope = ? AND span_first IS NOT NULL GROUP BY kind, phase

-- name: count_messages
SELECT count(*) FROM memories WHERE scope = ? AND seq IS NOT NULL

-- name: count_messages_off
SELECT phase, count(*) FROM memories WHERE scope = ? AND seq IS NOT NULL AND phase <> 'active' GROUP BY phase

-- name: erase_memories
DELETE FROM memories WHERE scope = :scope AND id IN (SELECT value FROM json_each(:ids))

-- name: erase_entries
DELETE FROM entries WHERE scope = :scope AND key IN (
    SELECT key FROM memories WHERE scope = :scope AND id IN (SELECT value FROM json_each(:ids))
)

-- name: erase_links_from
DELETE FROM links WHERE scope = :scope AND source IN (SELECT value FROM json_each(:ids))

-- name: erase_links_to
DELETE FROM links WHERE scope = :scope AND target IN (SELECT value FROM json_each(:ids))

-- name: groups_of_memories
SELECT j.run, j.part, r.because, r.details FROM (
    SELECT scope, run, part FROM journal
    WHERE key IN (SELECT born FROM memories WHERE scope = :scope AND id IN (SELECT value FROM json_each(:ids)))
    UNION
    SELECT scope, run, part FROM journal WHERE scope = :scope AND memory IN (SELECT value FROM json_each(:ids)) AND op <> 'add'
    UNION
    SELECT scope, run, part FROM journal WHERE scope = :scope AND other IN (SELECT value FROM json_each(:ids))
) j LEFT JOIN runs r ON r.key = j.run

-- name: reasons_of_groups
SELECT j.key, j.op, j.memory, j.other, j.payload
FROM runs r JOIN journal j ON j.key BETWEEN r.first AND r.last AND j.run = r.key AND j.scope = :scope
WHERE r.scope = :scope AND r.key IN (SELECT CAST(value AS integer) FROM json_each(:runs))
    AND j.run || '.' || j.part IN (SELECT value FROM json_each(:groups)) AND j.because <> :blank AND NOT (
        j.op = 'add'
        AND EXISTS (SELECT 1 FROM memories m WHERE m.scope = :scope AND m.id = j.memory AND m.seq IS NOT NULL)
    )

-- name: put_reason
UPDATE journal SET because = ?, checksum = ? WHERE key = ?

-- name: reseal_memory
UPDATE memories SET checksum = ? WHERE scope = ? AND id = ?

-- name: reseal_run
UPDATE runs SET because = ?, details = ?, seal = ? WHERE key = ?

-- name: text_of_key
SELECT text FROM memories WHERE scope = ? AND key = ?

-- name: reseal_journal
UPDATE journal SET payload = ?, checksum = ? WHERE key = ?


-- name: all_reasons
SELECT key, op, memory, other, payload, because FROM journal WHERE key BETWEEN :low AND :high

-- name: all_run_reasons
SELECT key, because, details FROM runs WHERE key BETWEEN :low AND :high

-- name: someone_in_conversations
SELECT conversation FROM memories WHERE scope = :scope AND conversation IN (SELECT value FROM json_each(:names)) AND kind <> 'note'
LIMIT 1

-- name: conversations_of
SELECT name FROM conversations WHERE scope = :scope AND name IN (SELECT value FROM json_each(:names))

-- name: erase_conversations
DELETE FROM conversations WHERE scope = :scope AND name IN (SELECT value FROM json_each(:names))

-- name: erase_cursors
DELETE FROM cursors WHERE scope = :scope AND conversation IN (SELECT value FROM json_each(:names))

-- name: erase_refusals_of
DELETE FROM journal WHERE key BETWEEN :low AND :high AND op = 'refuse' AND (run, part) IN (
    SELECT run, part FROM journal
    WHERE key BETWEEN :low AND :high AND op = 'advance' AND payload ->> 0 IN (SELECT value FROM json_each(:names))
)

-- name: erase_advances
DELETE FROM journal
WHERE key BETWEEN :low AND :high AND op IN ('advance', 'title') AND payload ->> 0 IN (SELECT value FROM json_each(:names))

-- name: runs_of_conversations
SELECT key, because, details FROM runs WHERE key BETWEEN ? AND ? AND instr(details, '"conversations"')

-- name: texts_of_memories
SELECT key, id, text, category, subject, speaker, ref, conversation, last_session, reason, metadata, sources, flags
FROM memories WHERE key > :after AND key <= :high ORDER BY key LIMIT :limit

-- name: texts_of_changes
SELECT key, memory, payload FROM journal
WHERE key > :after AND key <= :high AND memory IS NOT NULL AND op IN ('add', 'change', 'use') ORDER BY key LIMIT :limit

-- name: former_bases
SELECT memory, payload FROM journal
WHERE key BETWEEN :low AND :high AND op = 'change' AND (instr(payload, '"sources"') OR instr(payload, '"members"'))

-- name: put_run_because
UPDATE runs SET because = ?, details = ? WHERE key = ?

-- name: erase_journal
DELETE FROM journal WHERE key IN (
    SELECT born FROM memories WHERE scope = :scope AND id IN (SELECT value FROM json_each(:ids))
    UNION ALL
    SELECT key FROM journal WHERE scope = :scope AND memory IN (SELECT value FROM json_each(:ids)) AND op <> 'add' AND op <> 'erase'
    UNION ALL
    SELECT key FROM journal WHERE scope = :scope AND other IN (SELECT value FROM json_each(:ids))
)

-- name: erase_holds
DELETE FROM journal WHERE scope = :scope AND op = 'hold' AND payload ->> 0 IN (SELECT value FROM json_each(:keys))

-- name: refused
SELECT key, payload FROM journal WHERE scope = ? AND op = 'refuse'

-- name: latest_refused
SELECT key, because, payload, checksum FROM journal
WHERE scope = :scope AND op = 'refuse' ORDER BY key DESC LIMIT :limit

-- name: erase_journal_row
DELETE FROM journal WHERE key = ?

-- name: runs
SELECT {run} FROM runs
WHERE key BETWEEN :low AND :high AND (:since IS NULL OR at > :since)
    AND (parent IS NULL OR :parts = 2 OR (:parts = 1 AND cause > 'sleep/' AND cause < 'sleep0'))
ORDER BY key DESC LIMIT :limit

-- name: runs_of_frequent_cause
SELECT {run} FROM runs
WHERE key BETWEEN :low AND :high AND (:since IS NULL OR at > :since) AND cause = :cause
    AND (parent IS NULL OR :parts = 2 OR (:parts = 1 AND cause > 'sleep/' AND cause < 'sleep0'))
ORDER BY key DESC LIMIT :limit

-- name: runs_of_cause
SELECT {run} FROM runs
WHERE key IN (
    SELECT key FROM runs WHERE scope = :scope AND cause = :cause AND cause <> 'observe' AND cause <> 'use'
    UNION ALL
    SELECT key FROM runs WHERE scope = :scope AND cause > :cause || '/' AND cause < :cause || '0'
        AND cause <> 'observe' AND cause <> 'use'
) AND key BETWEEN :low AND :high AND (:since IS NULL OR at > :since)
    AND (parent IS NULL OR :parts = 2 OR (:parts = 1 AND cause > 'sleep/' AND cause < 'sleep0'))
ORDER BY key DESC LIMIT :limit

-- name: run
SELECT {run} FROM runs WHERE scope = ? AND id = ?

-- name: undos
SELECT id, undoes, parent FROM runs
WHERE scope = ? AND cause = 'undo' AND cause <> 'observe' AND cause <> 'use' AND undoes IS NOT NULL
ORDER BY key DESC

-- name: totals_of_parts
SELECT r.parent, j.op, count(*) FROM runs r JOIN journal j ON j.key BETWEEN r.first AND r.last AND j.run = r.key
WHERE r.scope = :scope AND r.parent IN (SELECT value FROM json_each(:parents)) GROUP BY r.parent, j.op

-- name: count_parts
SELECT parent, count(*) FROM runs
WHERE scope = :scope AND parent IN (SELECT value FROM json_each(:parents)) GROUP BY parent

-- name: children
SELECT {run} FROM runs
WHERE scope = ? AND parent = ? ORDER BY key

-- name: later
SELECT {run} FROM runs WHERE key IN (
    SELECT b.run FROM journal a CROSS JOIN journal b ON b.scope = :scope AND b.memory = a.memory AND b.key > a.key
    WHERE a.key BETWEEN :first AND :last AND a.run = :run AND a.op IN ('add', 'change')
        AND b.op <> 'add' AND b.op IN ('change', 'erase') AND b.run <> :run
)
ORDER BY key DESC

-- name: resting
SELECT m.sources, {r.run}
FROM memories m JOIN journal j ON j.key = m.born JOIN runs r ON r.key = j.run
WHERE m.key BETWEEN :low AND :high AND m.born > :first AND m.sources IS NOT NULL AND m.phase <> 'retracted'
    AND r.key <> :run

-- name: run_rows
SELECT key, op, memory, other, because, payload, checksum, part FROM journal
WHERE key BETWEEN ? AND ? AND run = ? ORDER BY key

-- name: memory_rows
SELECT key, op, memory, other, because, payload, checksum FROM journal
WHERE key = (SELECT born FROM memories WHERE scope = :scope AND id = :id)
UNION
SELECT key, op, memory, other, because, payload, checksum FROM journal WHERE scope = :scope AND memory = :id AND op <> 'add'
UNION
SELECT key, op, memory, other, because, payload, checksum FROM journal WHERE scope = :scope AND other = :id
ORDER BY key

-- name: history
SELECT j.key, r.id, r.cause, r.at FROM (
    SELECT key, run FROM journal WHERE key = (SELECT born FROM memories WHERE scope = :scope AND id = :id)
    UNION
    SELECT key, run FROM journal WHERE scope = :scope AND memory = :id AND op <> 'add'
    UNION
    SELECT key, run FROM journal WHERE scope = :scope AND other = :id
) j JOIN runs r ON r.key = j.run
ORDER BY j.key

-- name: last_journal
SELECT max(key) FROM journal WHERE key BETWEEN ? AND ?

-- name: written
SELECT r.id, r.cause, r.at, r.parent, r.undoes, j.op, count(*), max(j.key) FROM journal j JOIN runs r ON r.key = j.run
WHERE j.key > :after AND j.key <= :last GROUP BY r.key, j.op

-- name: changed
SELECT j.memory, min(j.key) FROM journal j JOIN memories m ON m.scope = j.scope AND m.id = j.memory
WHERE j.key > :after AND j.key <= :high AND j.op IN ('add', 'change') AND m.seq IS NULL AND m.span_first IS NULL
    AND m.kind <> 'note' AND NOT (m.kind = 'summary' AND m.category = 'page')
GROUP BY j.memory ORDER BY min(j.key) LIMIT :limit

-- name: changed_after_cursor
SELECT {m.memory}, page.first FROM (
    SELECT j.memory, min(j.key) AS first FROM journal j JOIN memories m ON m.scope = j.scope AND m.id = j.memory
    WHERE j.key <= :high AND j.op IN ('add', 'change') AND j.key > :low + coalesce(
            (SELECT seq FROM cursors WHERE scope = :scope AND conversation = '' AND cursor = :cursor), 0)
        AND m.seq IS NULL AND m.span_first IS NULL AND m.kind <> 'note'
        AND NOT (m.kind = 'summary' AND m.category = 'page')
    GROUP BY j.memory ORDER BY min(j.key) LIMIT :limit
) page JOIN memories m ON m.scope = :scope AND m.id = page.memory ORDER BY page.first

-- name: whole_journal
SELECT key, op, memory, other, because, payload, checksum FROM journal WHERE key BETWEEN ? AND ? ORDER BY key

-- name: state_of_scope
SELECT (SELECT max(key) FROM journal WHERE key BETWEEN :low AND :high), reindexed FROM scopes WHERE token = :scope

-- name: snapshot
SELECT journal, reindexed, layout, checksum, head, length(arrays) FROM snapshots WHERE scope = ?

-- name: put_snapshot
INSERT INTO snapshots (scope, journal, reindexed, layout, checksum, head, arrays) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (scope) DO UPDATE SET (journal, reindexed, layout, checksum, head, arrays)
    = (excluded.journal, excluded.reindexed, excluded.layout, excluded.checksum, excluded.head, excluded.arrays)

-- name: erase_snapshot
DELETE FROM snapshots WHERE scope = :scope

-- name: derived_since
SELECT m.span_first, m.span_last, m.conversation,
    coalesce(m.sources, '') || coalesce(m.members, '') || coalesce(m.superseded_by, '') || coalesce(j.payload, '')
FROM journal j JOIN memories m ON m.scope = j.scope AND m.id = j.memory
WHERE j.scope = :scope AND j.key > :after AND j.key <= :high AND j.op IN ('add', 'change') AND m.kind <> 'message'

-- name: touched
SELECT op, memory, op = 'add' OR payload LIKE '%"text":[%' FROM journal
WHERE scope = :scope AND key > :after AND key <= :high AND op IN ('add', 'change', 'use', 'erase')

-- name: touched_rows
SELECT {m.memory}, e.embedder, {e.entry}, e.checksum
FROM memories m JOIN entries e ON e.key = m.key AND e.embedder IS NOT NULL
WHERE m.scope = :scope AND m.id IN (
    SELECT memory FROM journal
    WHERE scope = :scope AND key > :after AND key <= :high AND op IN ('add', 'change', 'use')
)
ORDER BY m.key

-- name: touched_gists
SELECT m.id, e.embedder, {e.entry}, e.checksum FROM memories m JOIN gists e ON e.key = m.key
WHERE m.scope = :scope AND m.gist IS NOT NULL AND m.id IN (
    SELECT memory FROM journal
    WHERE scope = :scope AND key > :after AND key <= :high AND op IN ('add', 'change', 'use')
)

-- name: embedders
SELECT token, name FROM embedders

-- name: memory_ids_with_prefix
SELECT id FROM memories WHERE scope = ? AND id >= ? AND id < ? ORDER BY id LIMIT ?

-- name: memory_ids_with_ending
SELECT id FROM memories WHERE scope = :scope AND substr(id, -length(:ending)) = :ending ORDER BY id LIMIT :limit

-- name: run_ids_with_prefix
SELECT id FROM runs WHERE scope = ? AND id >= ? AND id < ? ORDER BY id LIMIT ?

-- name: run_ids_with_ending
SELECT id FROM runs WHERE scope = :scope AND substr(id, -length(:ending)) = :ending ORDER BY id LIMIT :limit

-- name: memory
SELECT {memory} FROM memories WHERE scope = ? AND id = ?

-- name: memories
SELECT {memory} FROM memories WHERE scope = ? AND id IN (SELECT value FROM json_each(?))

-- name: memory_with_key
SELECT {memory}, key FROM memories WHERE scope = ? AND id = ?

-- name: memories_with_key
SELECT {memory}, key FROM memories WHERE scope = ? AND id IN (SELECT value FROM json_each(?))

-- name: add_memory
INSERT INTO memories (key, scope, {memory}, born) VALUES (?, ?, {?memory}, ?)

-- name: add_entry
INSERT INTO entries (key, scope, embedder, {entry}, checksum) VALUES (?, ?, ?, {?entry}, ?)

-- name: put_entry
INSERT OR REPLACE INTO entries (key, scope, embedder, {entry}, checksum) VALUES (?, ?, ?, {?entry}, ?)

-- name: put_gist
INSERT OR REPLACE INTO gists (key, scope, embedder, {entry}, checksum) VALUES (?, ?, ?, {?entry}, ?)

-- name: cut_gist
DELETE FROM gists WHERE key = ?

-- name: erase_gists
DELETE FROM gists WHERE scope = :scope AND key IN (
    SELECT key FROM memories WHERE scope = :scope AND id IN (SELECT value FROM json_each(:ids))
)

-- name: some_gists
SELECT m.id, e.embedder, {e.entry}, e.checksum FROM memories m JOIN gists e ON e.key = m.key
WHERE m.scope = :scope AND m.id IN (SELECT value FROM json_each(:ids))

-- name: entries
SELECT m.id, b.name, {e.entry}, e.checksum
FROM memories m JOIN entries e ON e.key = m.key LEFT JOIN embedders b ON b.token = e.embedder
WHERE m.scope = ? AND m.id IN (SELECT value FROM json_each(?)) AND e.embedder IS NOT NULL

-- name: vectors
SELECT m.id, substr(e.vectors, 1, CAST(4 * e.dim AS integer))
FROM memories m JOIN entries e ON e.key = m.key
WHERE m.scope = ? AND m.id IN (SELECT value FROM json_each(?)) AND e.embedder = ? AND e.dim > 0

-- name: has_vectors_of
SELECT EXISTS (SELECT 1 FROM entries WHERE scope = ? AND embedder = ?)

-- name: newest_vectors
SELECT (
    SELECT embedder FROM entries
    WHERE key BETWEEN :low AND :high AND embedder IN (SELECT value FROM json_each(:spaces)) ORDER BY key DESC LIMIT 1
)

-- name: tell_embedders_apart
CREATE INDEX IF NOT EXISTS entries_embedder ON entries (scope, embedder)

-- name: several_embedders
SELECT count(*) > 1 FROM embedders

-- name: nothing_derived
SELECT {memory} FROM memories WHERE key IN (SELECT key FROM entries WHERE scope = :scope AND embedder IS NULL)
ORDER BY key LIMIT :limit

-- name: without_vector
SELECT {memory} FROM memories WHERE key IN (
    SELECT key FROM entries WHERE scope = :scope AND (embedder IS NULL OR embedder = 0)
)
ORDER BY key LIMIT :limit

-- name: without_vector_of
SELECT {memory} FROM memories WHERE key IN (
    SELECT key FROM entries WHERE scope = :scope AND embedder IS NULL
    UNION ALL
    SELECT key FROM entries WHERE scope = :scope AND embedder < :token
    UNION ALL
    SELECT key FROM entries WHERE scope = :scope AND embedder > :token
)
ORDER BY key LIMIT :limit

-- name: gists_without_vector_of
SELECT {memory} FROM memories WHERE key IN (
    SELECT key FROM gists WHERE key BETWEEN :low AND :high AND embedder <> coalesce(:token, -1)
) AND gist IS NOT NULL
ORDER BY key LIMIT :limit

-- name: first_memories
SELECT {memory} FROM memories WHERE key BETWEEN :low AND :high ORDER BY key LIMIT :limit

-- name: messages_of_scope
SELECT m.id, m.phase, m.reason, m.category, m.importance, m.valid_from,
    CASE WHEN m.used_at > m.recorded_at THEN m.used_at ELSE m.recorded_at END, coalesce(m.conversation, ''), m.seq,
    m.role, m.speaker, m.gist IS NOT NULL, e.embedder, e.terms, e.words, e.question, e.cues, e.vectors, e.dim, m.zone
FROM memories m JOIN entries e ON e.key = m.key AND e.embedder IS NOT NULL
WHERE m.key BETWEEN :low AND :high AND m.seq IS NOT NULL

-- name: facts_of_scope
SELECT {m.memory}, e.embedder, {e.entry}, e.checksum
FROM memories m JOIN entries e ON e.key = m.key AND e.embedder IS NOT NULL
WHERE m.key BETWEEN :low AND :high AND m.seq IS NULL
ORDER BY m.key

-- name: speakers
SELECT DISTINCT speaker FROM memories WHERE scope = ? AND seq IS NOT NULL AND speaker <> ''

-- name: scopes_page
WITH page AS (SELECT token, path FROM scopes WHERE path > :after AND path >= :low AND path < :high ORDER BY path LIMIT :limit)
SELECT page.path,
    (SELECT count(*) FROM memories WHERE scope = page.token AND seq IS NOT NULL),
    (SELECT count(*) FROM memories WHERE scope = page.token AND seq IS NULL AND kind IN ('episodic', 'semantic', 'procedural') AND phase IN ('active', 'core')),
    (SELECT at FROM runs WHERE key >= page.token << 40 AND key < (page.token + 1) << 40 ORDER BY key DESC LIMIT 1)
FROM page ORDER BY page.path

-- name: scope_of_memory
SELECT s.path FROM scopes s CROSS JOIN memories m ON m.scope = s.token AND m.id = :id
WHERE s.path >= :low AND s.path < :high ORDER BY s.path LIMIT 1

-- name: some_of_scope
SELECT {m.memory}, e.embedder, {e.entry}, e.checksum
FROM memories m JOIN entries e ON e.key = m.key AND e.embedder IS NOT NULL
WHERE m.scope = :scope AND m.id IN (SELECT value FROM json_each(:ids))
ORDER BY m.key

-- name: scopes
SELECT token, path FROM scopes

-- name: without_entry
SELECT count(*) FROM memories m WHERE NOT EXISTS (SELECT 1 FROM entries e WHERE e.key = m.key)

-- name: lost_entries
SELECT count(*) FROM entries e WHERE NOT EXISTS (SELECT 1 FROM memories m WHERE m.key = e.key)

-- name: nameless
SELECT count(*) FROM (SELECT DISTINCT scope, conversation FROM memories WHERE seq IS NOT NULL) m
WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.scope = m.scope AND c.name = m.conversation)

-- name: orphans
SELECT count(*) FROM journal j WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.key = j.run)

-- name: without_entry_of
SELECT count(*) FROM memories m WHERE m.key BETWEEN :low AND :high
    AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.key = m.key)

-- name: lost_entries_of
SELECT count(*) FROM entries e WHERE e.key BETWEEN :low AND :high
    AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.key = e.key)

-- name: nameless_of
SELECT count(*) FROM (
    SELECT DISTINCT scope, conversation FROM memories WHERE key BETWEEN :low AND :high AND seq IS NOT NULL
) m WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.scope = m.scope AND c.name = m.conversation)

-- name: orphans_of
SELECT count(*) FROM journal j WHERE j.key BETWEEN :low AND :high
    AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.key = j.run)

-- name: half_copied
SELECT count(*) FROM scopes WHERE path < ' d'

-- name: every_memory
SELECT {memory} FROM memories WHERE key BETWEEN :low AND :high

-- name: every_entry
SELECT key, {entry}, checksum FROM entries WHERE key BETWEEN :low AND :high AND embedder IS NOT NULL

-- name: every_run
SELECT {run} FROM runs WHERE key BETWEEN :low AND :high ORDER BY key

-- name: strays
SELECT count(*) FROM journal j JOIN runs r ON r.key = j.run
WHERE j.key BETWEEN :low AND :high AND j.key NOT BETWEEN r.first AND r.last

-- name: every_link
SELECT source, target, kind, weight, at FROM links WHERE scope = ?

-- name: every_held
SELECT content FROM held WHERE scope = ?

-- name: secret
SELECT secret FROM store

-- fragment: due
coalesce(l.next_try, 0) NOT BETWEEN :now + 1 AND :latest AND (
    l.again NOT BETWEEN :now + 1 AND :latest
    OR EXISTS (SELECT 1 FROM memories WHERE scope = s.token AND due_at <= :now AND phase IN ('active', 'core'))
    OR EXISTS (
        SELECT 1 FROM runs
        WHERE key > coalesce(l.run, s.token << 40) AND key < (s.token + 1) << 40 AND cause IN ('observe', 'add')
    )
    OR (coalesce(l.until, 0) NOT BETWEEN :slept + 1 AND :latest AND EXISTS (
        SELECT 1 FROM memories
        WHERE scope = s.token AND flags IS NOT NULL AND instr(flags, :waits) AND phase IN ('active', 'core')
    ))
)

-- name: scopes_due
SELECT s.path FROM scopes s LEFT JOIN leases l ON l.scope = s.token
WHERE s.path >= '!' AND {due}
ORDER BY coalesce(l.until, 0), s.path LIMIT :limit

-- name: is_due
SELECT 1 FROM scopes s LEFT JOIN leases l ON l.scope = s.token
WHERE s.token = :scope AND {due}

-- name: backlog
SELECT count(*), min(since) FROM (
    SELECT coalesce(min(
        coalesce(CASE WHEN l.again <= :now THEN l.again END, :now),
        coalesce((
            SELECT min(due_at) FROM memories WHERE scope = s.token AND due_at <= :now AND phase IN ('active', 'core')
        ), :now),
        coalesce((
            SELECT at FROM runs
            WHERE key > coalesce(l.run, s.token << 40) AND key < (s.token + 1) << 40 AND cause IN ('observe', 'add')
            ORDER BY key LIMIT 1
        ), :now)
    ), :now) AS since
    FROM scopes s LEFT JOIN leases l ON l.scope = s.token
    WHERE s.path >= '!' AND {due}
)

-- name: scope_count
SELECT count(*) FROM scopes WHERE path >= '!'

-- name: put_secret
UPDATE store SET secret = ?

-- name: costs
SELECT cause, sum(cost ->> 'calls'), sum(cost ->> 'tokens_in'), sum(cost ->> 'tokens_out'), sum(cost ->> 'money'),
    sum(cost ->> 'seconds')
FROM runs WHERE scope = :scope AND cost <> '{}' AND at BETWEEN :since AND :until
GROUP BY cause ORDER BY cause

-- name: words_of_memories
SELECT key, text || char(10) || coalesce(speaker, '') || char(10) || coalesce(subject, '') || char(10)
    || coalesce(conversation, '') || char(10) || coalesce(ref, '') || char(10) || category || char(10)
    || coalesce(metadata, '') || char(10) || coalesce(sources, '')
FROM memories WHERE key > ? AND key <= ? ORDER BY key LIMIT ?

-- name: words_of_changes
SELECT j.key, j.payload FROM journal j
WHERE j.key > ? AND j.key <= ? AND j.payload IS NOT NULL AND (
    j.op = 'title' OR EXISTS (SELECT 1 FROM memories m WHERE m.scope = j.scope AND m.id = j.memory)
)
ORDER BY j.key LIMIT ?

-- name: lease
SELECT token, holder, until, run, failures FROM leases WHERE scope = ?

-- name: lease_token
SELECT token FROM leases WHERE scope = ?

-- name: put_lease
INSERT INTO leases (scope, token, holder, until, run) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (scope) DO UPDATE SET (token, holder, until, run) =
    (excluded.token, excluded.holder, excluded.until, excluded.run)

-- name: take_lease
INSERT INTO leases (scope, token, holder, until, run) VALUES (:scope, 1, :holder, :until, :run)
ON CONFLICT (scope) DO UPDATE SET (token, holder, until) = (leases.token + 1, excluded.holder, excluded.until)
    WHERE leases.holder = '' RETURNING token

-- name: slept
UPDATE leases SET run = coalesce(:run, run), again = :again, until = :now, holder = '', ended = :now,
    failures = :failures, next_try = :next_try, error = :error
WHERE scope = :scope AND holder = :holder RETURNING scope

-- name: lease_abandoned
UPDATE leases SET failures = ?, next_try = ?, error = ? WHERE scope = ?

-- name: pass_record
SELECT ended, failures, next_try, error FROM leases WHERE scope = ?

-- name: failing_passes
SELECT s.path, l.ended, l.failures, l.next_try, l.error FROM leases l JOIN scopes s ON s.token = l.scope
WHERE l.failures > 0 AND l.failures >= ? ORDER BY l.failures DESC, s.path LIMIT ?

-- name: retry_pass
UPDATE leases SET failures = 0, next_try = 0, error = '', again = 0
WHERE failures > 0 AND scope = ? RETURNING scope

-- name: last_run
SELECT coalesce(max(key), ?) FROM runs WHERE key BETWEEN ? AND ?

-- name: ingests
SELECT count(*) FROM runs
WHERE key > coalesce((SELECT run FROM leases WHERE scope = :scope), :low) AND key <= :high AND cause IN ('observe', 'add')

-- name: add_access_key
INSERT INTO access_keys (id, digest, label, prefix, rights, trust, created_at, expires_at, made_by)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: access_keys
SELECT id, label, prefix, rights, trust, created_at, expires_at, revoked_at, made_by, digest FROM access_keys ORDER BY id

-- name: access_key
SELECT id, label, prefix, rights, trust, created_at, expires_at, revoked_at, made_by, digest FROM access_keys WHERE digest = ?

-- name: any_access_key
SELECT EXISTS (SELECT 1 FROM access_keys)

-- name: revoke_access_key
UPDATE access_keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ? RETURNING id

-- name: erase_old_answers
DELETE FROM answers WHERE scope = ? AND at < ?

-- name: answer
SELECT request, holder, at, answer FROM answers WHERE scope = ? AND name = ?

-- name: add_claim
INSERT INTO answers (scope, name, request, holder, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING name

-- name: take_claim
UPDATE answers SET request = ?, holder = ?, at = ? WHERE scope = ? AND name = ? AND holder = ? AND answer IS NULL RETURNING name

-- name: put_answer
UPDATE answers SET answer = ? WHERE scope = ? AND name = ? AND holder = ? AND answer IS NULL

-- name: cut_claim
DELETE FROM answers WHERE scope = ? AND name = ? AND holder = ? AND answer IS NULL

-- name: erase_answers
DELETE FROM answers WHERE scope = :scope

-- name: count_model_call
INSERT INTO model_use (period, begins, calls, tokens, money) VALUES (?, ?, 1, 0, 0)
ON CONFLICT (period, begins) DO UPDATE SET calls = calls + 1 RETURNING calls, tokens, money

-- name: drop_model_use
DELETE FROM model_use WHERE begins < (SELECT begins FROM model_use ORDER BY begins DESC LIMIT 1 OFFSET ?)

-- name: add_model_use
UPDATE model_use SET calls = calls + :calls, tokens = tokens + :tokens, money = money + :money
WHERE (period = 'hour' AND begins = :hour) OR (period = 'day' AND begins = :day)

-- name: model_use
SELECT period, calls, tokens, money FROM model_use
WHERE (period = 'hour' AND begins = :hour) OR (period = 'day' AND begins = :day)

-- name: pause_model
INSERT INTO model_pauses AS paused (model, until) VALUES (:model, :until)
ON CONFLICT (model) DO UPDATE SET until = :until WHERE paused.until NOT BETWEEN :until AND :latest

-- name: model_pause
SELECT until FROM model_pauses WHERE model = ?

-- name: model_pauses
SELECT model, until FROM model_pauses WHERE until > ? AND until <= ? ORDER BY model
