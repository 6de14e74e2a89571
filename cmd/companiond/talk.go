package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/cmd/companiond/paint"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/door/socket/follow"
	"github.com/companiond/companiond/host/entry"
)

const (
	envURL   = "COMPANIOND_URL"
	envToken = "COMPANIOND_TOKEN"
)

// remote is a daemon that a verb talks to.
type remote struct {
	url, room, token string
	wrong            error  // why nobody knows where it is
	told             bool   // somebody has typed where
	starts           string // what to type that starts it
	tell             func() // says whose configuration says where, if that is not plain
}

// remoteFlags adds -url and -room.
func (t *term) remoteFlags(fs *flag.FlagSet) *remote {
	r := t.hostFlags(fs)
	fs.StringVar(&r.room, "room", "main", "`name` of the room")
	return r
}

// hostFlags adds -url.
func (t *term) hostFlags(fs *flag.FlagSet) *remote {
	r := &remote{token: t.getenv(envToken), tell: func() {}, starts: "companiond run"}
	if r.url, r.wrong = t.usualURL(); t.service != nil {
		r.starts = t.starts()
		r.tell = func() { t.named("") }
	}
	fs.Func("url", fmt.Sprintf("the daemon's `address` (default %s)", cmp.Or(r.url, "what door.listen says")), func(s string) error {
		r.url, r.wrong, r.tell, r.told = address(s), nil, func() {}, true
		return nil
	})
	return r
}

// address puts http:// before what has no scheme.
func address(s string) string {
	if strings.Contains(s, "://") {
		return s
	}
	return "http://" + s
}

// usualURL is where the daemon is when nobody says: where the environment does,
// or where the configuration lets it listen. One with mistakes says nothing: at the usual address
// there may be somebody else's.
func (t *term) usualURL() (string, error) {
	if u := t.getenv(envURL); u != "" {
		return address(u), nil
	}
	cfg, problems, err := t.configured("")
	if i := slices.IndexFunc(problems, func(p config.Problem) bool { return p.Severity == config.Error }); i >= 0 {
		err = errors.New(problems[i].String())
	}
	if err != nil {
		return "", coded{exitConfig, fmt.Errorf("%w; mend it, or say where the daemon is: -url ADDRESS or %s", err, envURL)}
	}
	host, port, err := net.SplitHostPort(cfg.Door.Listen)
	if addr, perr := netip.ParseAddr(host); err != nil || host == "" || perr == nil && addr.IsUnspecified() {
		host = "127.0.0.1"
	}
	return address(net.JoinHostPort(host, port)), nil
}

// header is what every request to the daemon has.
func (r *remote) header() http.Header {
	r.tell()
	h := http.Header{}
	if r.token != "" {
		h.Set("Authorization", "Bearer "+r.token)
	}
	return h
}

// call asks the daemon for JSON. path is below /v1/rooms/ROOM.
func (r *remote) call(ctx context.Context, method, path string, in, out any) error {
	return r.withRooms(ctx, r.room, r.do(ctx, method, "/v1/rooms/"+url.PathEscape(r.room)+path, in, out))
}

// withRooms adds the rooms there are to the error of a daemon that does not know
// the room.
func (r *remote) withRooms(ctx context.Context, room string, err error) error {
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("room: there is no %q", room)) {
		return err
	}
	var all struct {
		Rooms []struct{ Name string }
		Next  string
	}
	if r.do(ctx, http.MethodGet, "/v1/rooms?limit=20", nil, &all) != nil || len(all.Rooms) == 0 {
		return err
	}
	names := make([]string, len(all.Rooms))
	for i, there := range all.Rooms {
		names[i] = there.Name
	}
	if all.Next != "" {
		names = append(names, "...")
	}
	return fmt.Errorf("%w; rooms here: %s", err, strings.Join(names, ", "))
}

// do asks the daemon for JSON. path is whole.
func (r *remote) do(ctx context.Context, method, path string, in, out any) error {
	if r.wrong != nil {
		return r.wrong
	}
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(r.url, "/")+path, body)
	if err != nil {
		return fmt.Errorf("-url: %w", err)
	}
	req.Header = r.header()
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	switch {
	case err != nil && strings.Contains(err.Error(), "malformed HTTP"): // net/http has no name for it
		return stranger(req.URL, "speaks no HTTP")
	case err != nil:
		return fmt.Errorf("%w (is the daemon running? %s starts it)", err, r.starts)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")) // "" is another's
	if resp.StatusCode < 300 && json.Unmarshal(answer, out) == nil {
		return nil
	}
	why := detail(answer)
	switch {
	case resp.StatusCode < 300 || kind != "application/problem+json" || why == nil:
		return stranger(req.URL, fmt.Sprintf("answered %s, %s", resp.Status, cmp.Or(kind, "no content")))
	case resp.StatusCode == http.StatusUnauthorized:
		return withoutToken(why)
	}
	return why
}

// stranger says that a daemon is looked for where another program is, and how to say where it is.
func stranger(at *url.URL, does string) error {
	return fmt.Errorf("what listens at %s://%s is no companiond: it %s; say where the daemon is with -url ADDRESS, %s or listen under [door] in %s", at.Scheme, at.Host, does, envURL, defaultConfig)
}

