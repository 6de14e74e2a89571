// Package extract finds by rules, without a model, what people said that is worth
// remembering: facts about themselves in Japanese and English, and what a talk was about.
//
// It reads only what people said and never what companions or agents did, quoted words, questions,
// what is supposed, denied, hoped or joked. A fact too few is better than one that is
// not true: each has the exact words that it rests on.
package extract

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/dates"
	"github.com/companiond/companiond/host/memory/doubt"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/memory/wording"
)

// Facts gives what people said of themselves in these turns, in their order. known are
// facts of theirs that are so, which a correction may be about.
func Facts(turns []fact.Turn, known []fact.Fact) []fact.New {
	r, last := reader{known: known}, map[string]uint64{}
	told := map[string]int{} // the last turn in which somebody spoke of others
	for i, t := range turns {
		if t.By != abi.KindHuman {
			continue
		}
		if doubt.Joke(t.Text) {
			r.takeBack(t.From, last[t.From])
		}
		r.turn, last[t.From] = t, t.Seq
		before, ok := told[t.From]
		r.others, r.asked, r.pet = false, "", ""
		r.told = ok && i-before <= 2 // in two messages, or with a word of another's between
		if i > 0 && turns[i-1].From != t.From {
			r.others = others.MatchString(turns[i-1].Text) && !tellsOfOwn(turns[i-1])
			r.asked = turns[i-1].Text
		}
		if r.read(); r.others {
			told[t.From] = i
		}
	}
	return r.found
}

// reader goes through turns.
type reader struct {
	known  []fact.Fact
	found  []fact.New
	turn   fact.Turn
	others bool   // somebody else is spoken of, so that what has no subject may be theirs
	told   bool   // the same of what they said themselves just before
	asked  string // what somebody said before
	pet    string // the animal of theirs that the clause before told of: its name may follow
}

// Nobody tells of themselves in sentences that are longer, nor in more of them; and the rules
// take more than twice as long for one that is twice as long.
const (
	longest = 500 // bytes of a sentence
	most    = 60  // sentences of a turn
)

// claim is what a clause says of whoever said it.
type claim struct {
	slot, value string
	text        string
	keys        []string
	importance  int
	corrects    []string
}

// tellsOfOwn says whether somebody told of their own family and animals: what somebody else says next without a
// subject is of that one, and not of those.
func tellsOfOwn(t fact.Turn) bool {
	asks := func(s doubt.Sentence) bool { return s.Why == doubt.Asks }
	return t.By == abi.KindHuman && (own.MatchString(t.Text) || !notOwn.MatchString(t.Text)) && !slices.ContainsFunc(doubt.Sentences(t.Text), asks)
}

var (
	own    = regexp.MustCompile(selfWords + `(?:の|には?)|我が家|(?i:\b(?:my|our|i have|i['’]ve|we have) )`)
	notOwn = regexp.MustCompile(`さん|ちゃん|くん|様|彼|君|あなた|推し|先輩|後輩|上司|部長|同僚|先生|友|とも|よね|でしょ|じゃん|(?i:\b(?:he|she|they|his|her|their|you|your)\b)`)
)

// takeBack drops what somebody has said in a turn that they now say was a joke.
func (r *reader) takeBack(who string, seq uint64) {
	r.found = slices.DeleteFunc(r.found, func(f fact.New) bool { return f.SaidBy == who && f.Turns[0] == seq })
}

// read goes through one turn.
func (r *reader) read() {
	sentences := doubt.Sentences(r.turn.Text)
	for i, s := range sentences {
		if s.Why != "" || len(s.Text) > longest || i >= most {
			r.others = others.MatchString(s.Text)
			continue
		}
		before := ""
		if i > 0 && sentences[i-1].Why == "" {
			before = sentences[i-1].Text
		}
		from := len(r.found)
		whole := r.sentence(s)
		for _, c := range clauses(s.Text) {
			if whole {
				break
			}
			r.clause(s, c)
		}
		r.remember(s, before, from)
		r.others = r.others || others.MatchString(s.Text)
	}
}

// sentence reads what takes a whole sentence: plans, promises and corrections; done says
// that its clauses say nothing more.
func (r *reader) sentence(s doubt.Sentence) (done bool) {
	if c, ok := r.correction(s.Text); ok {
		r.add(c, s)
		return true
	}
	if c, denies, ok := r.denial(s.Text); denies {
		if ok {
			r.add(c, s)
		}
		return true
	}
	if c, over, ok := r.over(s.Text); over {
		if ok {
			r.add(c, s)
		}
		return true
	}
	if c, ok := r.plan(s.Text); ok {
		r.add(c, s)
		return true
	}
	if c, ok := promise(s.Text); ok {
		r.add(c, s)
		return true
	}
	return false
}

// clause reads one clause by the rules. One that says what somebody is called says nothing else.
func (r *reader) clause(s doubt.Sentence, c string) {
	if self.MatchString(c) {
		r.others, r.told = false, false
	}
	pet := r.pet
	if r.pet = ""; pet != "" {
		if m := theirName().FindStringSubmatch(c); m != nil {
			if found, ok := petNameJa(pet, m[1]); ok && sensible(found.value) {
				r.add(found, s)
				return
			}
		}
	}
	if m := theirPet().FindStringSubmatch(c); m != nil && !r.others {
		r.pet = m[1]
	}
	for _, rule := range rules() {
		m := rule.pattern.FindStringSubmatch(c)
		if m == nil || rule.own && r.others || rule.each && r.told || rule.greets && !greets.MatchString(r.turn.Text) || rule.alone && !strings.HasPrefix(strings.TrimSpace(r.turn.Text), c) {
			continue
		}
		if found, ok := rule.claim(m); ok && sensible(found.value) {
			r.add(found, s)
			if rule.last {
				break
			}
		}
	}
	if c, ok := r.answer(c); ok {
		r.add(c, s)
	}
	r.others = r.others || others.MatchString(c)
}

