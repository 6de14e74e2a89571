// Package logs is the newest lines of the daemon's log over HTTP, for makers who see no terminal. docs/MAKERS.md has the rest.
//
// Rights are here, those of [identity.Caller.Maker]. Lines are shown as they were logged: who logs keeps secrets out. Their
// words are those of others, which go out as data, in JSON.
package logs

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/lately"
)

// Operation makes an operation of the API as its other ones are, in problems and bounds.
type Operation func(method, path, id, summary string, status int) huma.Operation

// maxWaiting is how many may wait for the next line; a page has one.
const maxWaiting = 16

// LogLine is a line of the log as the door shows it.
type LogLine struct {
	Seq       uint64     `json:"seq" doc:"Counted from 1 since the daemon started."`
	At        time.Time  `json:"at" doc:"When it was logged."`
	Level     string     `json:"level" enum:"debug,info,warn,error" doc:"How grave it is."`
	Message   string     `json:"message" doc:"What happened."`
	Companion string     `json:"companion,omitempty" doc:"The companion that it is about." example:"aya"`
	Fields    []LogField `json:"fields" doc:"What else is in the line."`
}

// LogField is a name in a line of the log, with its value.
type LogField struct {
	Name  string `json:"name" doc:"What it is." example:"file"`
	Value string `json:"value" doc:"How it is written." example:"aya.js"`
}

type (
	logsIn struct {
		Since     uint64 `query:"since" maximum:"9007199254740991" doc:"Only what has a greater seq; head of the answer before. One that is greater than head is of a daemon that ended, and counts as 0."`
		Level     string `query:"level" enum:"debug,info,warn,error" default:"info" doc:"Only what is as grave or more. What log.level leaves out is not there."`
		Companion string `query:"companion" maxLength:"64" doc:"Only what is about it."`
		Limit     int    `query:"limit" default:"200" minimum:"1" maximum:"2000" doc:"The newest so many."`
		Wait      int    `query:"wait" minimum:"0" maximum:"25" doc:"Where there is none, wait up to so many seconds for the next."`
	}
	logsOut struct {
		Lines []LogLine `json:"lines" doc:"Oldest first."`
		Head  uint64    `json:"head" doc:"The seq of the newest line there is, whatever was asked for."`
	}
	body struct{ Body logsOut }
)

type door struct {
	log      *lately.Log
	stopping context.Context
	waiting  chan struct{} // holds a token for each who waits
}

// Register adds the operation to an API. stopping ends when the daemon is about to: nobody waits on then.
func Register(api huma.API, op Operation, log *lately.Log, stopping context.Context) {
	d := &door{log, stopping, make(chan struct{}, maxWaiting)}
	o := op(http.MethodGet, "/v1/logs", "read-logs", "Read the newest lines of the daemon's log", http.StatusOK)
	o.Description = "Needs the scope admin, or, where there are no tokens, a caller on the same machine. The newest 2000 lines since the start are there."
	huma.Register(api, o, func(ctx context.Context, in *logsIn) (*body, error) {
		if err := identity.Of(ctx).Maker(); err != nil {
			return nil, guard.DetailsOf(err)
		}
		out, err := d.read(ctx, in)
		if err != nil {
			return nil, guard.DetailsOf(err)
		}
		return &body{out}, nil
	})
}

func (d *door) read(ctx context.Context, in *logsIn) (out logsOut, err error) {
	f := lately.Filter{Since: in.Since, Companion: in.Companion, Limit: in.Limit}
	if err := f.Level.UnmarshalText([]byte(in.Level)); err != nil {
		return out, abi.Field("level", abi.CodeInvalid, "%v", err)
	}
	lines, head := d.log.Read(f)
	if f.Since > head {
		f.Since = 0
		lines, head = d.log.Read(f)
	}
	if len(lines) == 0 && in.Wait > 0 {
		lines, head = d.wait(ctx, f, time.Duration(in.Wait)*time.Second)
	}
	out = logsOut{Lines: []LogLine{}, Head: head}
	for _, l := range lines {
		shown := LogLine{Seq: l.Seq, At: l.At, Level: levelOf(l.Level), Message: l.Message, Companion: l.Companion, Fields: []LogField{}}
		for _, p := range l.Pairs {
			shown.Fields = append(shown.Fields, LogField(p))
		}
		out.Lines = append(out.Lines, shown)
	}
	return out, nil
}

// wait waits for a line. Where too many wait already nobody does: who asked asks again.
func (d *door) wait(ctx context.Context, f lately.Filter, most time.Duration) ([]lately.Line, uint64) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if d.stopping != nil {
		defer context.AfterFunc(d.stopping, cancel)()
	}
	select {
	case d.waiting <- struct{}{}:
		defer func() { <-d.waiting }()
		return d.log.Wait(ctx, f)
	case <-ctx.Done():
		return d.log.Read(f)
	}
}

// levelOf is the word for a level, that of the one below for others.
func levelOf(l slog.Level) string {
	switch {
	case l >= slog.LevelError:
		return "error"
	case l >= slog.LevelWarn:
		return "warn"
	case l >= slog.LevelInfo:
		return "info"
	}
	return "debug"
}
