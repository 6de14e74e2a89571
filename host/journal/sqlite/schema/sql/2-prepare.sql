-- Entries whose bodies can be taken out. Rows come over from events in pieces;
-- events stays as it is until all are here.
CREATE TABLE IF NOT EXISTS entries(
  n          INTEGER PRIMARY KEY,          -- what is written at once stands together, whichever rooms it is of
  room_id    INTEGER NOT NULL,
  seq        INTEGER NOT NULL CHECK(seq > 0),
  epoch      INTEGER NOT NULL,
  at_ms      INTEGER NOT NULL,
  kind       TEXT    NOT NULL,
  id         TEXT    NOT NULL,
  v          INTEGER NOT NULL,             -- version of the body's shape
  salt       BLOB,                         -- goes with the body
  body       TEXT,                         -- JSON; what is left of it where it was taken out
  digest     BLOB,                         -- of salt and body, where they were taken out
  blanked_ms INTEGER,                      -- when
  sum        BLOB    NOT NULL,             -- hash chain: see package chain
  UNIQUE(room_id, seq),
  UNIQUE(room_id, id),
  CHECK((digest IS NULL) = (blanked_ms IS NULL) AND (digest IS NULL) = (salt IS NOT NULL) AND (digest IS NOT NULL OR body IS NOT NULL))
) STRICT;
CREATE INDEX IF NOT EXISTS entries_said ON entries(room_id, seq) WHERE kind = 'said';