// withoutToken says what to do where the daemon wants a token, or another one.
func withoutToken(err error) error {
	return fmt.Errorf("%w; put your token into the environment as %s (companiond token NAME makes one)", err, envToken)
}

// detail gives the words of a problem+json, nil where there are none.
func detail(body []byte) error {
	var p struct {
		Detail string `json:"detail"` // with what the fields are at fault for
	}
	if json.Unmarshal(body, &p) != nil || p.Detail == "" {
		return nil
	}
	return errors.New(p.Detail)
}

func sayVerb(t *term, ctx context.Context, args []string) error {
	fs := t.flags("say")
	r := t.remoteFlags(fs)
	from := fs.String("from", t.me(), "your `name`; with a token it is the token's")
	to := fs.String("to", "", "`names` of those you address, with commas")
	follow := fs.Bool("f", false, "show what is said then, until the room rests")
	rest, err := parse(fs, args, many)
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		return usage("say what? companiond say TEXT")
	}
	text := strings.Join(rest, " ")
	if text == "-" {
		if text, err = t.read(); err != nil {
			return err
		}
	}
	in := map[string]any{"from": *from, "text": text}
	if *to != "" {
		in["to"] = strings.Split(*to, ",")
	}
	var said struct{ Seq uint64 }
	if err := r.call(ctx, http.MethodPost, "/messages", in, &said); err != nil {
		return err
	}
	if !*follow {
		fmt.Fprintf(t.out, "#%d\n", said.Seq)
		return nil
	}
	here, loading, err := r.answering(ctx)
	for wait := 100 * time.Millisecond; err == nil && !here && !loading && wait < time.Second; wait *= 2 {
		select { // a room that was woken by this shows who is there a moment later
		case <-time.After(wait):
		case <-ctx.Done():
			return nil
		}
		here, loading, err = r.answering(ctx)
	}
	if err != nil {
		return err
	}
	if loading {
		fmt.Fprintln(t.err, "companiond: the characters are being loaded; they answer when they are there")
	}
	alone := !here && !loading
	if !alone {
		err = t.follow(ctx, r, said.Seq-1, t.painter(false), func(e entry.Entry) bool {
			alone = e.Seq > said.Seq && nobodyCame(e)
			return alone || rests(e)
		})
	}
	if alone {
		fmt.Fprintf(t.err, "companiond: said as #%d, but no character is in the room to answer\n", said.Seq)
	}
	return err
}

// read gives what comes on standard input, without the end of its last line.
func (t *term) read() (string, error) {
	if t.in == nil {
		return "", usage("- is what comes on standard input, and nothing does")
	}
	b, err := io.ReadAll(io.LimitReader(t.in, 2*abi.MaxText))
	text := strings.TrimRight(string(b), "\r\n")
	switch {
	case err != nil:
		return "", fmt.Errorf("read standard input: %w", err)
	case len(b) == 2*abi.MaxText || len(text) > abi.MaxText:
		return "", fmt.Errorf("what comes on standard input is longer than %d bytes", abi.MaxText)
	case strings.TrimSpace(text) == "":
		return "", usage("say what? Nothing came on standard input")
	}
	return text, nil
}

// answering looks into the room for characters who may answer, or will when they
// are loaded.
func (r *remote) answering(ctx context.Context) (here, loading bool, err error) {
	var room struct {
		Members []abi.Member
		Loading bool
	}
	if err := r.call(ctx, http.MethodGet, "", nil, &room); err != nil {
		return false, false, err
	}
	return slices.ContainsFunc(room.Members, func(m abi.Member) bool { return m.Kind != abi.KindHuman }), room.Loading, nil
}

// nobodyCame says whether an entry tells that all characters are loaded, and none of
// them is in the room.
func nobodyCame(e entry.Entry) bool {
	var c entry.Cast
	return e.Kind == entry.KindCast && json.Unmarshal(e.Body, &c) == nil && !c.Loading && len(c.Joined) == 0
}

// me is the name somebody talks by who gives none: with a token the token's,
// which the daemon knows.
func (t *term) me() string {
	if t.getenv(envToken) != "" {
		return ""
	}
	if u := t.getenv("USER"); abi.CheckName("from", u) == nil && u != "root" {
		return u
	}
	return "you"
}

func stopVerb(t *term, ctx context.Context, args []string) error {
	fs := t.flags("stop")
	r := t.remoteFlags(fs)
	from := fs.String("from", t.me(), "your `name`; with a token it is the token's")
	if _, err := parse(fs, args, 0); err != nil {
		return err
	}
	var out struct{ Seq uint64 }
	if err := r.call(ctx, http.MethodPost, "/stop", map[string]any{"from": *from}, &out); err != nil {
		return err
	}
	fmt.Fprintf(t.out, "stopped at #%d; say something to go on\n", out.Seq)
	return nil
}

