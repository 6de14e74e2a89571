-- The index of rooms, and the end of events.
CREATE TABLE index_of_rooms(
  id          INTEGER PRIMARY KEY,
  name        TEXT    NOT NULL UNIQUE,
  head        INTEGER NOT NULL CHECK(head >= 0),
  epoch       INTEGER NOT NULL CHECK(epoch >= 0),
  sum         BLOB    NOT NULL,            -- sum of the entry at head
  trimmed     INTEGER NOT NULL DEFAULT 0,  -- entries up to here were forgotten
  trimmed_sum BLOB    NOT NULL,            -- sum of the entry at trimmed; of the room's name while that is 0
  owner       TEXT    NOT NULL DEFAULT '', -- of the newest Acquire
  awake       INTEGER NOT NULL DEFAULT 0,  -- it grew since its owner last rested
  due_ms      INTEGER,                     -- when it is to be looked at
  swept       INTEGER NOT NULL DEFAULT 0,  -- entries up to here were looked through for bodies to be taken out
  key         TEXT    UNIQUE,
  opened_by   TEXT    NOT NULL DEFAULT '',
  settings    BLOB,
  archived    INTEGER NOT NULL DEFAULT 0
) STRICT;
-- Nobody says of the rooms of before that nothing is left to do there.
INSERT INTO index_of_rooms(id, name, head, epoch, sum, trimmed, trimmed_sum, awake)
  SELECT id, name, head, epoch, ifnull((SELECT sum FROM entries WHERE room_id = rooms.id AND seq = rooms.head), trimmed_sum),
    trimmed, trimmed_sum, 1 FROM rooms;
DROP TABLE events;
CREATE TABLE snapshots_2(
  room_id INTEGER PRIMARY KEY,
  seq     INTEGER NOT NULL,
  state   BLOB    NOT NULL
) STRICT;
INSERT INTO snapshots_2 SELECT room_id, seq, state FROM snapshots;
DROP TABLE snapshots;
DROP TABLE rooms;
ALTER TABLE snapshots_2 RENAME TO snapshots;
ALTER TABLE index_of_rooms RENAME TO rooms;
CREATE INDEX rooms_due ON rooms(due_ms) WHERE due_ms IS NOT NULL AND awake = 0;
CREATE INDEX rooms_awake ON rooms(name) WHERE awake = 1;
CREATE INDEX rooms_by ON rooms(opened_by) WHERE opened_by <> '' AND archived = 0;

CREATE TRIGGER entries_immutable BEFORE UPDATE OF n, room_id, seq, epoch, at_ms, kind, id, v, sum ON entries
BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER bodies_immutable BEFORE UPDATE OF salt, body, digest, blanked_ms ON entries WHEN OLD.digest IS NOT NULL OR NEW.digest IS NULL
BEGIN SELECT RAISE(ABORT, 'a body can only be taken out'); END;
