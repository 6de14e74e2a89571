// Package history has the verb about the history of rooms, with a subcommand for each thing
// that can be done with it.
//
// It asks the daemon, which says who may, and approves nothing before somebody at the terminal, or -yes, has said so. Where
// no daemon runs on this machine, search reads the journal itself and changes nothing there.
package history

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/cmd/companiond/paint"
)

// Desk is what the verb has to do with the outside.
type Desk struct {
	In    io.Reader // where an answer, or a text, is typed; nil: nothing comes
	Asks  bool      // somebody is there who can be asked
	Paint paint.Painter
	Err   io.Writer // where it is said how far something is
	// Call asks the daemon for JSON.
	Call func(ctx context.Context, method, path string, in, out any) error
	// Journal gives the path of the journal of this machine, "" where the daemon is somewhere else.
	Journal func() (string, error)
	// Parse reads flags, and leaves up to most arguments.
	Parse func(fs *flag.FlagSet, args []string, most int) (rest []string, err error)
	// Usage makes the error of whoever typed something that the verb does not take.
	Usage func(format string, args ...any) error
	// Coded gives an error the exit code that it is worth. nil: no error has one of its own.
	Coded func(code int, err error) error
	// Rooms adds the rooms that there are to the error of a daemon that does not know one. nil: nothing does.
	Rooms func(ctx context.Context, room string, err error) error
}

// Exit codes of what was asked for and is not to be had. Others are as with all verbs.
const (
	ExitRefused = 3   // no draft was verified
	ExitLeft    = 130 // nobody waited for the draft, as after ctrl-c; it is made all the same
)

// sub is one thing that can be done.
type sub struct {
	name, args, short string
	run               func(d Desk, ctx context.Context, fs *flag.FlagSet, args []string) error
}

// subs are all of them.
func subs() []sub {
	return []sub{
		{"show", "[-room NAME] [-original] [TURNS | ID]", "show turns with their numbers, or a compression with both texts", Desk.showVerb},
		{"search", "[-room NAME] [-n COUNT] [-from NAME] WORDS", "find what was said, newest first", Desk.search},
		{"compress", "[-room NAME] [-policy TEXT] [-length N] TURNS | -redraft ID -text FILE", "have turns drafted and verified as a shorter text", Desk.compress},
		{"approve", "[-room NAME] [-yes] ID", "have turns told so from now on", Desk.approve},
		{"deny", "[-room NAME] [-why TEXT] [-yes] ID", "leave turns as they are", Desk.deny},
		{"revert", "[-room NAME] [-why TEXT] [-yes] ID", "have turns told as they were again", Desk.revert},
		{"extract", "[-room NAME] ID", "take a draft of the turns' own sentences, where all drafts were refused", Desk.extract},
		{"fork", "[-room NAME] [-at TURN] [NAME]", "make a room of the past of this one, up to a turn", Desk.fork},
		{"branches", "[-room NAME]", "list a room, what it was forked of, and all forks", Desk.branches},
		{"diff", "A B", "show the turns of two rooms behind the newest that both have", Desk.diff},
		{"export", "[-room NAME] [-format markdown|jsonl] [-original] [-o FILE] [TURNS]", "write turns into a file", Desk.export},
	}
}

// History does what the first argument names.
func (d Desk) History(ctx context.Context, fs *flag.FlagSet, args []string) error {
	fs.Usage = func() {
		fmt.Fprintf(fs.Output(), "%s\n\ncompaniond history VERB -h lists the flags of one. All of them have:\n\n", help())
		fs.PrintDefaults()
	}
	if len(args) > 0 {
		if i := slices.IndexFunc(subs(), func(s sub) bool { return s.name == args[0] }); i >= 0 {
			s := subs()[i]
			fs.Usage = func() {
				fmt.Fprintf(fs.Output(), "%s\n\n", s)
				fs.PrintDefaults()
			}
			return s.run(d, ctx, fs, args[1:])
		}
	}
	if _, err := d.Parse(fs, args, len(args)); err != nil { // -h, or a flag that stands too early
		return err
	}
	return d.Usage("do what? %s", help())
}

