package extract

import (
	"regexp"
	"slices"
	"strings"

	"github.com/companiond/companiond/host/memory/wording"
)

// not is how people put one thing right: the wrong one, the right one, and what it is of.
var not = []struct {
	pattern          *regexp.Regexp
	of, wrong, right int // groups
}{
	{regexp.MustCompile(`^(?:(?:違う|ちがう|違います|いや|いいえ|ううん|ごめん|訂正|実は|ああ|あ|えっと|ってか|というか|間違えた|まちがえた)(?:よ|って|ね|です|、|。|！|!|\s|ー|〜)*)*(?:(?:私|わたし|僕|ぼく|俺|うち)の)?(?:([^、は]{1,12}?)(?:は|、|って))?[「『]?([^、は「」『』]{1,15}?)[」』]?(?:じゃなくて|じゃなく|ではなくて|ではなく|でなく|じゃないよ|じゃない|ではないよ|ではありません)[、。！! ]*[「『]?([^、は「」『』]{1,15}?)[」』]?` + endName), 1, 2, 3},
	{regexp.MustCompile(`(?i)^(?:(?:no|nope|nah|actually|sorry|wait|oh|well|correction|my mistake|oops|not quite)[,.!:\s—-]+)*(?:(?:it|that|he|she|the name|his name|her name|my ([a-z ]{2,20}?)(?:['’]s name)?)(?:['’]s| is|['’]s called| is called| was| are)|i said|i meant|i mean)?[\s]*(?:called |named )?["“]?([\p{L}0-9' -]{1,25}?)["”]?,? (?:and )?not (?:called |named )?["“]?([\p{L}0-9' -]{1,25}?)["”]?[\s.!)]*$`), 1, 3, 2},
	{regexp.MustCompile(`(?i)^(?:(?:no|nope|nah|actually|sorry|wait|oh|well|correction)[,.!:\s—-]+)*(?:it|that|he|she|the name|his name|her name|my ([a-z ]{2,20}?)(?:['’]s name)?)(?:['’]s not| isn['’]t| is not| wasn['’]t)(?: called| named)? ["“]?([\p{L}0-9' -]{1,25}?)["”]?,? (?:but|it['’]s|it is|he['’]s|she['’]s|rather)(?: called| named)? ["“]?([\p{L}0-9' -]{1,25}?)["”]?[\s.!)]*$`), 1, 2, 3},
	{regexp.MustCompile(`(?i)^(?:(?:no|nope|nah|actually|sorry|wait|oh|well|correction)[,.!:\s—-]+)*(?:i['’]m|i am) (allergic) to ([\p{L}0-9' -]{1,25}?),? (?:and )?not (?:to )?([\p{L}0-9' -]{1,25}?)[\s.!)]*$`), 1, 3, 2},
	{regexp.MustCompile(`(?i)^(?:(?:no|nope|nah|actually|sorry|wait|oh|well|correction)[,.!:\s—-]+)*(?:i['’]m not|i am not) (allergic) to ([\p{L}0-9' -]{1,25}?),? but (?:to )?([\p{L}0-9' -]{1,25}?)[\s.!)]*$`), 1, 2, 3},
}

// correction reads 「ミケじゃなくてタマ」 and "it's Tama, not Mike". What it is about is said in it, or
// is what was known of the speaker with the wrong value; otherwise it is none.
func (r *reader) correction(text string) (claim, bool) {
	for _, n := range not {
		m := n.pattern.FindStringSubmatch(strings.TrimSpace(text))
		if m == nil {
			continue
		}
		wrong, right := tidy(strings.TrimSpace(m[n.wrong])), tidy(strings.TrimSpace(m[n.right]))
		if !sensible(right) || !sensible(wrong) || onlyDenies.MatchString(right) || notNamed.MatchString(right) && !regexp.MustCompile(`\d`).MatchString(right) {
			continue
		}
		h, ok := r.holding(wrong)
		if others.MatchString(m[n.of]) && !strings.HasPrefix(h.slot, "pet") && !strings.HasPrefix(h.slot, "family") {
			h, ok = held{}, false // 妹のアレルギーは is not their own
		}
		if ok {
			return r.again(h, wrong, right, text), true
		}
		if slot := slotOf(m[n.of]); slot != "" {
			return r.again(held{slot: slot, keys: []string{m[n.of]}}, wrong, right, text), true
		}
	}
	return claim{}, false
}