func whyVerb(t *term, ctx context.Context, args []string) error {
	fs := t.flags("why")
	r := t.remoteFlags(fs)
	prompt := fs.Bool("prompt", false, "show also what language models were told")
	rest, err := parse(fs, args, many)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return usage("why what? companiond why SEQ")
	}
	seq, err := strconv.ParseUint(strings.TrimPrefix(rest[0], "#"), 10, 64)
	if err != nil {
		return usage("%q is not the number of an entry", rest[0])
	}
	var why struct{ Text string }
	err = r.call(ctx, http.MethodGet, fmt.Sprintf("/entries/%d/why", seq), nil, &why)
	switch {
	case err == nil:
		fmt.Fprintln(t.out, strings.TrimRight(why.Text, "\n"))
		if !*prompt {
			return nil
		}
		fmt.Fprintln(t.out)
	case !*prompt || !strings.HasPrefix(err.Error(), "seq: "):
		return err
	}
	failed := t.desk(r).Prompts(ctx, r.room, seq)
	if err != nil && failed == nil { // models are asked also about what leads to no decision
		fmt.Fprintln(t.err, "companiond:", err)
	}
	return failed
}

func tailVerb(t *term, ctx context.Context, args []string) error {
	fs := t.flags("tail")
	r := t.remoteFlags(fs)
	since := fs.Int64("since", -1, "show entries behind this `number`; -1 means from a few messages back")
	n := fs.Int("n", 10, "how many `messages` back to begin")
	votes := fs.Bool("votes", true, "show who asked for the floor and who got it")
	raw := fs.Bool("json", false, "print the room's entries as they are, a line of JSON each")
	if _, err := parse(fs, args, 0); err != nil {
		return err
	}
	from := uint64(max(0, *since))
	if *since < 0 {
		var err error
		if from, err = r.back(ctx, *n); err != nil {
			return err
		}
	}
	p := t.painter(*votes)
	p.Raw = *raw
	return t.follow(ctx, r, from, p, func(entry.Entry) bool { return false })
}

// back finds where the last n messages begin.
func (r *remote) back(ctx context.Context, n int) (uint64, error) {
	var room struct{ Head uint64 }
	if err := r.call(ctx, http.MethodGet, "", nil, &room); err != nil {
		return 0, err
	}
	span := uint64(8 * (n + 1)) // a turn is about six entries
	since := room.Head - min(room.Head, span)
	var p struct{ Messages []abi.Message }
	if r.call(ctx, http.MethodGet, fmt.Sprintf("/messages?limit=1000&since=%d", since), nil, &p) != nil {
		return since, nil // follow tells which entry cannot be read
	}
	if len(p.Messages) > n && n > 0 {
		return p.Messages[len(p.Messages)-n].Seq - 1, nil
	}
	return since, nil
}

// painter shows people what a verb has found, with votes also who asked for the floor.
func (t *term) painter(votes bool) paint.Painter {
	return paint.Painter{Out: t.out, Colour: t.colour, Votes: votes, Width: t.width}
}

// follow shows entries as they come, until ctx ends or the last one was shown.
func (t *term) follow(ctx context.Context, r *remote, since uint64, p paint.Painter, last func(entry.Entry) bool) error {
	if r.wrong != nil {
		return r.wrong
	}
	errRest := errors.New("the room rests")
	client := follow.Client{URL: r.url, Header: r.header(), Retry: func(err error, wait time.Duration) {
		fmt.Fprintf(t.err, "companiond: lost the daemon (%v); trying again in %v\n", err, wait.Round(time.Millisecond))
	}}
	client.Unreadable = func(first, last uint64, why error) {
		which := fmt.Sprintf("entry %d", first)
		if last > first {
			which = fmt.Sprintf("each of entries %d to %d", first, last)
		}
		fmt.Fprintf(t.err, "companiond: %s of room %s cannot be read: %v\n", which, r.room, why)
	}
	err := client.Follow(ctx, r.room, since, func(e entry.Entry) error {
		var bad paint.Unreadable
		if err := p.Entry(e); errors.As(err, &bad) {
			client.Unreadable(e.Seq, e.Seq, bad)
		} else if err != nil {
			return err
		}
		if last(e) {
			return errRest
		}
		return nil
	})
	var refused *abi.Error
	switch {
	case errors.Is(err, errRest) || (ctx.Err() != nil && errors.Is(err, ctx.Err())):
		return nil
	case errors.As(err, &refused) && refused.Code == abi.CodeDenied && strings.HasPrefix(refused.Message, "token: "):
		return withoutToken(errors.New(refused.Message))
	case refused != nil && refused.Code == abi.CodeNotFound:
		return r.withRooms(ctx, r.room, errors.New(refused.Message))
	}
	return err
}

// rests says whether nobody is going to speak after this entry.
func rests(e entry.Entry) bool {
	var d entry.Decision
	last := []entry.Outcome{entry.OutcomeSilence, entry.OutcomeAbsent, entry.OutcomeClosed, entry.OutcomeCapped, entry.OutcomeStopped}
	return e.Kind == entry.KindDecision && json.Unmarshal(e.Body, &d) == nil && slices.Contains(last, d.Outcome)
}
