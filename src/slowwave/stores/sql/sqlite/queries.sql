-- Every statement of the SQLite store that is not composed. `:low` and `:high` bound the keys of one scope.

-- name: scope_token
SELECT token FROM scopes WHERE path = ?

-- name: add_scope
INSERT INTO scopes (path) VALUES (?) RETURNING token

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

-- name: live_fact
SELECT id FROM memories WHERE scope = ? AND content = ? AND phase IN ('active', 'core')

-- name: key_of
SELECT key FROM memories WHERE scope = ? AND id = ?

-- name: seq_taken
SELECT id FROM memories WHERE scope = ? AND conversation = ? AND seq = ?

-- name: clear_entry
INSERT OR REPLACE INTO entries (key, scope) VALUES (?, ?)

-- name: reindexed
UPDATE scopes SET reindexed = reindexed + 1 WHERE token = ?

-- name: conversation
SELECT last_seq, last_at, last_key FROM conversations WHERE scope = ? AND name = ?

-- name: put_conversation
INSERT OR REPLACE INTO conversations (scope, name, last_seq, last_at, last_key) VALUES (?, ?, ?, ?, ?)

-- name: conversations
SELECT name, last_seq, last_at FROM conversations WHERE scope = ? ORDER BY last_key DESC

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
INSERT OR IGNORE INTO held (scope, content) VALUES (?, ?)

-- name: cut_held
DELETE FROM held WHERE scope = ? AND content = ?

-- name: is_held
SELECT 1 FROM held WHERE scope = ? AND content = ?

-- name: add_run
INSERT INTO runs (key, scope, id, cause, at, parent, cost, because, first, last) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: extend_run
UPDATE runs SET because = ?, last = ? WHERE key = ?

-- name: run_exists
SELECT 1 FROM runs WHERE scope = ? AND id = ?

-- name: add_journal
INSERT INTO journal (key, scope, run, part, op, memory, other, because, payload) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: due
SELECT count(*) FROM memories WHERE scope = ? AND due_at <= ? AND phase IN ('active', 'core')

-- name: count_facts
SELECT kind, phase, span_first IS NOT NULL, count(*) FROM memories WHERE scope = ? AND seq IS NULL GROUP BY 1, 2, 3

-- name: count_messages
SELECT count(*) FROM memories WHERE scope = ? AND seq IS NOT NULL

-- name: count_messages_off
SELECT phase, count(*) FROM memories WHERE scope = ? AND seq IS NOT NULL AND phase <> 'active' GROUP BY phase

-- name: erase_memory
DELETE FROM memories WHERE key = ?

-- name: erase_entry
DELETE FROM entries WHERE key = ?

-- name: erase_links
DELETE FROM links WHERE scope = :scope AND (source = :id OR target = :id)

-- name: runs_of_memory
SELECT DISTINCT run, part FROM journal WHERE scope = :scope AND memory = :id
UNION
SELECT DISTINCT run, part FROM journal WHERE scope = :scope AND other = :id

-- name: run_because
SELECT because FROM runs WHERE key = ?

-- name: put_run_because
UPDATE runs SET because = ? WHERE key = ?

-- name: erase_journal
DELETE FROM journal WHERE scope = :scope AND memory = :id AND op <> 'erase'

-- name: erase_journal_other
DELETE FROM journal WHERE scope = :scope AND other = :id

-- name: refused
SELECT key, payload FROM journal WHERE scope = ? AND op = 'refuse'

-- name: erase_refused
DELETE FROM journal WHERE key = ?