// onlyDenies is what stands where the right one should, in a sentence that only denies: its end, or all
// that stands before "not".
var onlyDenies = regexp.MustCompile(`(?i)^(?:です|でした|だ|でも|し|よ|ね|な|の|ん|のに|ので|から|けど|けれど|けれども|が|って|わ|さ|ぞ|ぜ|もん|もの|っ|ー|[^\p{L}\p{N}])*$|\b(?:i|i['’]?m|my|your|his|her|its|their|our|is|am|are|was|were|it|it['’]s|do|does|did|he|she|that|this|we|they|you|why|of course|certainly|definitely|absolutely|obviously|probably|really|just|still|why)\b`)

// denial reads 「名前はミケではありません」 and "my name is not Mike", which say something of what is known
// alone, and nothing of what else it may be.
func (r *reader) denial(text string) (c claim, denies, ok bool) {
	for _, p := range denials {
		m := p.FindStringSubmatch(strings.TrimSpace(text))
		if m == nil {
			continue
		}
		slot := slotOf(m[1])
		if slot == "" {
			continue
		}
		h, ok := r.holding(tidy(strings.TrimSpace(m[2])))
		if !ok || h.slot != slot {
			return claim{}, true, false
		}
		said := strings.TrimFunc(text, blank)
		return claim{slot: h.slot, value: "not:" + h.value, text: said, keys: h.keys, importance: 3, corrects: []string{h.value}}, true, true
	}
	return claim{}, false, false
}

var denials = []*regexp.Regexp{
	regexp.MustCompile(opens + `(?:` + selfWords + `の)?([^、は]{1,12}?)は、?[「『]?([^、は「」『』]{1,15}?)[」』]?(?:じゃない|じゃありません|ではない|ではありません|でない)(?:です|んです|んだ|の|よ|ね|わ|けど|から|ので|ってば)*` + marks),
	regexp.MustCompile(`(?i)^\W*(?:(?:no|nope|nah|actually|sorry|wait|oh|well|and|but)\W+)*my ([a-z ]{2,20}?)(?:['’]s name)?(?: is not|['’]s not| isn['’]t)(?: called| named)? ["“]?([\p{L}0-9' -]{1,25}?)["”]?[\s.!)]*$`),
}

// holding gives what is known of the speaker with a value, the newest.
func (r *reader) holding(value string) (held, bool) {
	want := wording.Letters(value)
	for _, h := range slices.Backward(r.theirs()) {
		if h.slot != "" && want != "" && wording.Letters(h.value) == want {
			return h, true
		}
	}
	return held{}, false
}

// again makes a claim of what is known with the right value.
func (r *reader) again(h held, wrong, right, text string) claim {
	c := claim{slot: h.slot, value: right, text: label(h.slot, hasJapanese.MatchString(text)) + right, importance: 4, corrects: []string{wrong}}
	if kind, _, _ := strings.Cut(h.slot, ":"); refusals[kind] != nil { // of which there are several: each has a slot of its own
		c.slot, c.text, c.importance = kind+":"+wording.Thing(right), refusals[kind](right, hasJapanese.MatchString(text)), 5
		c.keys = append(wording.Things(right), right)
	}
	for _, k := range h.keys {
		if wording.Letters(k) != wording.Letters(wrong) {
			c.keys = append(c.keys, k)
		}
	}
	if strings.HasPrefix(h.slot, "name") || strings.HasPrefix(h.slot, "pet.name") {
		c.keys = append(c.keys, "名前", "name")
	}
	return c
}

// refusals are how what somebody cannot have is said.
var refusals = map[string]func(what string, japanese bool) string{
	"allergy": func(what string, japanese bool) string {
		if japanese {
			return what + "アレルギー"
		}
		return "is allergic to " + what
	},
	"must_not": func(what string, japanese bool) string {
		if japanese {
			return what + "は食べられない"
		}
		return "does not eat or drink " + what
	},
}

var hasJapanese = regexp.MustCompile(`[\p{Han}\p{Hiragana}\p{Katakana}]`)

// labels say of what a slot holds in words, in Japanese and English.
var labels = map[string][2]string{
	"name": {"名前は", "is called "}, "age": {"年齢は", "age: "}, "birthday": {"誕生日は", "birthday: "}, "place": {"住んでいる所は", "lives in "}, "origin": {"出身は", "is from "},
	"job": {"仕事は", "job: "}, "school": {"学校は", "school: "},
}

