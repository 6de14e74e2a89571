-- Rooms, their entries and snapshots, the stores of characters.
CREATE TABLE rooms(
  id          INTEGER PRIMARY KEY,
  name        TEXT    NOT NULL UNIQUE,
  head        INTEGER NOT NULL CHECK(head >= 0),
  epoch       INTEGER NOT NULL CHECK(epoch > 0),
  sum         BLOB    NOT NULL,            -- sum of the entry at head
  trimmed     INTEGER NOT NULL DEFAULT 0,  -- entries up to here were forgotten
  trimmed_sum BLOB    NOT NULL             -- sum of the entry at trimmed; of the room's name while that is 0
) STRICT;

CREATE TABLE events(
  gseq    INTEGER PRIMARY KEY,
  room_id INTEGER NOT NULL REFERENCES rooms(id),
  seq     INTEGER NOT NULL CHECK(seq > 0),
  epoch   INTEGER NOT NULL,
  at_ms   INTEGER NOT NULL,
  kind    TEXT    NOT NULL,
  id      TEXT    NOT NULL,
  body    TEXT    NOT NULL,                -- JSON
  sum     BLOB    NOT NULL,                -- hash chain: see package chain
  UNIQUE(room_id, seq),
  UNIQUE(room_id, id)
) STRICT;

CREATE TRIGGER events_immutable BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;

CREATE TABLE snapshots(
  room_id INTEGER PRIMARY KEY REFERENCES rooms(id),
  seq     INTEGER NOT NULL,
  state   BLOB    NOT NULL
) STRICT;

CREATE TABLE kv(
  companion TEXT NOT NULL,
  key       TEXT NOT NULL,
  value     TEXT NOT NULL,
  PRIMARY KEY(companion, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE meta(
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
