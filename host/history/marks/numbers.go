package marks

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	kanji  = `〇零一二三四五六七八九十百千`
	plain  = `(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?`
	number = `((?:` + plain + `|[` + kanji + `])(?:` + plain + `|[` + kanji + `万億兆])*)`
)

var numeral = Compile(number)

// most is how many letters a number has at most: what is longer is none that people wrote.
const most = 40

// value reads a number in digits, kanji or both: 84,000, 8万4千, 三十五, 1.5万. It gives it as a decimal without
// needless zeros, ok false for what is none.
func value(s string) (decimal string, ok bool) {
	if utf8.RuneCountInString(s) > most {
		return "", false
	}
	if len(s) < 16 && strings.Trim(s, "0123456789") == "" {
		if s = strings.TrimLeft(s, "0"); s == "" {
			s = "0"
		}
		return s, true
	}
	total, group, now := new(big.Rat), new(big.Rat), (*big.Rat)(nil)
	take := func() *big.Rat {
		n := now
		if now = nil; n == nil {
			return big.NewRat(1, 1)
		}
		return n
	}
	for rest := strings.ReplaceAll(s, ",", ""); rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		if r >= '0' && r <= '9' {
			end := strings.IndexFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
			if end < 0 {
				end = len(rest)
			}
			n, ok := new(big.Rat).SetString(rest[:end])
			if !ok || now != nil {
				return "", false
			}
			now, rest = n, rest[end:]
			continue
		}
		rest = rest[size:]
		if d, ok := kanjiDigits[r]; ok {
			if now == nil {
				now = new(big.Rat)
			}
			now = now.Add(now.Mul(now, big.NewRat(10, 1)), big.NewRat(d, 1)) // 二〇二六
			continue
		}
		n, ok := scales[r]
		switch {
		case !ok:
			return "", false
		case n < 10_000:
			group.Add(group, new(big.Rat).Mul(take(), big.NewRat(n, 1)))
		default:
			if now != nil || group.Sign() == 0 {
				group.Add(group, take())
			}
			total.Add(total, group.Mul(group, big.NewRat(n, 1)))
			group = new(big.Rat)
		}
	}
	if now != nil {
		group.Add(group, now)
	}
	return decimalOf(total.Add(total, group)), true
}

var (
	kanjiDigits = map[rune]int64{'〇': 0, '零': 0, '一': 1, '二': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9}
	scales      = map[rune]int64{'十': 10, '百': 100, '千': 1000, '万': 10_000, '億': 100_000_000, '兆': 1_000_000_000_000}
)

