-- The statements of a search whose candidates the server selects: only the Postgres store has them.
-- queries.sql explains the headers.

-- name: search_state (scope, low, high)
SELECT coalesce((SELECT max(key) FROM memories WHERE scope = $1 AND key BETWEEN $2 AND $3) - $2, 0),
    coalesce((SELECT max(key) FROM journal WHERE scope = $1 AND key BETWEEN $2 AND $3), $2), s.reindexed,
    t.layout, t.journal, t.reindexed, t.originals, t.words, t.latest,
    EXISTS (SELECT 1 FROM search_taken WHERE scope = $1 AND stale)
FROM scopes s LEFT JOIN search_state t ON t.scope = s.token WHERE s.token = $1

-- name: search_begin (scope, layout, journal) deferred
INSERT INTO search_state (scope, layout, journal, reindexed, originals, words) VALUES ($1, $2, $3, -1, 0, 0)
ON CONFLICT (scope) DO NOTHING

-- name: search_stand (journal, reindexed, scope) deferred
UPDATE search_state SET journal = $1, reindexed = $2 WHERE scope = $3

-- name: search_count (originals, words, latest, scope) deferred
UPDATE search_state SET originals = originals + $1, words = words + $2, latest = greatest(latest, $3) WHERE scope = $4

-- name: search_recount_latest (scope) deferred
UPDATE search_state SET latest = (SELECT max(at) FROM search_taken WHERE scope = $1) WHERE scope = $1

-- name: search_journal (scope, after, last, limit)
SELECT j.key, m.key, m.seq IS NOT NULL, j.op = 'add' OR j.payload LIKE '%"text":[%' OR j.payload LIKE '%"gist":[%'
FROM journal j LEFT JOIN memories m ON m.scope = $1 AND m.id = j.memory
WHERE j.scope = $1 AND j.key > $2 AND j.key <= $3 AND j.op IN ('add', 'change') ORDER BY j.key LIMIT $4

-- name: search_stale (scope, limit)
SELECT key FROM search_taken WHERE scope = $1 AND stale ORDER BY key LIMIT $2

-- name: search_differing (scope, after, high, limit)
SELECT e.key FROM entries e
WHERE e.scope = $1 AND e.key > $2 AND e.key <= $3 AND e.embedder IS NOT NULL AND (
    (SELECT t.entry FROM search_taken t WHERE t.scope = e.scope AND t.key = e.key) IS DISTINCT FROM e.checksum
    OR (SELECT t.gist FROM search_taken t WHERE t.scope = e.scope AND t.key = e.key)
        IS DISTINCT FROM (SELECT g.checksum FROM gists g WHERE g.scope = e.scope AND g.key = e.key)
)
ORDER BY e.key LIMIT $4

-- name: search_taken (scope, keys)
SELECT key, words, original, at, terms FROM search_taken WHERE scope = $1 AND key = ANY (CAST($2 AS bigint[]))

-- name: search_take (scope, key, entry, gist, words, original, at, terms) deferred
INSERT INTO search_taken (scope, key, entry, gist, words, original, at, terms)
VALUES ($1, $2, $3, $4, $5, $6, $7, CAST($8 AS bigint[]))
ON CONFLICT (scope, key) DO UPDATE SET (entry, gist, words, original, at, terms, stale) =
    (excluded.entry, excluded.gist, excluded.words, excluded.original, excluded.at, excluded.terms, false)

-- name: search_leave_out (scope, keys) deferred
DELETE FROM search_taken WHERE scope = $1 AND key = ANY (CAST($2 AS bigint[]))

-- name: search_add_postings (scope, terms, keys) deferred
INSERT INTO search_postings (scope, term, key)
SELECT $1, x.term, x.key FROM unnest(CAST($2 AS bigint[]), CAST($3 AS bigint[])) AS x (term, key)
ON CONFLICT DO NOTHING

-- name: search_cut_postings (terms, keys, scope) deferred
DELETE FROM search_postings p USING unnest(CAST($1 AS bigint[]), CAST($2 AS bigint[])) AS x (term, key)
WHERE p.scope = $3 AND p.term = x.term AND p.key = x.key

