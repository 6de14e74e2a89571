-- The stores of characters, of which each fork of a room has one of its own: see package keys. What says in which room,
-- behind which of its entries, and after how many forks it was written, shows what a fork begins with.
CREATE TABLE kv_forks(
  room_id INTEGER PRIMARY KEY,             -- whose store it is
  born    INTEGER NOT NULL UNIQUE,         -- counts the forks, from 1
  parent  INTEGER NOT NULL,                -- the store that it began with: a fork's, or 0, which all other rooms share
  left_id INTEGER NOT NULL,                -- the room that it left: what was written there behind the entry at is not in it
  at      INTEGER NOT NULL
) STRICT;
CREATE INDEX kv_forks_born ON kv_forks(parent, born);
CREATE INDEX kv_forks_left ON kv_forks(parent, left_id, at);

CREATE TABLE kv_now(
  store     INTEGER NOT NULL,              -- as kv_forks.parent
  companion TEXT    NOT NULL,
  key       TEXT    NOT NULL,
  room_id   INTEGER NOT NULL,              -- where it was written, 0 for in no room
  seq       INTEGER NOT NULL,              -- the head of that room then
  age       INTEGER NOT NULL,              -- the newest kv_forks.born then
  n         INTEGER NOT NULL,              -- counts what was written under the key
  run       INTEGER NOT NULL,              -- the n from which on all was written in this room
  value     TEXT,                          -- NULL: it was deleted
  PRIMARY KEY(store, companion, key)
) STRICT, WITHOUT ROWID;
INSERT INTO kv_now SELECT 0, companion, key, 0, 0, 0, 1, 1, value FROM kv;
DROP TABLE kv;
ALTER TABLE kv_now RENAME TO kv;

-- What stood under a key before. There is a row of kv for each of them.
CREATE TABLE kv_past(
  id        INTEGER PRIMARY KEY,
  store     INTEGER NOT NULL,
  companion TEXT    NOT NULL,
  key       TEXT    NOT NULL,
  n         INTEGER NOT NULL,
  room_id   INTEGER NOT NULL,
  seq       INTEGER NOT NULL,
  age       INTEGER NOT NULL,
  pinned    INTEGER NOT NULL DEFAULT 0,    -- a fork may show it: it stays
  value     TEXT,
  UNIQUE(store, companion, key, n)
) STRICT;
CREATE INDEX kv_past_oldest ON kv_past(store, companion, id) WHERE pinned = 0;

-- What the rows above come to. A row that is not there is counted anew.
CREATE TABLE kv_sums(
  store     INTEGER NOT NULL,
  companion TEXT    NOT NULL,
  keys      INTEGER NOT NULL,              -- that the store shows
  bytes     INTEGER NOT NULL,              -- of those and their values
  past      INTEGER NOT NULL,              -- bytes of kv_past that are not pinned
  PRIMARY KEY(store, companion)
) STRICT, WITHOUT ROWID;
