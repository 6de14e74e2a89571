package history

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/web/past"
	"github.com/companiond/companiond/host/history"
)

// usual is the room where nobody names one.
const usual = "main"

// about is what the flags of nearly all say: about which room, and whether a program reads it.
type about struct {
	room string
	json bool
	with []string // other rooms that are asked about
}

func (a *about) flags(fs *flag.FlagSet) {
	fs.StringVar(&a.room, "room", usual, "`name` of the room")
	fs.BoolVar(&a.json, "json", false, "print JSON, as the daemon has it")
}

// typed is what to type to do something in the same room.
func (a about) typed(sub string, args ...string) string {
	words := []string{"companiond history", sub}
	if a.room != usual {
		words = append(words, "-room", quoted(a.room))
	}
	return strings.Join(append(words, args...), " ")
}

// longest is how long a policy may be that is typed again in one line.
const longest = 300

// anew is what to type to ask for the same turns again, with what was asked for: the policy and the length, and who does it where that is not
// model. A policy that is long, or has lines, is named by where it is to be read.
func (a about) anew(c past.Compression) string {
	args := []string{c.Turns.String()}
	switch {
	case c.Policy == "":
	case utf8.RuneCountInString(c.Policy) > longest || strings.ContainsFunc(c.Policy, func(r rune) bool { return !unicode.IsPrint(r) && r != '\u3000' }):
		args = append(args, "-policy-file", "FILE")
	default:
		args = append(args, "-policy", quoted(c.Policy))
	}
	if c.Length > 0 {
		args = append(args, "-length", strconv.Itoa(c.Length))
		if c.Unit == string(history.Tokens) {
			args = append(args, "-unit", c.Unit)
		}
	}
	switch c.Compresser {
	case "":
		args = append(args, "-text", "FILE")
	case model:
	default:
		args = append(args, "-by", quoted(c.Compresser))
	}
	if c.Verifier != model {
		args = append(args, "-verify", quoted(c.Verifier))
	}
	typed := a.typed("compress", args...)
	if slices.Contains(args, "-policy-file") {
		typed += " (the policy is in " + a.typed("show", c.ID) + ")"
	}
	return typed
}

// model is who drafts and verifies where nobody is named.
const model = "model"