// theirPet is a clause about an animal that somebody has now, theirName one behind it that says no more than a name.
// They are made as [rules] are.
var (
	theirPet = sync.OnceValue(func() *regexp.Regexp {
		return ja(`(?:ところで、?)?(?:<SELF>(?:で|に)?(?:は|も)?、?|家(?:で|に)(?:は)?)?<ANIMAL>(?:を|も|が)?(?:[0-9０-９一二三四五][匹羽])?(?:飼って(?:い?ます|い?る|い?て)|飼い(?:始め|はじめ)(?:まし)?[たて]|飼っ[たて]|拾っ[たて]|拾いました|迎え(?:まし)?[たて]|もらっ[たて]|もらいました)<END>`)
	})
	theirName = sync.OnceValue(func() *regexp.Regexp {
		return ja(`(?:(?:その子|この子|その猫|その犬)の)?名前は、?<NAME><ENDN>`)
	})
)

// sensible says whether a value can be one: neither empty, nor a pronoun, nor what says that there is none.
func sensible(value string) bool {
	return value != "" && utf8.RuneCountInString(value) <= 40 && !nothing.MatchString(value)
}

// add puts a claim among what was found.
func (r *reader) add(c claim, s doubt.Sentence) {
	m := abi.Memory{
		Kind: abi.MemoryFact, Text: c.text, Quote: r.turn.Text[s.From:s.To], About: []string{r.turn.From}, Keys: keys(c),
		Room: r.turn.Room, Turns: []uint64{r.turn.Seq}, SaidBy: r.turn.From, SaidAt: r.turn.At, Importance: c.importance,
	}
	if len(m.Quote) > abi.MaxMemoryText || len(m.Text) > abi.MaxMemoryText {
		return
	}
	for _, f := range r.found {
		if f.SaidBy == m.SaidBy && f.Turns[0] == m.Turns[0] && (f.Text == m.Text || c.slot != "" && f.Slot == c.slot && f.Value == c.value) {
			return
		}
	}
	r.found = append(r.found, fact.New{Memory: m, Slot: c.slot, Value: c.value, How: entry.HowRules, Corrects: c.corrects})
}

// keys gives what a claim is found by: what it says by itself, and the words of its value.
func keys(c claim) (all []string) {
	for _, k := range append(slices.Clone(c.keys), wording.Words(c.value)...) {
		if k != "" && len(k) <= abi.MaxName && !slices.Contains(all, k) && len(all) < abi.MaxMemoryKeys {
			all = append(all, k)
		}
	}
	return all
}

// remember reads 「覚えておいて」 and "remember that ...": what was said with it, or just before,
// is worth the most. from is where what the sentence itself says begins.
func (r *reader) remember(s doubt.Sentence, before string, from int) {
	m := remembers.FindStringSubmatch(s.Text)
	if m == nil || asksBack.MatchString(s.Text) {
		return
	}
	if len(r.found) > from {
		for i := range r.found[from:] {
			r.found[from+i].Importance = 5
		}
		return
	}
	what := strings.TrimFunc(strings.Join(m[1:], ""), blank)
	if this.MatchString(what) || utf8.RuneCountInString(what) < 4 {
		if n := len(r.found); n > 0 && r.found[n-1].Turns[0] == r.turn.Seq {
			r.found[n-1].Importance = 5
			return
		}
		what = strings.TrimFunc(before, blank)
	}
	if utf8.RuneCountInString(what) < 4 || !strings.Contains(r.turn.Text, what) {
		return
	}
	c := claim{text: what, importance: 5, keys: append(dayKeys(what, r.turn), wording.Words(what)...)}
	at := strings.Index(r.turn.Text, what)
	r.add(c, doubt.Sentence{From: at, To: at + len(what)})
}

func blank(c rune) bool { return strings.ContainsRune(" \t\n、。,.!！:：「」\"", c) }

// dayKeys gives the days that a text names as keys.
func dayKeys(text string, t fact.Turn) (keys []string) {
	for _, d := range dates.Find(text, t.At) {
		keys = append(keys, d.Key())
	}
	return keys
}

var (
	greets    = regexp.MustCompile(`(?i)^\W*(?:hi|hello|hey|nice to meet you|good (?:morning|evening|afternoon)|greetings)\b|\bnice to meet you\b`)
	remembers = regexp.MustCompile(`^(.*?)(?:って|という?こと|のこと|こと)?[をは、]?[ ]*(?:ちゃんと|絶対に?|ずっと|よく)?(?:覚えて|おぼえて|憶えて)(?:おいて|おけ|てね|て|ね|いて|ください|欲しい|ほしい)(?:ね|よ|ください|くれ|ほしい|欲しい|な)*[。!！♪ ]*$|^.*?(?:覚えて|おぼえて|憶えて)おいて(?:ほしい|欲しい|ください|ね|よ|な)*(?:んだけど|んですけど|けど|の)?[、,:： ]+(.+)$|(?i)^(?:(?:and|so|please|ok|okay|hey|oh|also|always|just|you must|you should)[, ]+)*(?:remember|don['’]t forget|keep in mind|note|never forget)(?: this)?(?: that|:|,)? (.*)$`)
	asksBack  = regexp.MustCompile(`(?i)(?:remember|forget) (?:that time|the time|the day|when|how|who|what|where|why|me|you|us|to)\b|覚えて(?:る|ます|いる|います|た|ない)`)
	this      = regexp.MustCompile(`(?i)^(?:これ|それ|このこと|そのこと|ちゃんと|絶対|this|that|it)?$`)
)