-- name: search_count_terms (scope, terms, memories, originals) deferred
INSERT INTO search_terms AS s (scope, term, memories, originals)
SELECT $1, x.term, x.memories, x.originals
FROM unnest(CAST($2 AS bigint[]), CAST($3 AS bigint[]), CAST($4 AS bigint[])) AS x (term, memories, originals)
ON CONFLICT (scope, term) DO UPDATE SET (memories, originals) =
    (s.memories + excluded.memories, s.originals + excluded.originals)

-- name: search_cut_terms (scope, terms) deferred
DELETE FROM search_terms WHERE scope = $1 AND term = ANY (CAST($2 AS bigint[])) AND memories < 1

-- name: search_cut_places (scope, keys) deferred
DELETE FROM search_places WHERE scope = $1 AND key = ANY (CAST($2 AS bigint[]))

-- name: search_add_place (scope, key, part, embedder, hot, open, speaker, by_user, prior, cues, vector) deferred
INSERT INTO search_places (scope, key, part, embedder, hot, open, speaker, by_user, prior, cues, vector)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)

-- name: search_repose (scope, keys) deferred
UPDATE search_places p SET hot = m.phase IN ('active', 'core'), 
    open = m.phase <> 'quarantined' AND (m.phase <> 'retracted' OR coalesce(m.reason, '') <> 'rejected')
FROM memories m WHERE p.scope = $1 AND p.key = ANY (CAST($2 AS bigint[])) AND m.scope = p.scope AND m.key = p.key

-- name: search_with_gist (scope, keys)
SELECT key FROM search_taken WHERE scope = $1 AND key = ANY (CAST($2 AS bigint[])) AND gist IS NOT NULL

-- name: search_put_rests (scope, messages, facts) deferred
INSERT INTO search_rests (scope, message, fact)
SELECT $1, x.message, x.fact FROM unnest(CAST($2 AS text[]), CAST($3 AS bigint[])) AS x (message, fact)
ON CONFLICT DO NOTHING

-- name: search_cut_rests (scope, facts) deferred
DELETE FROM search_rests WHERE scope = $1 AND fact = ANY (CAST($2 AS bigint[]))

-- name: search_count_talk (scope, conversation, messages, named, assisted) deferred
INSERT INTO search_talks AS s (scope, conversation, messages, named, assisted) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (scope, conversation) DO UPDATE SET (messages, named, assisted) =
    (s.messages + excluded.messages, s.named + excluded.named, s.assisted + excluded.assisted)

-- name: search_mark_conversation_stale (scope, name) deferred
UPDATE search_taken SET stale = true WHERE scope = $1 AND key IN (
    SELECT key FROM memories WHERE scope = $1 AND conversation = $2
)

-- name: search_count_speaker (scope, name, messages) deferred
INSERT INTO search_speakers AS s (scope, name, messages) VALUES ($1, $2, $3)
ON CONFLICT (scope, name) DO UPDATE SET messages = s.messages + excluded.messages

-- name: search_talks (scope, conversations)
SELECT conversation, named > 0, assisted > 0 FROM search_talks
WHERE scope = $1 AND conversation = ANY (CAST($2 AS text[]))

-- name: search_speakers (scope)
SELECT name FROM search_speakers WHERE scope = $1 ORDER BY name

-- name: search_terms (scope, terms)
SELECT term, originals, memories FROM search_terms WHERE scope = $1 AND term = ANY (CAST($2 AS bigint[]))

-- name: search_around (before, after, scope, keys)
SELECT DISTINCT w.key FROM memories m CROSS JOIN LATERAL (
    SELECT m.key
    UNION ALL
    (SELECT b.key FROM memories b WHERE b.scope = m.scope AND b.conversation = m.conversation AND b.seq < m.seq
        ORDER BY b.seq DESC LIMIT $1)
    UNION ALL
    (SELECT a.key FROM memories a WHERE a.scope = m.scope AND a.conversation = m.conversation AND a.seq > m.seq
        ORDER BY a.seq LIMIT $2)
) w
WHERE m.scope = $3 AND m.key = ANY (CAST($4 AS bigint[])) AND m.seq IS NOT NULL

