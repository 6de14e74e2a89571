package alike

import (
	"regexp"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history/marks"
)

// People are those that speak in some turns, and those that they speak of, by their names in small letters.
type People struct {
	names []string          // of those that speak, at most [mostPeople]
	words map[string]bool   // in Latin letters
	By    map[uint64]string // who said a turn
}

const mostPeople = 100

// Heard gives those that speak in some turns, and of texts of which the sure names are known by their marks.
func Heard(turns []abi.PastTurn, all ...[]marks.Mark) People {
	p := People{words: map[string]bool{}, By: map[uint64]string{}}
	for _, t := range turns {
		name := honorific.ReplaceAllString(strings.ToLower(marks.Plain(t.From)), "")
		if p.By[t.N] = name; name != "" && len(p.names) < mostPeople && !slices.Contains(p.names, name) {
			p.names = append(p.names, name)
			p.name(name)
		}
	}
	for _, found := range all {
		for _, m := range found {
			if m.Kind == marks.Name && m.Sure {
				p.name(m.Key)
			}
		}
	}
	return p
}

func (p *People) name(name string) {
	for w := range strings.FieldsSeq(name) {
		if !Japanese(w) {
			p.words[w] = true
		}
	}
}

// Pair says who does something to whom, as a clause says it.
type Pair struct {
	Agent, Other string
	role         string          // the particle of the other, in Japanese
	does         map[string]bool // words of what is done
	gets         bool            // the verb is one of getting: もらう, 渡される
}

// Same says whether two say the same of the same two, and turned whether of these the other way round.
func (p Pair) Same(o Pair) (same, turned bool) {
	if Shared(p.does, o.does) == 0 || p.gets != o.gets {
		return false, false
	}
	return p.Agent == o.Agent && p.Other == o.Other, p.Agent == o.Other && p.Other == o.Agent && p.role == o.role
}

var (
	honorific = regexp.MustCompile(`(?:さん|ちゃん|くん|君|様|氏)$`)
	particle  = regexp.MustCompile(`^(?:さん|ちゃん|くん|君|様|氏)?(が|は|も|に|へ|を)`)
	oneself   = regexp.MustCompile(`(?:私|僕|俺|わたし|ぼく|おれ)(が|は|も|に|へ|を)`)
	getting   = regexp.MustCompile(`れ(?:る|た|て|ます|ない)|もら|いただ|頂|受け|預か|借り|教わ`)
	han       = regexp.MustCompile(`[\p{Han}々]{1,4}|[\p{Katakana}ー]{2,}`)
	// mutual is what two do to each other.
	mutual = Set(`meet meeting marry talk speak agree chat discuss work play share 会 話 似 合`)
	word   = regexp.MustCompile(`[A-Za-z][A-Za-z'-]*`)
	selves = map[string]bool{"i": true, "i'll": true, "i'm": true, "i've": true, "i'd": true, "me": true}
)

// Pairs reads who does what to whom in a clause, of which the marks are; from is who says it, if it may say I.
func (p People) Pairs(clause string, all []marks.Mark, from string) []Pair {
	if Japanese(clause) {
		return p.byParticles(strings.ToLower(marks.Plain(clause)), all, from)
	}
	return p.byOrder(marks.Plain(clause), from)
}

// byParticles: 田中さんが鈴木さんに鍵を渡す.
func (p People) byParticles(plain string, found []marks.Mark, from string) (all []Pair) {
	roles, end := map[string]string{}, 0
	add := func(name, role string, to int) {
		if before, ok := roles[name]; ok && before != role {
			role = "" // it has two
		}
		roles[name], end = role, max(end, to)
	}
	for _, m := range found {
		if g := particle.FindStringSubmatch(plain[min(m.To, len(plain)):]); g != nil && m.Kind == marks.Name && !m.Weak {
			add(m.Key, role(g[1]), m.To+len(g[0]))
		}
	}
	for _, name := range p.names {
		i := strings.Index(plain, name)
		if _, ok := roles[name]; ok || i < 0 {
			continue
		}
		if g := particle.FindStringSubmatch(plain[i+len(name):]); g != nil {
			add(name, role(g[1]), i+len(name)+len(g[0]))
		}
	}
	if at := oneself.FindStringSubmatchIndex(plain); at != nil && from != "" {
		add(from, role(plain[at[2]:at[3]]), at[1])
	}
	rest := plain[min(end, len(plain)):]
	for _, m := range found {
		rest = strings.ReplaceAll(rest, strings.ToLower(m.Text), " ")
	}
	rest = rest[strings.LastIndex(rest, "を")+1:]
	does := map[string]bool{}
	if verb := han.FindString(rest); verb != "" && !mutual[verb] {
		does[verb] = true
	}
	for agent, a := range roles {
		for other, b := range roles {
			if a == "が" && b != "が" && b != "" && agent != other {
				all = append(all, Pair{agent, other, b, does, getting.MatchString(rest)})
			}
		}
	}
	return all
}

// role gives the particle that stands for those of one kind.
func role(of string) string {
	switch of {
	case "は", "も":
		return "が"
	case "へ":
		return "に"
	}
	return of
}

// byOrder: Mika pays Taro.
func (p People) byOrder(text, from string) []Pair {
	type agent struct {
		name     string
		from, to int
	}
	var agents []agent
	for _, at := range word.FindAllStringIndex(text, -1) {
		w := strings.ToLower(text[at[0]:at[1]])
		switch n := len(agents); {
		case selves[w] && from != "":
			agents = append(agents, agent{strings.Fields(from)[0], at[0], at[1]})
		case !p.words[w]:
		case n > 0 && text[agents[n-1].to:at[0]] == " ": // Kenji Watanabe
			agents[n-1].to = at[1]
		default:
			agents = append(agents, agent{w, at[0], at[1]})
		}
	}
	if len(agents) != 2 || agents[0].name == agents[1].name {
		return nil
	}
	between := text[agents[0].to:agents[1].from]
	does := map[string]bool{}
	for _, w := range Words(between) {
		if !mutual[w] {
			does[w] = true
		}
	}
	one := Pair{Agent: agents[0].name, Other: agents[1].name, does: does}
	fields := strings.Fields(strings.ToLower(between))
	if len(fields) == 0 {
		return nil
	}
	switch fields[len(fields)-1] {
	case "by":
		one.Agent, one.Other = one.Other, one.Agent
	case "from", "of", "and", "or", "with", "than":
		return nil
	}
	return []Pair{one}
}
