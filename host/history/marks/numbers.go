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

var numeral = regexp.MustCompile(number)

// most is how many letters a number has at most: what is longer is none that people wrote.
const most = 40

// value reads a number in digits, kanji or both: 84,000, 8万4千, 三十五, 1.5万. It gives it as a decimal without
// needless zeros, ok false for what is none.
func value(s string) (decimal string, ok bool) {
	if utf8.RuneCountInString(s) > most {
		return "", false
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
	behind("kg", 1, `kg\b|キログラム|kilos?\b`), behind("km", 1, `km\b|キロメートル|kilomet(?:er|re)s?\b`), behind("", 1, `キロ`), behind("cm", 1, `cm\b|センチ(?:メートル)?`), behind("mm", 1, `mm\b|ミリ(?:メートル)?`),
	behind("ml", 1, `ml\b|mL\b|ミリリットル|cc\b`), behind("gb", 1, `GB\b|ギガ`), behind("mb", 1, `MB\b|メガ`), behind("tb", 1, `TB\b|テラ`),
	behind("m", 1, `メートル|met(?:er|re)s?\b|m\b`), behind("g", 1, `グラム|grams?\b|g\b`), behind("l", 1, `リットル|lit(?:er|re)s?\b|L\b`), behind("degree", 1, `℃|°C|度`),
	behind("floor", 1, `階|(?:st|nd|rd|th) floor\b|F\b`), behind("number", 1, `番(?:線|目)?|号(?:室|車|館)?`),
	behind("", 1, `つ|個|枚|本|匹|頭|羽|台|冊|件|通|杯|皿|品|袋|箱|曲|話|回|便|軒|点|着|足|玉|束|か所|箇所|カ所|行|文字|部|票|席|口|食|ページ|セット|パック|点|倍|位|丁目|畳|坪|問|章|巻|週目|st\b|nd\b|rd\b|th\b|times\b`),
}

// ones are what 一 and kana are in words that count nothing.
var (
	idle   = regexp.MustCompile(`^(?:一(?:番|緒|応|部|般|度|旦|方|生|体|切|層|瞬|種|面|致|息|律|言|安心|回|人|日|年|通り|杯|気|つ|個|本|枚|歩|点|件|口|時的)|十分(?:な|に|で|だ|です|、|。|!|$|じ|と|あ|足|美|楽|す|気|間に合|か)|千(?:葉|秋|尋|鶴|歳|里|夏|恵|佳)|百(?:合|恵|貨)|二(?:度と|人三脚|階堂|宮)|三(?:浦|宅|上|島|重|原|田|木|枝|輪|角|鷹|崎)|四(?:国|季|角|条|谷)|五(?:十嵐|反田|輪)|六(?:本木|甲)|七(?:海|瀬|五三|夕|味)|八(?:百屋|王子|木|重|幡|千代)|九(?:州|条)|十(?:和田|字|勝)|万(?:一|が一|歳))`)
	people = map[string]string{"ふたり": "2", "ふたつ": "2", "みっつ": "3", "よっつ": "4", "いつつ": "5", "むっつ": "6", "ななつ": "7", "やっつ": "8", "ここのつ": "9"}
	kana   = regexp.MustCompile(`ふたり|ふたつ|みっつ|よっつ|いつつ|むっつ|ななつ|やっつ|ここのつ`)
	halves = regexp.MustCompile(`半(?:分|錠|個|額|量|枚)`)
	more   = regexp.MustCompile(`^ ?(hundred|thousand|million|billion|k\b|K\b)`)
	half   = regexp.MustCompile(`^(?:半|と半|と(` + number + `)分|(` + number + `)分)`)
	scaled = map[string]int64{"hundred": 100, "thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000, "k": 1000, "K": 1000}
	before = regexp.MustCompile(`([¥$€£]|第|No\. ?|no\. ?|#) ?$`)
	signs  = map[string]Unit{"¥": Yen, "$": Dollar, "€": Euro, "£": Pound}
	fewer  = regexp.MustCompile(`^ ?(?:以下|以内|未満|まで(?:[^もず]|$)|が上限|が限度|が限界|を超え(?:ない|ず|たら|ると|ては)|max(?:imum)?\b|or (?:less|fewer|under)\b|at most\b|tops\b)|^(?:を|は)?(?:越え|超え)(?:ない|ず|ては)`)
	denied = regexp.MustCompile(`(?i)\b(?:nothing|no|not|never|none|n't|cannot)\b[^,.;]{0,25}$`)
	delta  = regexp.MustCompile(`^(?:ほど|くらい|ずつ)?(?:上[がげ]|下[がげ]|値[上下]|増[えや]|減[っらる])`)
	larger = regexp.MustCompile(`^ ?(?:以上|超|より(?:多|上|高)|を(?:超え|上回)る|から(?:$|[、。])|or (?:more|over|above)\b|at least\b|minimum\b)`)
	upto   = regexp.MustCompile(`(?i)(?:\bat most|\bno more than|\bnot more than|\bup to|\bunder|\bbelow|\bless than|\bfewer than|\bwithin|\bmax(?:imum)?(?: of)?|\bcap(?:ped)? at|\blimit(?:ed)?(?: is| of| to)?|\bno later than|\bnot exceed(?:ing)?|\bnever over|\bnot over|上限は?|最大で?|最高で?|多くて(?:も)?|高くて(?:も)?) ?[¥$€£]?$`)
	from   = regexp.MustCompile(`(?i)(?:\bat least|\bno less than|\bnot less than|\bno fewer than|\bmore than|\babove|\bmin(?:imum)?(?: of)?|最低で?も?|少なくとも|下限は?) ?[¥$€£]?$`)
)

// numbers reads the numbers that are no part of a day or a name.
func (p *page) numbers() {
	for _, at := range kana.FindAllStringIndex(p.text, -1) {
		if p.free(at[0], at[1]) {
			p.add(Mark{Kind: Number, From: at[0], To: at[1], value: people[p.text[at[0]:at[1]]]})
		}
	}
	for _, at := range halves.FindAllStringIndex(p.text, -1) {
		if p.free(at[0], at[1]) {
			p.add(Mark{Kind: Number, From: at[0], To: at[1], value: "0.5"})
		}
	}
	for _, at := range numeral.FindAllStringIndex(p.text, -1) {
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
	if s := more.FindStringSubmatch(rest); s != nil {
		m.value, m.To = times(m.value, scaled[s[1]]), end+len(s[0])
	}
	written := p.unit(&m)
	if s := before.FindString(p.before(start)); s != "" {
		if of := signs[strings.TrimSpace(s)]; of != "" {
			m.Unit = of
		}
		m.From, written = start-len(s), true
	}
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
	m.Weak = delta.MatchString(p.behind(m.To)) || (m.value == "1" || text == "一") && m.Unit != Yen && m.Unit != "percent" || m.value == "0"
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

// bound reads whether a number is the most or the least.
func (p *page) bound(m *Mark) {
	start := p.before(m.From)
	switch rest := p.behind(m.To); {
	case denied.MatchString(start):
	case fewer.MatchString(rest) || upto.MatchString(start):
		m.bound = -1
	case larger.MatchString(rest) || from.MatchString(start):
		m.bound = 1
	}
}

func (p *page) besideKanji(from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(p.text[:from])
	after, _ := utf8.DecodeRuneInString(p.text[to:])
	return unicode.Is(unicode.Han, before) || unicode.Is(unicode.Han, after)
}

var (
	small   = map[string]int{"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19}
	tens    = map[string]int{"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
	english = regexp.MustCompile(`(?i)\b(?:(twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](one|two|three|four|five|six|seven|eight|nine))?|(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen))\b`)
	aDozen  = regexp.MustCompile(`(?i)\ba dozen\b`)
	aScale  = regexp.MustCompile(`(?i)\b(?:a|one) (hundred|thousand|million)\b`)
	sum     = regexp.MustCompile(`(?i)\b([0-9]+) hundred and ([0-9]{1,2})\b`)
	anHour  = regexp.MustCompile(`(?i)\b(?:an|one) hour and a half\b`)
	aHalf   = regexp.MustCompile(`(?i)\bhalf an hour\b`)
	andHalf = regexp.MustCompile(`(?i)\b([0-9]+) and a half\b`)
	past    = regexp.MustCompile(`(?i)\b(half|(?:a )?quarter|5|10|20|25) (past|to) ([0-9]{1,2})\b`)
)

// digits writes the numbers in digits that English writes as words.
func digits(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= 'a' && r <= 'z' }) {
		return text
	}
	text = aHalf.ReplaceAllString(anHour.ReplaceAllString(text, "90 minutes"), "30 minutes")
	text = english.ReplaceAllStringFunc(text, func(s string) string {
		words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r == '-' || r == ' ' })
		n := 0
		for _, w := range words {
			n += small[w] + tens[w]
			if w == "one" {
				n++
			}
		}
		return itoa(n)
	})
	text = aScale.ReplaceAllString(aDozen.ReplaceAllString(text, "12"), "1 $1")
	text = andHalf.ReplaceAllString(text, "$1.5")
	text = sum.ReplaceAllStringFunc(text, func(s string) string {
		g := sum.FindStringSubmatch(s)
		return itoa(100*whole(g[1]) + whole(g[2]))
	})
	return past.ReplaceAllStringFunc(text, func(s string) string {
		g := past.FindStringSubmatch(s)
		hour, minute := whole(g[3]), 30
		if n := whole(g[1]); n > 0 {
			minute = n
		} else if !strings.EqualFold(g[1], "half") {
			minute = 15
		}
		if strings.EqualFold(g[2], "to") {
			hour, minute = (hour+11)%12, 60-minute
		}
		return itoa(hour) + ":" + itoa(minute)
	})
}
