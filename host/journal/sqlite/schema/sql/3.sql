-- Forks, and more than one snapshot of a room.
ALTER TABLE rooms ADD COLUMN forked_of TEXT NOT NULL DEFAULT '';   -- name of the room that it was forked of
ALTER TABLE rooms ADD COLUMN fork_seq INTEGER NOT NULL DEFAULT 0;  -- the newest entry that both have
ALTER TABLE rooms ADD COLUMN depth INTEGER NOT NULL DEFAULT 0;     -- forks between it and a room that is none
CREATE INDEX rooms_forked ON rooms(forked_of, name) WHERE forked_of <> '';

-- Where the entries of a fork stand: those of lo to hi in rows of the room src. The last span is its own, and open.
CREATE TABLE spans(
  room_id INTEGER NOT NULL,
  lo      INTEGER NOT NULL CHECK(lo > 0),
  hi      INTEGER NOT NULL CHECK(hi >= lo),
  src     INTEGER NOT NULL,
  PRIMARY KEY(room_id, lo)
) STRICT, WITHOUT ROWID;
CREATE INDEX spans_src ON spans(src, lo);

CREATE TABLE snapshots_3(
  room_id INTEGER NOT NULL,
  seq     INTEGER NOT NULL,
  state   BLOB    NOT NULL,
  PRIMARY KEY(room_id, seq)
) STRICT;
INSERT INTO snapshots_3 SELECT room_id, seq, state FROM snapshots;
DROP TABLE snapshots;
ALTER TABLE snapshots_3 RENAME TO snapshots;
