-- The first schema.
--
-- A `key` combines the scope's token and a number inside the scope: token * 2^40 + number. The rows of a scope are
-- adjacent, `key BETWEEN low AND high` selects a scope, and no further index is needed for this.

CREATE TABLE store (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    secret BLOB NOT NULL  -- the key of fence tags in contexts and of the HMAC in exports
) STRICT;

INSERT INTO store VALUES (1, randomblob(32));

CREATE TABLE scopes (
    token INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    reindexed INTEGER NOT NULL DEFAULT 0  -- increases whenever entries change without a journal row
) STRICT;

CREATE TABLE embedders (
    token INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE memories (
    key INTEGER PRIMARY KEY,
    scope INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    valid_from INTEGER NOT NULL,
    category TEXT NOT NULL,
    subject TEXT,
    phase TEXT NOT NULL,
    reason TEXT,
    confidence REAL NOT NULL,
    importance REAL NOT NULL,
    stability REAL NOT NULL,
    pinned INTEGER NOT NULL,
    trust TEXT NOT NULL,
    valid_to INTEGER,
    expires_at INTEGER,
    due_at INTEGER,
    accesses INTEGER NOT NULL,
    sessions INTEGER NOT NULL,
    used_at INTEGER,
    last_session TEXT,
    depth INTEGER NOT NULL,
    conversation TEXT,
    seq INTEGER,           -- of messages only
    role TEXT,
    speaker TEXT,
    ref TEXT,
    span_first INTEGER,    -- of cascade summaries only
    span_last INTEGER,
    members TEXT,
    superseded_by TEXT,
    sources TEXT,
    version INTEGER NOT NULL,
    flags TEXT,
    metadata TEXT,
    pace INTEGER,          -- of hot facts only
    gist TEXT,             -- of trimmed messages only
    content TEXT,          -- of facts and cluster summaries only
    born INTEGER NOT NULL, -- key of the journal row that added it
    checksum INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX memories_id ON memories (scope, id);
CREATE UNIQUE INDEX messages_seq ON memories (scope, conversation, seq) WHERE seq IS NOT NULL;
CREATE UNIQUE INDEX messages_ref ON memories (scope, ref, conversation) WHERE seq IS NOT NULL AND ref IS NOT NULL;
CREATE INDEX messages_phase ON memories (scope, phase) WHERE seq IS NOT NULL AND phase <> 'active';
CREATE INDEX facts_phase ON memories (scope, kind, phase, category) WHERE seq IS NULL;
CREATE UNIQUE INDEX facts_content ON memories (scope, content) WHERE content IS NOT NULL AND phase IN ('active', 'core');
CREATE INDEX memories_due ON memories (scope, due_at) WHERE due_at IS NOT NULL AND phase IN ('active', 'core');
-- The top of core memory: inside a decay class (one pace, one number of uses) the order by last use is the order by
-- strength at every instant. Only hot facts have a pace, except imported ones.
CREATE INDEX facts_lane ON memories (
    scope, pace, accesses, max(recorded_at, coalesce(used_at, recorded_at)) DESC, confidence DESC, id
) WHERE pace IS NOT NULL;
CREATE INDEX facts_unpaced ON memories (scope)
    WHERE pace IS NULL AND seq IS NULL AND span_first IS NULL AND phase IN ('active', 'core');
CREATE INDEX memories_flagged ON memories (scope) WHERE flags IS NOT NULL;
CREATE INDEX memories_pinned ON memories (scope) WHERE pinned = 1;
CREATE INDEX cascades_span ON memories (scope, conversation, span_first) WHERE span_first IS NOT NULL;

CREATE TABLE entries (
    key INTEGER PRIMARY KEY,   -- of the memory
    scope INTEGER NOT NULL,
    embedder INTEGER,          -- NULL: nothing derived yet; 0: no vectors
    terms BLOB,
    words INTEGER,
    question REAL,
    cues INTEGER,
    dim INTEGER,
    vectors BLOB,
    checksum INTEGER
) STRICT;

-- The index by embedder is created with the second embedder (`tell_embedders_apart`): until then it would cost a page
-- for each message and have the same value in all rows.
CREATE INDEX entries_unfinished ON entries (scope) WHERE embedder IS NULL OR embedder = 0;

CREATE TABLE conversations (
    scope INTEGER NOT NULL,
    name TEXT NOT NULL,
    erased_seq INTEGER NOT NULL DEFAULT 0,  -- message numbers up to here are used, though their messages may be erased
    PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;

-- The index entry of a message's trimmed text; `entries` has that of the full text.
CREATE TABLE gists (
    key INTEGER PRIMARY KEY,   -- of the memory
    scope INTEGER NOT NULL,
    embedder INTEGER NOT NULL, -- 0: no vectors
    terms BLOB,
    words INTEGER,
    question REAL,
    cues INTEGER,
    dim INTEGER,
    vectors BLOB,
    checksum INTEGER NOT NULL
) STRICT;

CREATE TABLE cursors (
    scope INTEGER NOT NULL,
    conversation TEXT NOT NULL,
    cursor TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (scope, conversation, cursor)
) STRICT, WITHOUT ROWID;

-- The lease of a scope's sleep pass. The token increases with every new holder; plans of an older holder are refused.
CREATE TABLE leases (
    scope INTEGER PRIMARY KEY,
    token INTEGER NOT NULL,
    holder TEXT NOT NULL,
    until INTEGER NOT NULL,
    run INTEGER NOT NULL    -- key of the last run when it was taken
) STRICT;

CREATE TABLE links (
    scope INTEGER NOT NULL,
    source TEXT NOT NULL,
    target TEXT NOT NULL,
    kind TEXT NOT NULL,
    weight REAL NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (scope, source, target, kind)
) STRICT, WITHOUT ROWID;

CREATE INDEX links_target ON links (scope, target);

CREATE TABLE held (
    scope INTEGER NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (scope, content)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
    key INTEGER PRIMARY KEY,
    scope INTEGER NOT NULL,
    id TEXT NOT NULL,
    cause TEXT NOT NULL,
    at INTEGER NOT NULL,
    parent TEXT,
    cost TEXT NOT NULL,
    because TEXT NOT NULL,  -- JSON: one sentence a group
    first INTEGER NOT NULL, -- its journal rows are between these keys, possibly among those of other runs
    last INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX runs_id ON runs (scope, id);
CREATE INDEX runs_parent ON runs (scope, parent) WHERE parent IS NOT NULL;
CREATE INDEX runs_cost ON runs (scope, at) WHERE cost <> '{}';
-- The most common causes are excluded: one page less for each message, and a scan finds them at once.
CREATE INDEX runs_cause ON runs (scope, cause) WHERE cause <> 'observe' AND cause <> 'use';

CREATE TABLE journal (
    key INTEGER PRIMARY KEY,
    scope INTEGER NOT NULL,
    run INTEGER NOT NULL,   -- key of the run
    part INTEGER NOT NULL,  -- the group's place in its run, from 0
    op TEXT NOT NULL,
    memory TEXT,
    other TEXT,             -- the target of a link
    because TEXT NOT NULL,
    payload TEXT,
    checksum INTEGER NOT NULL
) STRICT;

-- `memories.born` is the row that added a memory, so adding a message costs no page here.
CREATE INDEX journal_memory ON journal (scope, memory) WHERE memory IS NOT NULL AND op <> 'add';
CREATE INDEX journal_other ON journal (scope, other) WHERE other IS NOT NULL;
CREATE INDEX journal_refused ON journal (scope) WHERE op = 'refuse';
