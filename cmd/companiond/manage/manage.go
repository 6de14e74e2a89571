// Package manage has the verbs that look after a running daemon from its own machine, by its control socket: reload and
// status.
//
// It never reads or changes what the daemon reads; a socket alone is its own.
package manage

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/companiond/companiond/host/control"
)

// Reload has the daemon at a socket read its configuration anew, and says what became of it.
//
// # Errors
//
// control.ErrNobody; what is wrong with the configuration, as the daemon says.
func Reload(fs *flag.FlagSet) func(ctx context.Context, w io.Writer, socket string) error {
	raw := fs.Bool("json", false, "print JSON")
	return func(ctx context.Context, w io.Writer, socket string) error {
		r, err := control.Ask[control.Report](ctx, socket, http.MethodPost, "/reload")
		if err != nil {
			return err
		}
		if *raw {
			return printJSON(w, r)
		}
		switch {
		case len(r.Live) > 0:
			fmt.Fprintf(w, "in force: %s\n", strings.Join(r.Live, ", "))
		case len(r.Restart) == 0:
			fmt.Fprintln(w, "read anew; no key has another value. Tokens were read, too.")
		}
		if len(r.Restart) > 0 {
			fmt.Fprintf(w, "after a restart: %s\n", strings.Join(r.Restart, ", "))
		}
		for _, line := range r.Warnings {
			fmt.Fprintf(w, "warning: %s\n", line)
		}
		return nil
	}
}

// Status shows how the daemon at a socket is.
//
// # Errors
//
// control.ErrNobody.
func Status(fs *flag.FlagSet) func(ctx context.Context, w io.Writer, socket string) error {
	raw := fs.Bool("json", false, "print JSON")
	return func(ctx context.Context, w io.Writer, socket string) error {
		s, err := control.Ask[control.Status](ctx, socket, http.MethodGet, "/status")
		if err != nil {
			return err
		}
		if *raw {
			return printJSON(w, s)
		}
		show(w, s)
		return nil
	}
}

func show(w io.Writer, s control.Status) {
	fmt.Fprintf(w, "companiond %s, process %d, since %s\n", s.Version, s.PID, s.Since)
	fmt.Fprintf(w, "listens at %s\n%d companions, %d handlers, %d rooms awake, WebAssembly is %s\n", s.Listen, s.Companions, s.Handlers, s.Rooms, s.Engine)
	if len(s.Restart) > 0 {
		fmt.Fprintf(w, "waits for a restart: %s\n", strings.Join(s.Restart, ", "))
	}
	for _, f := range s.Faults {
		fmt.Fprintf(w, "fault: %s\n", f)
	}
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
