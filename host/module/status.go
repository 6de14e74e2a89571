package module

import (
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
)

// State says whether a companion can be called.
type State string

// The states. A companion whose newest save was refused is still ready, by its
// older generation; Status.Error then says why the save was refused.
const (
	StateLoading     State = "loading"     // its first generation is being made
	StateReady       State = "ready"       // calls are answered
	StateFailed      State = "failed"      // no generation ever loaded
	StateQuarantined State = "quarantined" // it faulted too often; calls are refused for a while
)

// Status is what doors show of one companion.
type Status struct {
	ID          string    `json:"id"`
	Name        string    `json:"name,omitempty"`
	Kind        string    `json:"kind,omitempty"` // of a handler; empty: it is a character
	Engine      string    `json:"engine,omitempty"`
	Generation  uint64    `json:"generation"` // 0: none was ever loaded
	State       State     `json:"state"`
	File        string    `json:"file,omitempty"`     // below the folder, with slashes
	Folder      string    `json:"-"`                  // as it is configured
	Progress    string    `json:"progress,omitempty"` // what the newest save waits for: "being compiled"
	Error       string    `json:"error,omitempty"`    // what is wrong with the newest save or its answers, or why it is quarantined
	Faults      int       `json:"faults"`             // of this generation, see FaultKind
	MemoryBytes int64     `json:"memory_bytes"`       // guest memory in use now
	LoadedAt    time.Time `json:"loaded_at,omitzero"`
}

// Reason says in words for a maker why a file was not loaded.
func Reason(err error) string {
	var e *abi.Error
	if errors.As(err, &e) {
		return e.Message
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Op + ": " + p.Err.Error() // where the folder lies is nobody's business at a door
	}
	return err.Error()
}

// Sentence joins what there is to say with semicolons.
func Sentence(parts ...string) string {
	said := parts[:0:0]
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, "; ")
}
