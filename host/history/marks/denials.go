package marks

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Denial is one thing of which a clause says that it is not so, or is not done, by a negation right beside it: "does not pay" of pay,
// 渡さない of 渡, 28日ではない of 28日.
type Denial struct {
	Of    string // what is denied begins with this: all that stands behind not, or is the word before ない
	Verb  bool   // Of is kanji with an ending behind them
	Scope string // the part of the clause that it is in, between and, but and the like
}

var (
	not = Compile(`\b(?:not|cannot|never|no longer|no|nobody|no one|nothing|none|neither|refus\w+ to|declin\w+ to)\b|n't\b|\bdis(?:agree|approv|allow)`)
	// parts is where another statement begins within a clause of English.
	joints = regexp.MustCompile(`\b(?:and|but|while|though|although|because|since|so|which|who|if|when|whether|or)\b`)
	notSo  = Compile(`(?:では|じゃ)(?:な(?:い|く|かっ|し)|あり?ません)`)
	untrue = Compile(`(?:です|だ)?(?:という|との|って)(?:の|話|こと|噂)?(?:は|が)?(?:嘘|うそ|誤り|間違い|デマ)`)
	// ending is the end of a verb that denies it.
	ending = Compile(`([\p{Han}々]{1,6}|[\p{Katakana}ー]{2,12}|[a-z]{2,})(\p{Hiragana}{0,5}?)(?:な(?:い|かった|く(?:て|な)|し(?:[、。]|$))|ません|[わかさたなまらばがけせめれえね]ず(?:に|[、。]|$)|(?:わけ|つもり|予定|必要)(?:では|じゃ|が|は|も)(?:な|あり?ません))`)
	prefix = Compile(`不(採用|参加|合格|使用|許可|承認|承諾|同意|賛成|出席|実施|開催)`)
	// spared is what stands behind a negation that is a condition, or is denied itself.
	spared   = regexp.MustCompile(`^(?:で(?:も)?(?:済|す[むみ])|(?:も)?(?:済|す[むみ])|と(?:[^のい言決思聞約伝述]|$)|なら|限り|うちに|まま|わけ(?:で|じゃ|が)|こと(?:は|が)?な|とは(?:限|言|い)|はず)`)
	needless = words(`関 問 限 残 忘 欠 相変 絶 必`)
	stem     = regexp.MustCompile(`(?:では|じゃ)$`) // which notSo has
	wider    = regexp.MustCompile(`(?:だけ|のみ|ばかり|わけ|はず|こと)$`)
	around   = regexp.MustCompile(`(?:まで|より|以[上下内])?(?:の(?:こと|予定|つもり|ほう|方))?$`)
)

// Denials gives what a clause denies. What is only written like a negation is none, see [Read]: なければならない, "don't forget to".
func Denials(clause string) (all []Denial) {
	text := Plain(clause)
	s := strings.ToLower(text)
	if len(s) != len(text) {
		text = s
	}
	s = affirms.blanked(s, GramsOf(s))
	g := GramsOf(s)
	for _, at := range not.all(s, g) {
		from := 0
		for _, j := range joints.FindAllStringIndex(s[:at[0]], -1) {
			from = j[1]
		}
		if strings.HasSuffix(s[:at[0]], "or ") || strings.HasSuffix(s[:at[0]], "if ") {
			continue
		}
		to := len(s)
		if j := joints.FindStringIndex(s[at[1]:]); j != nil {
			if to = at[1] + j[0]; strings.HasPrefix(s[to:], "but") && !strings.HasSuffix(s[:to], ", ") { // not this but that
				continue
			}
		}
		of := text[at[1]:to]
		if strings.HasPrefix(s[at[0]:], "dis") {
			of = text[at[0]+len("dis") : to]
		}
		all = append(all, Denial{Of: strings.TrimSpace(of), Scope: text[from:to]})
	}
	for _, at := range append(notSo.all(s, g), untrue.all(s, g)...) {
		before := strings.TrimSpace(s[:at[0]])
		if wider.MatchString(before) {
			continue
		}
		before = before[:around.FindStringIndex(before)[0]]
		if of := lastWord(before); of != "" {
			all = append(all, Denial{Of: of, Scope: text[:at[1]]})
		}
	}
	for _, at := range ending.all(s, g) {
		of := group(s, at, 1)
		if spared.MatchString(s[at[1]:]) || needless[of] || stem.MatchString(group(s, at, 2)) {
			continue
		}
		all = append(all, Denial{Of: of, Verb: at[4] < at[5] && !strings.HasPrefix(s[at[4]:], "し") && !strings.HasPrefix(s[at[4]:], "さ") && !strings.HasPrefix(s[at[4]:], "で"), Scope: text[:at[1]]})
	}
	for _, at := range prefix.all(s, g) {
		all = append(all, Denial{Of: group(s, at, 1), Scope: text})
	}
	return all
}

// lastWord gives the word or number that a text ends with, without what is written in hiragana.
func lastWord(text string) string {
	from := len(text)
	for from > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:from])
		if unicode.IsSpace(r) || unicode.Is(unicode.Hiragana, r) || strings.ContainsRune("、。「」()", r) {
			break
		}
		from -= size
	}
	return text[from:]
}
