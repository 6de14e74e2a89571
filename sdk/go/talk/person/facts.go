package person

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/sdk/go/words"
)

// What a character may bring up of what a person told.
const (
	Pet   = "pet"
	Like  = "like"
	Plan  = "plan"  // its day is still to come
	Went  = "went"  // its day is past
	Topic = "topic" // of the visit before
)

// Told are all of them, as scripts name them.
func Told() []string { return []string{Pet, Like, Plan, Went, Topic} }

// Fact is one thing that a person told.
type Fact struct {
	ID    string
	Kind  string // one of [Told], or "" for what is only given when asked for
	It    string // what it is: the pet's name, the thing that is liked; "" for plans
	Quote string // the words of the person, or what somebody wrote in their place
	Name  string // the person's own
}

// longestQuote is how many characters of what somebody said are repeated.
const longestQuote = 60

// Facts reads what the daemon remembers of a person, in the language of the talk; now tells plans that are past from others.
func Facts(memories []abi.Memory, who string, lang words.Lang, now time.Time) (all []Fact) {
	for _, m := range memories {
		if m.Kind != abi.MemoryFact || !m.ValidTo.IsZero() || m.SaidBy != who && !slices.Contains(m.About, who) {
			continue
		}
		f := Fact{ID: m.ID, Quote: tidy(m.Quote)}
		if f.Quote == "" {
			f.Quote = tidy(m.Text)
		}
		f.read(m, now)
		if f.Name == "" && words.Language(f.Quote) != lang {
			continue
		}
		all = append(all, f)
	}
	return all
}

// read takes out of a memory's text what it says, as the daemon's rules write it.
func (f *Fact) read(m abi.Memory, now time.Time) {
	has := func(key string) bool { return slices.Contains(m.Keys, key) }
	text := m.Text
	switch {
	case has("plan") && len(text) > len(time.DateOnly):
		day, err := time.ParseInLocation(time.DateOnly, text[:len(time.DateOnly)], now.Location())
		switch {
		case err != nil:
		case now.Before(day.AddDate(0, 0, 1)):
			f.Kind = Plan
		default:
			f.Kind = Went
		}
	case has("pet") && has("name"):
		f.Kind, f.It = Pet, behind(text, "の名前は", " called ")
	case has("name"):
		if strings.HasPrefix(text, "名前は") || strings.HasPrefix(text, "is called ") {
			f.Name = behind(text, "名前は", "is called ")
		}
	default:
		if what, ok := strings.CutSuffix(text, "が好き"); ok {
			f.Kind, f.It = Like, what
		} else if what, ok := strings.CutPrefix(text, "likes "); ok {
			f.Kind, f.It = Like, what
		}
	}
	if f.Kind == Pet && f.It == "" || utf8.RuneCountInString(f.It) > longestQuote/2 {
		f.Kind, f.It = "", ""
	}
}

func behind(text string, marks ...string) string {
	for _, m := range marks {
		if _, rest, ok := strings.Cut(text, m); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// tidy gives what can be repeated between quotation marks, "" for what cannot.
func tidy(quote string) string {
	quote = strings.TrimRight(strings.TrimSpace(quote), "。.!！、,♪ ")
	if strings.ContainsAny(quote, "「」\"{}\n") || utf8.RuneCountInString(quote) > longestQuote {
		return ""
	}
	return quote
}

// Earlier gives what a person said before in the same talk that has most to do with a question, "" where nothing has.
func Earlier(question string, said []string) (best string) {
	most := 0.18
	for _, text := range said {
		if words.Question(text) || tidy(text) == "" {
			continue
		}
		if like := words.Similarity(question, text); like >= most {
			best, most = tidy(text), like
		}
	}
	return best
}
