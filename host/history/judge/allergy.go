package judge

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/companiond/companiond/host/history/alike"
	"github.com/companiond/companiond/host/history/marks"
	"github.com/companiond/companiond/host/memory/wording"
)

// allergy is one that a clause tells of. It forbids, as a sign, and is a statement besides: it is of something, and may be denied.
type allergy struct {
	of     []string // what it is of, in [marks.Plain] and small letters; none where the clause does not say it right there
	denied bool
	abroad bool // it is in English
	in     *piece
}

var (
	allergic = regexp.MustCompile(`アレルギー|\ballerg(?:y|ies|ic)\b`)
	// ofIt is what an allergy is of where that stands behind it, beforeIt and kanaBefore where it stands before it.
	ofIt       = regexp.MustCompile(`^ (?:(?:is|are|reactions?) )?(?:to|towards?|against) ([a-z][a-z' ,-]*)|^ ?(?:は|:|=) ?([\p{Han}\p{Katakana}ー]+(?:(?:と|や|・)[\p{Han}\p{Katakana}ー]+)*)(?:だけ|のみ|など|です|だ|で|。|$)`)
	beforeIt   = regexp.MustCompile(`([\p{Han}\p{Katakana}ー]+(?:(?:と|や|・|および|及び)[\p{Han}\p{Katakana}ー]+)*)(?:類|製品)?(?:の|に|への|に対する|に対して)?(?:食物)?$|\b([a-z]+(?:(?: and | or |/)[a-z]+)*) $`)
	kanaBefore = regexp.MustCompile(`(?:^|[^\p{Hiragana}]|[はがもを])(\p{Hiragana}{2,5}?)の?$`)
	// noThing is what stands there and is none that anybody can be allergic to.
	noThing = alike.Set(`重度 軽度 重 軽 食物 食品 食 娘 息子 子供 子 彼 彼女 妻 夫 私 僕 俺 母 父 弟 妹 姉 兄 全員 皆 客 参加者 種類 他 何 an the any no severe bad known serious food mild also very really strongly his her their my your our this that those these which some other highly badly terribly deadly get got become named called`)
	joining = regexp.MustCompile(`と|や|・|および|及び|/|,|\b(?:and|or|nor|as well as)\b`)
	behind  = regexp.MustCompile(`\b(?:but|so|because|since|which|who|that|when|while|though|is|are|was|were|likes?|has|have|had|does|can|cannot|must|should|may|will|he|she|they|we|i|for|at|in|with|on|from|anymore|any|then|too|either)\b`)

	// What denies an allergy: before it in English, behind it in both. What is said of a reason is not said of it.
	deniedBefore = regexp.MustCompile(`(?:\b(?:not|no|never|neither|nor|nobody|without|none|denie[sd]|deny|free (?:of|from)|used to (?:be|have)|outgr\w+)|n't|\bno (?:one|longer))((?: [a-z'-]+){0,6}) $|\bnon-$`)
	reasoned     = regexp.MustCompile(`\b(?:because|due|owing|given|for|as|since|with|but|and|so|who|which|if|only|just|eat|eats|have (?:any )?\w+ (?:to|for))\b`)
	deniedBehind = regexp.MustCompile(`^[^,.;]{0,40}?\b(?:is|was|are|were|has|had|turned out)(?:n't| not| no longer| gone| over| untrue| false| wrong| a (?:mistake|lie|joke)| to be (?:false|untrue|wrong)| denied| ruled out| cured)\b`)
	deniedThere  = regexp.MustCompile(`^(?:体質|持ち|症状|反応|など|等|の(?:人|方|子|もの|疑い|心配|症状|反応|類))?(?:(?:は|が|も|で|では|じゃ|を|なんて|なんか|という(?:わけ|こと|話)?|って|と|とか|[^、。はがも]{1,8}には)(?:、)?)*(?:特に|全く|まったく|一切|全然|別に|何も|実は|もう|今は|誰も|だれも)?(な(?:い|く(?:、|て$|な|$)|かっ|し(?:$|[。、で]))|無[いしく]|あり?ません|ございません|い(?:ない|ません|なかった)|(?:存在し|(?:確認|検出|診断)され|見つから|持た|持って|出|起き|起こら|発症し)(?:て)?(?:い)?(?:ない|ません|なく|なかった)|治|克服|嘘|うそ|誤り|間違い|デマ)`)
	spared       = regexp.MustCompile(`^(?:よう|なら|人|方は|か|と(?:は|も))`)
)

