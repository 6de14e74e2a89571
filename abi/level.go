package abi

// Level classes a line a module writes with the import log. The numbers are
// those of log/slog; a number between two levels counts as the lower one.
type Level int32

// The levels.
const (
	LevelDebug Level = -4
	LevelInfo  Level = 0
	LevelWarn  Level = 4
	LevelError Level = 8
)