func decimalOf(r *big.Rat) string {
	s := r.FloatString(9)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// whole reads a number that is small, 0 for what is none.
func whole(s string) int {
	v, _ := value(s)
	n, err := strconv.Atoi(v)
	if err != nil {
		return 0
	}
	return n
}

func itoa(n int) string { return strconv.Itoa(n) }

// times multiplies a decimal number.
func times(decimal string, by int64) string {
	if by == 1 {
		return decimal
	}
	r, ok := new(big.Rat).SetString(decimal)
	if !ok {
		return decimal
	}
	return decimalOf(r.Mul(r, big.NewRat(by, 1)))
}

// unit is how one is written behind a number, and of how many others it consists.
type unit struct {
	of     Unit
	by     int64
	behind *regexp.Regexp
}

func behind(of Unit, by int64, pattern string) unit {
	return unit{of, by, regexp.MustCompile(`^(?: ?-?(?:` + pattern + `))`)}
}

// units are looked through in their order: what begins like another comes before it.
var units = []unit{
	behind(Yen, 1, `円|yen\b|JPY\b`), behind(Dollar, 1, `ドル|dollars?\b|bucks\b|USD\b`), behind(Euro, 1, `ユーロ|euros?\b|EUR\b|€`), behind(Pound, 1, `ポンド|pounds?\b|quid\b`),
	behind("percent", 1, `%|パーセント|percent\b|per cent\b`), behind("percent", 10, `割`),
	behind(Span, 3_600_000, `時間|hours?\b|hrs?\b|h\b`), behind(Span, 60_000, `分間?|minutes?\b|mins?\b`), behind(Span, 1, `ms\b|ミリ秒|milliseconds?\b`), behind(Span, 1000, `秒間?|seconds?\b|secs?\b|s\b`),
	behind(Days, 7, `週間?|weeks?\b`), behind(Days, 1, `日間?|days?\b|泊`), behind(Months, 1, `(?:か|ヶ|カ|ヵ|ケ|箇|個|カ)月間?|months?\b`),
	behind("age", 1, `歳|才|years? old\b|-year-old`), behind(Months, 12, `年間?|years?\b|yrs?\b`),
	behind("person", 1, `人|名(?:様)?|people\b|persons?\b|guests?\b|attendees\b|adults\b|kids\b|children\b`),
	behind("mg", 1, `mg\b|ミリグラム`), behind("kg", 1, `kg\b|キログラム|kilos?\b`), behind("km", 1, `km\b|キロメートル|kilomet(?:er|re)s?\b`), behind("", 1, `キロ`), behind("cm", 1, `cm\b|センチ(?:メートル)?`), behind("mm", 1, `mm\b|ミリ(?:メートル)?`),
	behind("ml", 1, `ml\b|mL\b|ミリリットル|cc\b`), behind("gb", 1, `GB\b|ギガ`), behind("mb", 1, `MB\b|メガ`), behind("tb", 1, `TB\b|テラ`),
	behind("m", 1, `メートル|met(?:er|re)s?\b|m\b`), behind("g", 1, `グラム|grams?\b|g\b`), behind("l", 1, `リットル|lit(?:er|re)s?\b|L\b`), behind("degree", 1, `℃|°C|度|degrees?\b`),
	behind("floor", 1, `階|(?:st|nd|rd|th) floor\b|F\b`), behind("number", 1, `番(?:線|目)?|号(?:室|車|館)?`),
	behind("", 1, `つ|個|枚|本|匹|頭|羽|台|冊|件|通|杯|皿|品|袋|箱|曲|話|回|便|軒|点|着|足|玉|束|か所|箇所|カ所|行|文字|部|票|席|口|食|ページ|セット|パック|点|倍|位|丁目|畳|坪|問|章|巻|週目|st\b|nd\b|rd\b|th\b|times\b`),
}

// ones are what 一 and kana are in words that count nothing.
var (
	idle   = regexp.MustCompile(`^(?:一(?:番|緒|応|部|般|度|旦|方|生|体|切|層|瞬|種|面|致|息|律|言|安心|回|人|日|年|通り|杯|気|つ|個|本|枚|歩|点|件|口|時的)|十分(?:な|に|で|だ|です|、|。|!|$|じ|と|あ|足|美|楽|す|気|間に合|か)|千(?:葉|秋|尋|鶴|歳|里|夏|恵|佳)|百(?:合|恵|貨)|二(?:度と|人三脚|階堂|宮)|三(?:浦|宅|上|島|重|原|田|木|枝|輪|角|鷹|崎)|四(?:国|季|角|条|谷)|五(?:十嵐|反田|輪)|六(?:本木|甲)|七(?:海|瀬|五三|夕|味)|八(?:百屋|王子|木|重|幡|千代)|九(?:州|条)|十(?:和田|字|勝)|万(?:一|が一|歳))`)
	people = map[string]string{"ふたり": "2", "ふたつ": "2", "みっつ": "3", "よっつ": "4", "いつつ": "5", "むっつ": "6", "ななつ": "7", "やっつ": "8", "ここのつ": "9"}
	kana   = Compile(`ふたり|ふたつ|みっつ|よっつ|いつつ|むっつ|ななつ|やっつ|ここのつ`)
	halves = Compile(`半(?:分|錠|個|額|量|枚|数)|\b[Hh]alf\b`)
	more   = regexp.MustCompile(`^ ?(hundred|thousand|million|billion|k\b|K\b)`)
	half   = regexp.MustCompile(`^(?:半|と半|と(` + number + `)分|(` + number + `)分)`)
	scaled = map[string]int64{"hundred": 100, "thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000, "k": 1000, "K": 1000}
	before = Compile(`([¥$€£]|第|No\. ?|no\. ?|#) ?$`)
	signs  = map[string]Unit{"¥": Yen, "$": Dollar, "€": Euro, "£": Pound}
	share  = regexp.MustCompile(`^分で`) // 二か月分で14万円
	delta  = regexp.MustCompile(`^(?:ほど|くらい|ずつ)?(?:上[がげ]|下[がげ]|値[上下]|増[えや]|減[っらる])`)
)

// numbers reads the numbers that are no part of a day or a name.
func (p *page) numbers() {
	for _, at := range kana.all(p.text, p.grams) {
		if p.free(at[0], at[1]) {
			p.add(Mark{Kind: Number, From: at[0], To: at[1], value: people[p.text[at[0]:at[1]]]})
		}
	}
	for _, at := range halves.all(p.text, p.grams) {
		if p.free(at[0], at[1]) {
			p.add(Mark{Kind: Number, From: at[0], To: at[1], value: "0.5", Weak: p.text[at[0]] < utf8.RuneSelf})
		}
	}
	for _, at := range numeral.all(p.text, p.grams) {
		if p.free(at[0], at[1]) {
			if m, ok := p.number(at[0], at[1]); ok {
				p.add(m)
			}
		}
	}
}

func (p *page) number(start, end int) (m Mark, ok bool) {
	text, rest := p.text[start:end], p.behind(end)
	v, ok := value(text)
	if !ok {
		return m, false
	}
	m = Mark{Kind: Number, From: start, To: end, value: v}
	if strings.HasPrefix(rest, "s") && strings.HasSuffix(p.text[:start], "-") { // under-16s
		m.Counted = true
		return m, true
	}
	if s := more.FindStringSubmatch(rest); s != nil {
		m.value, m.To = times(m.value, scaled[s[1]]), end+len(s[0])
	}
	written := p.unit(&m)
	if !before.May(p.grams) {
	} else if s := before.expression().FindString(p.before(start)); s != "" {
		if of := signs[strings.TrimSpace(s)]; of != "" {
			m.Unit = of
		}
		m.From, written = start-len(s), true
	}
	m.Counted = written
	switch {
	case text[0] >= '0' && text[0] <= '9':
	case idle.MatchString(p.text[start:end] + rest):
		return m, false
	case !written && (utf8.RuneCountInString(text) < 2 || !strings.ContainsAny(text, "十百千万億") || p.besideKanji(start, end)):
		return m, false
	}
	if m.Unit == "person" && (strings.HasSuffix(p.text[:start], "お") || strings.HasPrefix(p.text[m.To:], "とも")) { // お二人、二人とも
		return m, false
	}
	if !p.free(m.From, m.To) { // what it counts is part of something else
		m = Mark{Kind: Number, From: start, To: end, value: v}
	}
	p.bound(&m)
	m.Weak = delta.MatchString(p.behind(m.To)) || share.MatchString(p.behind(m.To)) || (m.value == "1" || text == "一") && m.Unit != Yen && m.Unit != "percent" || m.value == "0"
	return m, true
}

// unit reads what a number counts, and says whether that is written.
func (p *page) unit(m *Mark) bool {
	rest := p.behind(m.To)
	for _, u := range units {
		s := u.behind.FindString(rest)
		if s == "" {
			continue
		}
		m.Unit, m.value, m.To = u.of, times(m.value, u.by), m.To+len(s)
		if u.by != 3_600_000 {
			return true
		}
		if h := half.FindStringSubmatch(p.behind(m.To)); h != nil { // 1時間半, 1時間30分
			minutes := 30
			if n := h[1] + h[3]; n != "" {
				minutes = whole(n)
			}
			v, _ := new(big.Rat).SetString(m.value)
			m.value, m.To = decimalOf(v.Add(v, big.NewRat(int64(minutes)*60_000, 1))), m.To+len(h[0])
		}
		return true
	}
	return false
}

func (p *page) besideKanji(from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(p.text[:from])
	after, _ := utf8.DecodeRuneInString(p.text[to:])
	return unicode.Is(unicode.Han, before) || unicode.Is(unicode.Han, after)
}

var (
	small   = map[string]int{"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19}
	tens    = map[string]int{"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
	english = Compile(`(?i)\b(?:(twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](one|two|three|four|five|six|seven|eight|nine))?|(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen))\b`)
	aDozen  = Compile(`(?i)\ba dozen\b`)
	aScale  = Compile(`(?i)\b(?:a|one) (hundred|thousand|million)\b`)
	sum     = Compile(`(?i)\b([0-9]+) hundred and ([0-9]{1,2})\b`)
	hourAnd = Compile(`(?i)\b(an|one|[0-9]+) hours? and (?:a )?(5|10|15|20|25|30|35|40|45|50|55|quarter|half)(?: minutes?)?\b`)
	anHour  = Compile(`(?i)\b(?:an|one) hour and a half\b`)
	aHalf   = Compile(`(?i)\bhalf an hour\b`)
	andHalf = Compile(`(?i)\b([0-9]+) and a half\b`)
	past    = Compile(`(?i)\b(half|(?:a )?quarter|5|10|20|25) (past|to) ([0-9]{1,2})\b`)
)

// digits writes the numbers in digits that English writes as words.
func digits(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= 'a' && r <= 'z' }) {
		return text
	}
	g := GramsOf(text)
	text, g = anHour.replace(text, g, func([]string) string { return "90 minutes" })
	text, g = aHalf.replace(text, g, func([]string) string { return "30 minutes" })
	text, g = english.replace(text, g, func(s []string) string {
		n := 0
		for _, w := range strings.FieldsFunc(strings.ToLower(s[0]), func(r rune) bool { return r == '-' || r == ' ' }) {
			n += small[w] + tens[w]
			if w == "one" {
				n++
			}
		}
		return itoa(n)
	})
	text, g = hourAnd.replace(text, g, func(s []string) string {
		minutes := map[string]int{"quarter": 15, "half": 30}[strings.ToLower(s[2])] + whole(s[2])
		return itoa(60*max(1, whole(s[1]))+minutes) + " minutes"
	})
	text, g = aDozen.replace(text, g, func([]string) string { return "12" })
	text, g = aScale.replace(text, g, func(s []string) string { return "1 " + s[1] })
	text, g = andHalf.replace(text, g, func(s []string) string { return s[1] + ".5" })
	text, g = sum.replace(text, g, func(s []string) string { return itoa(100*whole(s[1]) + whole(s[2])) })
	text, _ = past.replace(text, g, func(s []string) string {
		hour, minute := whole(s[3]), 30
		if n := whole(s[1]); n > 0 {
			minute = n
		} else if !strings.EqualFold(s[1], "half") {
			minute = 15
		}
		if strings.EqualFold(s[2], "to") {
			hour, minute = (hour+11)%12, 60-minute
		}
		return itoa(hour) + ":" + itoa(minute)
	})
	return text
}