// quoted writes a word so that a shell takes it for one, letter by letter.
func quoted(word string) string {
	plain := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./", r) }
	if word != "" && strings.TrimFunc(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// path is that of something in the room.
func (a about) path(parts ...string) string {
	p := "/v1/rooms/" + url.PathEscape(a.room)
	for _, part := range parts {
		p += "/" + url.PathEscape(part)
	}
	return p
}

// ask asks the daemon, and says what to type where it refuses.
func (d Desk) ask(ctx context.Context, a about, method, path string, in, out any) error {
	err := d.Call(ctx, method, path, in, out)
	if err == nil {
		return nil
	}
	if left, other := strings.CutPrefix(err.Error(), "with: there is no "); other {
		err = errors.New("room: there is no " + left)
	}
	if d.Rooms != nil {
		for _, room := range append(a.with, a.room) {
			err = d.Rooms(ctx, room, err)
		}
	}
	return a.inWords(err)
}

// inWords says what to type where the daemon refuses something about history.
func (a about) inWords(err error) error {
	words := err.Error()
	for _, place := range []struct{ at, typed string }{
		{"path.", ""}, {"query.", ""}, {"body.", ""}, {"target_length: ", "-length: "}, {"unit: ", "-unit: "}, {"policy: ", "-policy: "}, {"compresser: ", "-by: "}, {"verifier: ", "-verify: "},
		{"text: ", "-text: "}, {"why: ", "-why: "}, {"turns: ", "TURNS: "}, {"proposal: ", ""}, {"name: ", "NAME: "}, {"turn: ", "-at: "},
	} {
		if left, found := strings.CutPrefix(words, place.at); found {
			words = place.typed + left
		}
	}
	switch {
	case strings.Contains(words, `there is nothing at "/v1/`):
		return errors.New("the daemon has no turns and forks; is it an older one?")
	case strings.Contains(words, "are told as one text"):
		words += "; " + a.typed("show") + " says which, and with -original show and export take any"
	case strings.Contains(words, "is none of a person"):
		words += "; put a person's into the environment as COMPANIOND_TOKEN (companiond token NAME -kind human makes one)"
	case strings.Contains(words, "takes no further draft"):
		words += ": " + a.typed("show") + " says what may be done"
	case strings.Contains(words, "approve or deny that one first"):
		words += ": " + a.typed("show") + " lists it"
	case strings.Contains(words, "do not say any more what they said"):
		words += ": " + a.typed("compress", "TURNS")
	}
	if words == err.Error() {
		return err // which may be worth another exit code
	}
	return errors.New(words)
}

// coded gives an error an exit code of its own.
func (d Desk) coded(code int, err error) error {
	if d.Coded == nil {
		return err
	}
	return d.Coded(code, err)
}

// compressions gives all of a room, newest first, without their texts.
func (d Desk) compressions(ctx context.Context, a about) ([]past.Compression, error) {
	var out struct{ Compressions []past.Compression }
	err := d.ask(ctx, a, http.MethodGet, a.path("compressions"), nil, &out)
	return out.Compressions, err
}

// idOf gives the id of the compression that somebody names by it, or by its first letters; "" where none
// has it.
func idOf(all []past.Compression, typed string) string {
	id := ""
	for _, c := range all {
		if c.ID == typed {
			return c.ID
		}
		if typed != "" && strings.HasPrefix(c.ID, typed) {
			if id != "" {
				return "" // of several, none
			}
			id = c.ID
		}
	}
	return id
}

// one gives the compression that somebody names, with its texts.
func (d Desk) one(ctx context.Context, a about, typed string) (c past.Compression, err error) {
	all, err := d.compressions(ctx, a)
	if err != nil {
		return c, err
	}
	id := idOf(all, typed)
	if id == "" {
		return c, fmt.Errorf("no compression in %s is %q, or one alone begins so; %s lists them, and -room says where else to look", a.room, typed, a.typed("show"))
	}
	err = d.ask(ctx, a, http.MethodGet, a.path("compressions", id), nil, &c)
	return c, err
}

// rangeOf reads turns as somebody types them: 1-50, 1 50, 7, or 7- for all from there on, which has no end.
func rangeOf(args []string) (r history.Range, err error) {
	text := strings.Join(args, "-")
	if from, open := strings.CutSuffix(text, "-"); open && len(args) == 1 {
		if r.From, err = strconv.ParseUint(from, 10, 64); err == nil && r.From > 0 {
			return r, nil
		}
	}
	if r, err = history.ParseRange(text); err != nil {
		return r, fmt.Errorf("TURNS: %s", strings.TrimPrefix(abi.AsError(err).Message, "turns: "))
	}
	return r, nil
}

// isID says that somebody names a compression and no turns: no turn's number begins with 0, or has letters.
func isID(typed string) bool {
	return strings.HasPrefix(typed, "0") && len(typed) > 1 || strings.ContainsFunc(typed, func(r rune) bool { return r >= 'a' && r <= 'z' })
}

// laid gives what lies over turns, by range: of what was compressed again only the outermost.
func laid(all []past.Compression) (over []past.Compression) {
	for _, c := range all { // the newest first
		if c.State == string(history.Approved) && !slices.ContainsFunc(over, func(o past.Compression) bool { return o.Turns.Has(c.Turns) }) {
			over = append(over, c)
		}
	}
	slices.SortFunc(over, func(a, b past.Compression) int { return cmp.Compare(a.Turns.From, b.Turns.From) })
	return over
}

func (d Desk) printJSON(v any) error {
	enc := json.NewEncoder(d.Paint.Out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
