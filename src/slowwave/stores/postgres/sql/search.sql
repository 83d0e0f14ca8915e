-- The statements of a search whose candidates the server finds. They are Postgres's alone.

-- name: state
SELECT coalesce((SELECT max(key) FROM memories WHERE scope = :scope AND key BETWEEN :low AND :high) - :low, 0),
    coalesce((SELECT max(key) FROM journal WHERE scope = :scope AND key BETWEEN :low AND :high), :low), s.reindexed,
    t.layout, t.journal, t.reindexed, t.originals, t.words, t.latest,
    EXISTS (SELECT 1 FROM search_taken WHERE scope = :scope AND stale)
FROM scopes s LEFT JOIN search_state t ON t.scope = s.token WHERE s.token = :scope

-- name: begin
INSERT INTO search_state (scope, layout, journal, reindexed, originals, words) VALUES (?, ?, ?, -1, 0, 0)
ON CONFLICT (scope) DO NOTHING

-- name: stand
UPDATE search_state SET journal = ?, reindexed = ? WHERE scope = ?

-- name: count
UPDATE search_state SET originals = originals + ?, words = words + ?, latest = greatest(latest, ?) WHERE scope = ?

-- name: recount_latest
UPDATE search_state SET latest = (SELECT max(at) FROM search_taken WHERE scope = :scope) WHERE scope = :scope

-- name: journal
SELECT j.key, m.key, m.seq IS NOT NULL, j.op = 'add' OR j.payload LIKE '%"text":[%' OR j.payload LIKE '%"gist":[%'
FROM journal j LEFT JOIN memories m ON m.scope = :scope AND m.id = j.memory
WHERE j.scope = :scope AND j.key > :after AND j.key <= :last AND j.op IN ('add', 'change') ORDER BY j.key LIMIT :limit

-- name: stale
SELECT key FROM search_taken WHERE scope = ? AND stale ORDER BY key LIMIT ?

-- name: differing
SELECT e.key FROM entries e
WHERE e.scope = :scope AND e.key > :after AND e.key <= :high AND e.embedder IS NOT NULL AND (
    (SELECT t.entry FROM search_taken t WHERE t.scope = e.scope AND t.key = e.key) IS DISTINCT FROM e.checksum
    OR (SELECT t.gist FROM search_taken t WHERE t.scope = e.scope AND t.key = e.key)
        IS DISTINCT FROM (SELECT g.checksum FROM gists g WHERE g.scope = e.scope AND g.key = e.key)
)
ORDER BY e.key LIMIT :limit

-- name: taken
SELECT key, words, original, at, terms FROM search_taken WHERE scope = ? AND key = ANY (CAST(? AS bigint[]))

-- name: take
INSERT INTO search_taken (scope, key, entry, gist, words, original, at, terms) VALUES (?, ?, ?, ?, ?, ?, ?, CAST(? AS bigint[]))
ON CONFLICT (scope, key) DO UPDATE SET (entry, gist, words, original, at, terms, stale) =
    (excluded.entry, excluded.gist, excluded.words, excluded.original, excluded.at, excluded.terms, false)

-- name: leave_out
DELETE FROM search_taken WHERE scope = ? AND key = ANY (CAST(? AS bigint[]))

-- name: add_postings
INSERT INTO search_postings (scope, term, key)
SELECT ?, x.term, x.key FROM unnest(CAST(? AS bigint[]), CAST(? AS bigint[])) AS x (term, key)
ON CONFLICT DO NOTHING

-- name: cut_postings
DELETE FROM search_postings p USING unnest(CAST(? AS bigint[]), CAST(? AS bigint[])) AS x (term, key)
WHERE p.scope = ? AND p.term = x.term AND p.key = x.key

-- name: count_terms
INSERT INTO search_terms AS s (scope, term, memories, originals)
SELECT ?, x.term, x.memories, x.originals
FROM unnest(CAST(? AS bigint[]), CAST(? AS bigint[]), CAST(? AS bigint[])) AS x (term, memories, originals)
ON CONFLICT (scope, term) DO UPDATE SET (memories, originals) =
    (s.memories + excluded.memories, s.originals + excluded.originals)

-- name: cut_terms
DELETE FROM search_terms WHERE scope = ? AND term = ANY (CAST(? AS bigint[])) AND memories < 1

-- name: cut_places
DELETE FROM search_places WHERE scope = ? AND key = ANY (CAST(? AS bigint[]))

-- name: add_place
INSERT INTO search_places (scope, key, part, embedder, hot, open, speaker, by_user, prior, vector)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: repose
UPDATE search_places p SET hot = m.phase IN ('active', 'core'), open = m.phase <> 'quarantined'
FROM memories m WHERE p.scope = ? AND p.key = ANY (CAST(? AS bigint[])) AND m.scope = p.scope AND m.key = p.key

-- name: with_gist
SELECT key FROM search_taken WHERE scope = ? AND key = ANY (CAST(? AS bigint[])) AND gist IS NOT NULL

-- name: put_rests
INSERT INTO search_rests (scope, message, fact)
SELECT ?, x.message, x.fact FROM unnest(CAST(? AS text[]), CAST(? AS bigint[])) AS x (message, fact)
ON CONFLICT DO NOTHING

-- name: cut_rests
DELETE FROM search_rests WHERE scope = ? AND fact = ANY (CAST(? AS bigint[]))