// help lists what can be done.
func help() string {
	var all []string
	for _, s := range subs() {
		all = append(all, s.String())
	}
	return strings.Join(all, "\n")
}

// String says how it is typed, and what it does.
func (s sub) String() string {
	return fmt.Sprintf("companiond history %s %s: %s", s.name, s.args, s.short)
}

// found is what the daemon answers a search with.
type found struct {
	Hits   []hit  `json:"hits"`
	Next   uint64 `json:"next,omitempty"`
	Behind bool   `json:"behind,omitempty"`
}

type hit struct {
	Room    string      `json:"room"`
	Message abi.Message `json:"message"`
	Turn    uint64      `json:"turn,omitempty"`
}

// everywhere is the room of whoever searches in all.
const everywhere = "*"

// looking is what the flags of search say.
type looking struct {
	room, from, words string
	n                 int
	before            uint64
}

func (d Desk) search(ctx context.Context, fs *flag.FlagSet, args []string) error {
	var l looking
	fs.StringVar(&l.room, "room", "", "`name` of the room; all rooms when empty, or *")
	fs.StringVar(&l.from, "from", "", "only what this `name` said")
	fs.IntVar(&l.n, "n", 20, "at most so `many`, 1 to 100")
	fs.Uint64Var(&l.before, "before", 0, "what comes behind a page: the `number` that it gave")
	raw := fs.Bool("json", false, "print JSON, as the daemon has it")
	rest, err := d.Parse(fs, args, len(args))
	if err != nil {
		return err
	}
	if l.room == everywhere {
		l.room = ""
	}
	if l.words = strings.Join(rest, " "); strings.TrimSpace(l.words) == "" {
		return d.Usage("search for what? companiond history search WORDS")
	}
	f, err := d.find(ctx, l)
	if err != nil {
		return explain(err)
	}
	if *raw {
		enc := json.NewEncoder(d.Paint.Out)
		enc.SetIndent("", "  ")
		return enc.Encode(f)
	}
	return d.found(l, f)
}

// find asks the daemon, or the journal where none runs here.
func (d Desk) find(ctx context.Context, l looking) (f found, err error) {
	q := url.Values{"q": {l.words}, "limit": {fmt.Sprint(l.n)}}
	if l.from != "" {
		q.Set("from", l.from)
	}
	if l.before > 0 {
		q.Set("before", fmt.Sprint(l.before))
	}
	path := "/v1/search?"
	if l.room != "" {
		path = "/v1/rooms/" + url.PathEscape(l.room) + "/search?"
	}
	err = d.Call(ctx, http.MethodGet, path+q.Encode(), nil, &f)
	var nobody *net.OpError
	if err == nil || !errors.As(err, &nobody) || d.Journal == nil {
		return f, err
	}
	file, ferr := d.Journal()
	if ferr != nil || file == "" {
		return f, errors.Join(err, ferr)
	}
	return d.here(ctx, file, l)
}

// found shows what was found.
func (d Desk) found(l looking, f found) error {
	for _, h := range f.Hits {
		room := h.Room
		if l.room != "" {
			room = ""
		}
		if err := d.Paint.Found(room, h.Turn, h.Message); err != nil {
			return err
		}
	}
	if len(f.Hits) == 0 && f.Next == 0 {
		fmt.Fprintln(d.Paint.Out, "nothing was found")
	}
	if f.Behind {
		fmt.Fprintln(d.Err, "companiond: the index is being made; the newest messages are not found yet")
	}
	if f.Next > 0 {
		fmt.Fprintf(d.Paint.Out, "there may be more: -before %d\n", f.Next)
	}
	return nil
}

// explain says what was typed where the daemon names what it was asked.
func explain(err error) error {
	words := err.Error()
	if strings.Contains(words, `there is nothing at "/v1/`) {
		return errors.New("the daemon cannot search; is it an older one?")
	}
	for place, typed := range map[string]string{"query.limit: ": "-n: ", "query.q: ": "WORDS: ", "query.before: ": "-before: "} {
		words = strings.ReplaceAll(words, place, typed)
	}
	if words == err.Error() {
		return err
	}
	return errors.New(words)
}