-- name: search_around_indexed (before, after, scope, keys)
SELECT DISTINCT w.key FROM memories m CROSS JOIN LATERAL (
    SELECT m.key
    UNION ALL
    (SELECT b.key FROM memories b WHERE b.scope = m.scope AND b.conversation = m.conversation AND b.seq < m.seq
        AND EXISTS (SELECT 1 FROM entries e WHERE e.scope = b.scope AND e.key = b.key AND e.embedder IS NOT NULL)
        ORDER BY b.seq DESC LIMIT $1)
    UNION ALL
    (SELECT a.key FROM memories a WHERE a.scope = m.scope AND a.conversation = m.conversation AND a.seq > m.seq
        AND EXISTS (SELECT 1 FROM entries e WHERE e.scope = a.scope AND e.key = a.key AND e.embedder IS NOT NULL)
        ORDER BY a.seq LIMIT $2)
) w
WHERE m.scope = $3 AND m.key = ANY (CAST($4 AS bigint[])) AND m.seq IS NOT NULL

-- name: search_messages (whole, scope, keys)
SELECT m.id, m.phase, m.reason, m.category, m.importance, m.valid_from,
    CASE WHEN m.used_at > m.recorded_at THEN m.used_at ELSE m.recorded_at END, coalesce(m.conversation, ''), m.seq,
    m.role, m.speaker, m.gist IS NOT NULL, e.embedder, e.terms, e.words, e.question, e.cues,
    CASE WHEN w.whole IS NULL THEN substr(e.vectors, 1, CAST(4 * e.dim AS integer)) ELSE e.vectors END, e.dim,
    m.zone, m.key, e.checksum
FROM memories m JOIN entries e ON e.scope = m.scope AND e.key = m.key AND e.embedder IS NOT NULL
LEFT JOIN unnest(CAST($1 AS bigint[])) AS w (whole) ON w.whole = m.key
WHERE m.scope = $2 AND m.key = ANY (CAST($3 AS bigint[])) AND m.seq IS NOT NULL
ORDER BY coalesce(m.conversation, ''), m.seq

-- name: search_facts (scope, keys)
SELECT {m.memory}, e.embedder, {e.entry}, e.checksum, m.key
FROM memories m JOIN entries e ON e.scope = m.scope AND e.key = m.key AND e.embedder IS NOT NULL
WHERE m.scope = $1 AND m.key = ANY (CAST($2 AS bigint[])) AND m.seq IS NULL ORDER BY m.key

-- name: search_gist_checksums (scope, keys)
SELECT key, checksum FROM gists WHERE scope = $1 AND key = ANY (CAST($2 AS bigint[]))

-- name: search_keys_of (scope, ids)
SELECT id, key FROM memories WHERE scope = $1 AND id = ANY (CAST($2 AS text[]))

-- name: search_resting (scope, keys)
SELECT r.fact FROM search_rests r JOIN memories m ON m.scope = r.scope AND m.id = r.message
WHERE r.scope = $1 AND m.key = ANY (CAST($2 AS bigint[]))

-- name: search_rested_on (scope, facts)
SELECT m.key FROM search_rests r JOIN memories m ON m.scope = r.scope AND m.id = r.message
WHERE r.scope = $1 AND r.fact = ANY (CAST($2 AS bigint[]))

-- name: search_mark_subjects_stale (scope) deferred
UPDATE search_taken SET stale = true WHERE scope = $1 AND NOT stale AND key IN (
    SELECT key FROM memories WHERE scope = $1 AND seq IS NULL AND subject IS NOT NULL
)

-- name: search_embedded (scope, embedder)
SELECT max(embedder) IS NOT NULL FROM entries WHERE scope = $1 AND embedder = $2

-- name: search_embedders (scope)
SELECT (SELECT min(embedder) FROM entries WHERE scope = $1), (SELECT max(embedder) FROM entries WHERE scope = $1)