func label(slot string, japanese bool) string {
	i := 1
	if japanese {
		i = 0
	}
	if l, ok := labels[slot]; ok {
		return l[i]
	}
	kind, thing, _ := strings.Cut(slot, ":")
	if w := wording.In(thing, japanese); w != "" {
		thing = w
	}
	switch kind {
	case "pet.name", "family.name":
		return [2]string{thing + "の名前は", "the " + thing + " is called "}[i]
	case "favourite":
		return [2]string{"好きな" + thing + "は", "favourite " + thing + ": "}[i]
	}
	return [2]string{"正しくは", "put right: "}[i]
}

// slotOf gives the slot that a word of a correction names.
func slotOf(of string) string {
	of = strings.ToLower(strings.TrimSpace(of))
	animal := strings.TrimSuffix(of, "の名前")
	switch {
	case of == "":
		return ""
	case petWord.MatchString(animal):
		return "pet.name:" + wording.Thing(animal)
	case kinWord.MatchString(of) && strings.HasSuffix(of, "の名前"):
		return "family.name:" + wording.Thing(animal)
	}
	for _, s := range []struct{ slot, words string }{{"name", "名前 name"}, {"age", "年齢 歳 age"}, {"birthday", "誕生日 birthday"}, {"job", "仕事 職業 job"}, {"origin", "出身 地元 hometown"}, {"allergy", "アレルギー allergy allergic"}, {"place", "住所 家"}} {
		if slices.Contains(strings.Fields(s.words), of) {
			return s.slot
		}
	}
	return ""
}

var (
	petWord = regexp.MustCompile(`^(?:うちの)?` + animals + `$|^(?:cat|dog|bird|rabbit|hamster|turtle|fish|puppy|kitten)$`)
	kinWord = regexp.MustCompile(`^` + relatives + `の名前$`)
)

// What somebody asked for a name, and how people answer with nothing but it.
var (
	asksName   = regexp.MustCompile(`(?i)(?:お名前|名前|なまえ)(?:は|って|を|教えて)?.{0,12}[?？]|(?:なんて|何て|何と)(?:呼|お呼び).{0,14}[?？]|\bwhat(?:['’]s| is) your name\b.*\?|\bwhat should i call you\b.*\?|\bmay i (?:have|ask) your name\b.*\?`)
	asksPet    = regexp.MustCompile(`(?i)` + animals + `(?:ちゃん|さん|くん)?(?:の|、)?(?:お名前|名前|なまえ)(?:は|って|を|教えて)?.{0,12}[?？]|\bwhat(?:['’]s| is) (?:your |the )?(cat|dog|bird|rabbit|hamster|turtle|fish|puppy|kitten)(?:['’]s name| called)\b.*\?`)
	onlyNameJa = regexp.MustCompile(`^[「]?([\p{Katakana}ー]{2,10}|[\p{Han}]{1,5}|[\p{Hiragana}]{2,6}?)[」]?(?:だよ|です|ですよ|っていうの|っていうんだ|っていいます|といいます|って言います|って名前だよ|だ)` + marks)
	onlyNameEn = regexp.MustCompile(`^(?:(?:It|it|That|She|He|she|he)(?:['’]s| is)(?: called| named)? |(?i:my name is|i['’]m) )?([A-Z][\p{L}-]{1,20})[.! ]*$`)
)

// answer reads a name that is all the answer to what was asked just before.
func (r *reader) answer(text string) (claim, bool) {
	if r.asked == "" || strings.TrimSpace(r.turn.Text) == "" || len(strings.TrimSpace(r.turn.Text)) > len(text)+6 {
		return claim{}, false
	}
	m := onlyNameJa.FindStringSubmatch(text)
	if m == nil {
		m = onlyNameEn.FindStringSubmatch(text)
	}
	if m == nil || !sensible(m[1]) || noNameWords.MatchString(m[1]) {
		return claim{}, false
	}
	name, ok := named(m[1])
	if pet := asksPet.FindStringSubmatch(r.asked); ok && pet != nil {
		if pet[1] == "" {
			return petNameEn(pet[2], name)
		}
		return petNameJa(pet[1], name)
	}
	if !ok || asksPet.MatchString(r.asked) || !asksName.MatchString(r.asked) || others.MatchString(r.asked) {
		return claim{}, false
	}
	if hasJapanese.MatchString(name) {
		return nameJa(m)
	}
	return nameEn(m)
}