-- name: count_talk
INSERT INTO search_talks AS s (scope, conversation, messages, named, assisted) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (scope, conversation) DO UPDATE SET (messages, named, assisted) =
    (s.messages + excluded.messages, s.named + excluded.named, s.assisted + excluded.assisted)

-- name: retell_talk
UPDATE search_taken SET stale = true WHERE scope = :scope AND key IN (
    SELECT key FROM memories WHERE scope = :scope AND conversation = :name
)

-- name: count_speaker
INSERT INTO search_speakers AS s (scope, name, messages) VALUES (?, ?, ?)
ON CONFLICT (scope, name) DO UPDATE SET messages = s.messages + excluded.messages

-- name: talks
SELECT conversation, named > 0, assisted > 0 FROM search_talks
WHERE scope = ? AND conversation = ANY (CAST(? AS text[]))

-- name: speakers
SELECT name FROM search_speakers WHERE scope = ? ORDER BY name

-- name: terms
SELECT term, originals, memories FROM search_terms WHERE scope = ? AND term = ANY (CAST(? AS bigint[]))

-- name: around
SELECT DISTINCT w.key FROM memories m CROSS JOIN LATERAL (
    SELECT m.key
    UNION ALL
    (SELECT b.key FROM memories b WHERE b.scope = m.scope AND b.conversation = m.conversation AND b.seq < m.seq
        ORDER BY b.seq DESC LIMIT :before)
    UNION ALL
    (SELECT a.key FROM memories a WHERE a.scope = m.scope AND a.conversation = m.conversation AND a.seq > m.seq
        ORDER BY a.seq LIMIT :after)
) w
WHERE m.scope = :scope AND m.key = ANY (CAST(:keys AS bigint[])) AND m.seq IS NOT NULL

-- name: around_told
SELECT DISTINCT w.key FROM memories m CROSS JOIN LATERAL (
    SELECT m.key
    UNION ALL
    (SELECT b.key FROM memories b WHERE b.scope = m.scope AND b.conversation = m.conversation AND b.seq < m.seq
        AND EXISTS (SELECT 1 FROM entries e WHERE e.scope = b.scope AND e.key = b.key AND e.embedder IS NOT NULL)
        ORDER BY b.seq DESC LIMIT :before)
    UNION ALL
    (SELECT a.key FROM memories a WHERE a.scope = m.scope AND a.conversation = m.conversation AND a.seq > m.seq
        AND EXISTS (SELECT 1 FROM entries e WHERE e.scope = a.scope AND e.key = a.key AND e.embedder IS NOT NULL)
        ORDER BY a.seq LIMIT :after)
) w
WHERE m.scope = :scope AND m.key = ANY (CAST(:keys AS bigint[])) AND m.seq IS NOT NULL

-- name: messages
SELECT m.id, m.phase, m.reason, m.category, m.importance, m.valid_from,
    CASE WHEN m.used_at > m.recorded_at THEN m.used_at ELSE m.recorded_at END, coalesce(m.conversation, ''), m.seq,
    m.role, m.speaker, m.gist IS NOT NULL, e.embedder, e.terms, e.words, e.question, e.cues,
    CASE WHEN w.whole IS NULL THEN substr(e.vectors, 1, CAST(4 * e.dim AS integer)) ELSE e.vectors END, e.dim,
    m.key, e.checksum
FROM memories m JOIN entries e ON e.scope = m.scope AND e.key = m.key AND e.embedder IS NOT NULL
LEFT JOIN unnest(CAST(:whole AS bigint[])) AS w (whole) ON w.whole = m.key
WHERE m.scope = :scope AND m.key = ANY (CAST(:keys AS bigint[])) AND m.seq IS NOT NULL ORDER BY coalesce(m.conversation, ''), m.seq

-- name: facts
SELECT {m.memory}, e.embedder, {e.entry}, e.checksum, m.key
FROM memories m JOIN entries e ON e.scope = m.scope AND e.key = m.key AND e.embedder IS NOT NULL
WHERE m.scope = ? AND m.key = ANY (CAST(? AS bigint[])) AND m.seq IS NULL ORDER BY m.key

-- name: gist_checksums
SELECT key, checksum FROM gists WHERE scope = ? AND key = ANY (CAST(? AS bigint[]))

-- name: keys_of
SELECT id, key FROM memories WHERE scope = ? AND id = ANY (CAST(? AS text[]))

-- name: resting
SELECT r.fact FROM search_rests r JOIN memories m ON m.scope = r.scope AND m.id = r.message
WHERE r.scope = ? AND m.key = ANY (CAST(? AS bigint[]))

-- name: rested_on
SELECT m.key FROM search_rests r JOIN memories m ON m.scope = r.scope AND m.id = r.message
WHERE r.scope = ? AND r.fact = ANY (CAST(? AS bigint[]))

-- name: retell_subjects
UPDATE search_taken SET stale = true WHERE scope = :scope AND NOT stale AND key IN (
    SELECT key FROM memories WHERE scope = :scope AND seq IS NULL AND subject IS NOT NULL
)

-- name: embedded
SELECT max(embedder) IS NOT NULL FROM entries WHERE scope = ? AND embedder = ?

-- name: embedders
SELECT (SELECT min(embedder) FROM entries WHERE scope = :scope), (SELECT max(embedder) FROM entries WHERE scope = :scope)