// allergies gives those that clauses tell of, with what each is of; what is asked is none.
func allergies(pieces []piece) (all []allergy) {
	for i := range pieces {
		p := &pieces[i]
		if !allergic.MatchString(p.plain) || marks.Read(p.text).Asks {
			continue
		}
		for _, at := range allergic.FindAllStringIndex(p.plain, alike.Together) {
			before, rest := p.plain[:at[0]], p.plain[at[1]:]
			a := allergy{in: p, abroad: p.plain[at[0]] < utf8.RuneSelf}
			a.of = things(before, rest)
			if a.abroad {
				m := deniedBefore.FindStringSubmatch(before)
				a.denied = m != nil && !reasoned.MatchString(m[1]) || deniedBehind.MatchString(rest)
			} else if at := deniedThere.FindStringIndex(rest); at != nil {
				a.denied = !spared.MatchString(rest[at[1]:])
			}
			all = append(all, a)
		}
	}
	return all
}

// things gives what an allergy is of, by what stands before and behind the word.
func things(before, rest string) (all []string) {
	of := ""
	if g := ofIt.FindStringSubmatch(rest); g != nil {
		of = g[1] + g[2]
		if at := behind.FindStringIndex(of); at != nil {
			of = of[:at[0]]
		}
	} else if g := beforeIt.FindStringSubmatch(before); g != nil {
		of = g[1] + g[2]
	} else if g := kanaBefore.FindStringSubmatch(before); g != nil && !strings.ContainsAny(g[1][len(g[1])-3:], "はがもにでをと") && !honoured(g[1]) {
		of = g[1]
	}
	for _, t := range joining.Split(of, -1) {
		words := slices.DeleteFunc(strings.Fields(t), func(w string) bool { return noThing[w] || len(alike.Units(w)) == 0 })
		if t = strings.Join(words, " "); t != "" && !noThing[t] {
			all = append(all, t)
		}
	}
	return all
}

func honoured(name string) bool {
	return strings.HasSuffix(name, "さん") || strings.HasSuffix(name, "くん") || strings.HasSuffix(name, "ちゃん")
}

// names says whether a text has a thing, as it is or by another of its names. One in katakana is no end of a longer word.
func names(plain, thing string) bool {
	own := wording.Things(thing)
	if slices.ContainsFunc(wording.Things(plain), func(n string) bool { return slices.Contains(own, n) }) {
		return true
	}
	if !alike.Japanese(thing) {
		words := alike.Units(thing)
		return alike.Shared(words, alike.Units(plain)) == len(words)
	}
	text, thing := kana(plain), kana(thing)
	for at := 0; ; {
		i := strings.Index(text[at:], thing)
		if i < 0 {
			return false
		}
		last, _ := utf8.DecodeLastRuneInString(plain[:at+i])
		first, _ := utf8.DecodeRuneInString(plain[at+i:])
		if !unicode.Is(unicode.Katakana, last) || !unicode.Is(unicode.Katakana, first) {
			return true
		}
		at += i + len(thing)
	}
}

// kana writes katakana as hiragana, in as many bytes.
func kana(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'ァ' && r <= 'ヶ' {
			return r - ('ァ' - 'ぁ')
		}
		return r
	}, text)
}

// allergy says what is wrong with how a draft tells the allergies of a text; "" for nothing, or none.
func (d *draft) allergy(text string) string {
	if !allergic.MatchString(strings.ToLower(marks.Plain(text))) || marks.Read(text).Unsettled {
		return ""
	}
	told := allergies(d.clauses)
	for _, own := range allergies(readDraft(text).clauses) {
		for _, of := range own.of {
			if why := d.tells(own, of, told); why != "" {
				return why
			}
		}
		if len(own.of) == 0 && len(told) > 0 && !slices.ContainsFunc(told, func(a allergy) bool { return a.denied == own.denied }) {
			return "it is " + denies(told[0]) + " there: " + told[0].in.text
		}
	}
	return ""
}

func denies(a allergy) string {
	if a.denied {
		return "denied"
	}
	return "not denied"
}

// tells says what is wrong with how a draft tells of one allergy to a thing.
func (d *draft) tells(own allergy, of string, told []allergy) string {
	var against *allergy
	others, known := false, len(wording.Things(of)) > 0
	for i := range told {
		a := &told[i]
		same := slices.ContainsFunc(a.of, func(o string) bool { return names(o, of) })
		if len(a.of) == 0 {
			same = names(a.in.plain, of) || d.nextTo(a.in, of)
		}
		if a.abroad != own.abroad && !known {
			same = true
		}
		switch {
		case same && a.denied == own.denied:
			return ""
		case same:
			against = a
		default:
			others = true
		}
	}
	if against != nil {
		return "it is " + denies(*against) + " there: " + against.in.text
	}
	if own.denied {
		return ""
	}
	for _, p := range d.pieces {
		if names(p.plain, of) && p.forbids("").Denies && !allergic.MatchString(p.plain) {
			return ""
		}
	}
	if others {
		return "the allergy is to something else there than " + of
	}
	return ""
}

// nextTo says whether a clause beside one has a thing.
func (d *draft) nextTo(p *piece, of string) bool {
	for i := range d.clauses {
		if &d.clauses[i] != p {
			continue
		}
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < len(d.clauses) && names(d.clauses[j].plain, of) {
				return true
			}
		}
	}
	return false
}
