package address

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address/lookalike"
)

// lookAlike are names that a reader takes for one, or that read alike.
var lookAlike = [][2]string{
	// Characters that are not shown.
	{"mika", "mika\u034f"}, {"aya", "aya\u3164"}, {"aya", "aya\ufe0f"}, {"aya", "aya\u180b"}, {"aya", "aya\u115f"}, {"aya", "aya\u17b4"},
	{"aya", "a\u200bya"}, {"aya", "\ufeffaya"}, {"aya", "aya\u202e"}, {"aya", "\u2066aya\u2069"}, {"aya", "aya\uffa0"}, {"aya", "ay\u00ada"},
	{"\u845b", "\u845b\U000e0100"}, {"あや", "あ\u034fや"}, {"é", "e\u034f\u0301"},
	// Cyrillic, a letter or the whole word.
	{"mika", "m\u0456ka"}, {"aya", "\u0430ya"}, {"aya", "\u0430\u0443\u0430"}, {"mika", "\u043c\u0456\u043a\u0430"}, {"ace", "\u0430\u0441\u0435"},
	{"paco", "\u0440\u0430\u0441\u043e"}, {"rosa", "r\u043es\u0430"}, {"HANA", "\u041d\u0410N\u0410"}, {"TOM", "\u0422\u041e\u041c"}, {"tom", "\u0422\u041e\u041c"},
	{"bob", "\u0412\u041e\u0412"}, {"joe", "\u0458\u043e\u0435"}, {"Sexy", "\u0405\u0435\u0445\u0443"}, {"zoë", "zo\u0451"}, {"kyoko", "\u043a\u0443\u043e\u043a\u043e"},
	// Greek, small and capital.
	{"aya", "\u03b1y\u03b1"}, {"ava", "\u03b1\u03bd\u03b1"}, {"yuki", "\u03b3\u03c5\u03ba\u03b9"}, {"yui", "\u03b3\u03c5\u03b9"}, {"ANNA", "\u0391\u039d\u039d\u0391"},
	{"anna", "\u0391\u039d\u039d\u0391"}, {"hinata", "\u0397\u0399\u039d\u0391\u03a4\u0391"}, {"MIKA", "\u039c\u0399\u039a\u0391"}, {"ema", "\u0395\u039c\u0391"}, {"BOB", "\u0392\u039f\u0392"},
	{"yoyo", "\u03a5\u039f\u03a5\u039f"}, {"cat", "\u03f9\u0391\u03a4"}, {"fuji", "\u017fuji"}, {"koko", "\u03ba\u03bf\u03ba\u03bf"},
	{"\u039d\u03af\u03ba\u03b7", "\u03bd\u03af\u03ba\u03b7"}, // Νίκη and νίκη: two looks, one reading
	// Armenian, Cherokee, Coptic, Lisu, Canadian syllabics, Latin's own.
	{"soho", "s\u0585\u0570\u0585"}, {"uno", "\u057d\u0578\u0585"}, {"AMY", "\u13aa\u13b7\u13bd"}, {"amy", "\u13aa\u13b7\u13bd"}, {"ok", "\u2c9f\u2c95"},
	{"BOB", "\ua4d0\ua4f3\ua4d0"}, {"RAD", "\u1587\u15c5\u15de"}, {"gina", "\u0261ina"}, {"mika", "m\u0131ka"}, {"alice", "\u0251lice"},
	// l, 1 and i; 0 and o; digits of other scripts.
	{"alice", "AIice"}, {"alice", "a1ice"}, {"taro1", "tarol"}, {"user1", "userl"}, {"taro", "tar0"}, {"bot0", "botO"}, {"root", "r00t"}, {"ayao", "aya\u0e50"}, {"aya", " \u200b aya"},
	{"aya1", "aya\u0661"}, {"a.b", "a\u0660b"}, {"aya3", "aya\u0437"},
	// Kana and kanji.
	{"ニコ", "二コ"}, {"ロボ", "口ボ"}, {"カイ", "力イ"}, {"エミ", "工ミ"}, {"アヤー", "アヤ一"}, {"トモ", "卜モ"}, {"タマ", "夕マ"}, {"ハナ", "八ナ"},
	{"はな", "八ナ"}, {"ﾆﾅ", "二ナ"}, {"ノア", "丿ア"}, {"イヴ", "亻ヴ"}, {"くみ", "\U00021fe8み"}, {"ヒナ", "匕ナ"}, {"ムツミ", "厶ツミ"}, {"メイ", "乂イ"}, {"オト", "才ト"},
	{"チカ", "千力"}, {"ヌイ", "又亻"}, {"日向", "曰向"}, {"太郎", "太郞"}, {"黒子", "黑子"}, {"研一", "硏ー"}, {"ガク", "力\u3099ク"}, {"パパ", "八\u309a八\u309a"},
	{"ぱ", "は\u030a"}, {"が\u0323", "か\u0323\u030b"}, {"が", "か\u030b"}, {"へ", "ヘ"}, {"ベル", "べル"}, {"ペコ", "ぺコ"}, {"りり", "リリ"},
	// Case, width, composition; marks on top of themselves.
	{"Ａya", "aYA"}, {"ｱﾔ", "あや"}, {"𝗆𝗂𝗄𝖺", "mika"}, {"Zoé", "Zoe\u0301"}, {"が", "か\u3099"}, {"é", "e\u0301\u0301"}, {"が", "が\u3099"}, {"mika", "mi\u0307ka"},
	{"joe", "j\u0307oe"}, {"IPEK", "\u0130PEK"},
}

// lookApart are names that a second look tells apart, and others that do not read alike.
var lookApart = [][2]string{
	// Strokes.
	{"一", "二"}, {"二", "三"}, {"一子", "二子"}, {"ン", "ソ"}, {"シ", "ツ"}, {"ケン", "ケソ"}, {"シナ", "ツナ"}, {"ノア", "メア"}, {"大", "犬"}, {"大", "太"}, {"未来", "末来"},
	{"木", "本"}, {"目", "日"}, {"王", "玉"}, {"人", "入"}, {"千", "干"}, {"己", "巳"}, {"ク", "ケ"}, {"わ", "ね"}, {"ぬ", "め"}, {"る", "ろ"}, {"さ", "き"}, {"マ", "ム"}, {"ナ", "メ"},
	// Marks and length.
	{"か", "が"}, {"は", "ば"}, {"ば", "ぱ"}, {"つ", "っ"}, {"や", "ゃ"}, {"ゆき", "ゆうき"}, {"アヤ", "アヤー"}, {"おの", "おおの"}, {"e", "é"}, {"é", "è"}, {"é", "ê"}, {"o", "ö"}, {"n", "ñ"},
	{"c", "ç"}, {"o", "ø"}, {"d", "đ"}, {"a", "å"},
	// Latin letters.
	{"Anna", "Ana"}, {"taro", "tarou"}, {"corn", "com"}, {"ren", "rem"}, {"cl", "d"}, {"vv", "w"}, {"mika", "mina"}, {"aki", "aku"}, {"aya", "ava"}, {"u", "v"}, {"u", "n"}, {"n", "h"},
	{"n", "v"}, {"y", "u"}, {"y", "r"}, {"b", "d"}, {"c", "e"}, {"g", "q"}, {"i", "j"}, {"s", "5"}, {"z", "2"}, {"b", "6"}, {"b", "8"}, {"s", "z"}, {"Weiß", "Weib"}, {"Ɛsi", "Esi"}, {"Iŋa", "Iha"},
	{"\u0391\u039d\u0391", "ava"}, {"\u03b1\u03bd\u03b1", "ana"}, // ΑΝΑ, ανα
	// Words of one script that are words of another by sound only.
	{"あや", "aya"}, {"あや", "彩"}, {"京子", "きょうこ"}, {"саша", "sasha"}, {"Женя", "Ксеня"}, {"вика", "вита"}, {"лина", "дина"},
	{"a-b", "a_b"}, {"a.b", "ab"}, {"aya", "aya2"}, {"aya1", "aya2"}, {"", "aya"}, {"あ", "ア゙"},
}

func TestSameLooks(t *testing.T) {
	if len(lookAlike) < 60 || len(lookApart) < 40 {
		t.Errorf("%d and %d pairs", len(lookAlike), len(lookApart))
	}
	check := func(pairs [][2]string, want bool) {
		for _, p := range pairs {
			if Same(p[0], p[1]) != want || Same(p[1], p[0]) != want {
				t.Errorf("%q and %+q: want %v; %+q, %+q", p[0], p[1], want, Skeleton(p[0]), Skeleton(p[1]))
			}
		}
	}
	check(lookAlike, true)
	check(lookApart, false)
}

// The tables: every letter once; the letter that stands for a class is itself comparable.
func TestLookalikes(t *testing.T) {
	class := map[rune]string{}
	for _, c := range append(lookalike.Classes(), byEye...) {
		for i, r := range []rune(c) {
			if class[r] != "" {
				t.Errorf("%c is in %q and in %q", r, class[r], c)
			}
			class[r] = c
			if norm.NFKD.String(string(r)) != string(r) {
				t.Errorf("%U in %q never gets there: normalisation changes it", r, c)
			}
			if i == 0 && small(r) != r {
				t.Errorf("%q begins with a capital", c)
			}
		}
	}
	for _, c := range lookalike.Classes() {
		if n := strings.Count(strings.Map(func(r rune) rune {
			if unicode.Is(unicode.ASCII_Hex_Digit, r) || r < 0x80 && unicode.IsLetter(r) {
				return '#'
			}
			return -1
		}, c), "#"); n > 1 && c[:2] != "l1" && c[:2] != "o0" {
			t.Errorf("%q makes one of %d letters of ASCII", c, n)
		}
	}
}

// Of names in small ASCII letters, only those differ that have 1, i or 0 in them.
func TestSkeletonASCII(t *testing.T) {
	for r := rune('!'); r < 0x7f; r++ {
		want := unicode.ToLower(r)
		switch want {
		case '1', 'i':
			want = 'l'
		case '0':
			want = 'o'
		}
		if got := Skeleton("x" + string(r) + "x"); got != "x"+string(want)+"x" {
			t.Errorf("%c: %q", r, got)
		}
	}
}

// A code point alone, and with what may join it, has a skeleton that is its own;
// and a letter has its capital's, but for the capitals in the table.
func TestSkeletonOfEveryRune(t *testing.T) {
	for r := rune(0); r < 0xE0200; r++ {
		if looks[r] == 0 && r%64 != 0 && (unicode.In(r, unicode.Han, unicode.Hangul, unicode.Tangut) || r > 0x20000 && r < 0xE0000) {
			continue // all alike
		}
		for _, s := range []string{string(r), "a" + string(r), string(r) + "\u0301", "か" + string(r) + "\u3099"} {
			if once := Skeleton(s); Skeleton(once) != once {
				t.Fatalf("%+q: %+q, %+q", s, once, Skeleton(once))
			}
		}
		if !twoLooks(string(r)) && Skeleton(string(r)) != Skeleton(string(small(r))) {
			t.Errorf("%c is %q, %c is %q", r, Skeleton(string(r)), small(r), Skeleton(string(small(r))))
		}
	}
}

// However many marks are piled on a letter.
func TestSkeletonOfManyMarks(t *testing.T) {
	marks := rapid.SliceOfN(rapid.SampledFrom([]rune("\u0301\u0323\u030a\u3099\u0307\u0300\u0345\u0344\u0591\u034f")), 0, 80)
	if s := Skeleton("a" + strings.Repeat("\u0301\u0300", 20)); Skeleton(s) != s || utf8.RuneCountInString(s) > 10 {
		t.Errorf("%+q: %+q", s, Skeleton(s))
	}
	rapid.Check(t, func(t *rapid.T) {
		name := "a" + string(marks.Draw(t, "marks")) + "か" + string(marks.Draw(t, "more"))
		if s := Skeleton(name); Skeleton(s) != s || !Same(name, s) {
			t.Errorf("%+q: %+q, %+q", name, s, Skeleton(s))
		}
	})
}

// nameGen makes names of what is hard: look-alikes, marks, kana, what is not shown.
func nameGen() *rapid.Generator[string] {
	var hard []rune
	for _, c := range append(lookalike.Classes(), byEye...) {
		hard = append(hard, []rune(c)...)
	}
	hard = append(hard, []rune("aAkKmMnNvVyYuUiIlL1oO0-_.ニにｶﾞパぱー\u0301\u0307\u0323\u3099\u309a\u034f\ufe0f\u200bßẞΣςσİ가ﷺ")...)
	return rapid.Custom(func(t *rapid.T) string {
		return string(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(hard), rapid.Rune()), 0, 12).Draw(t, "runes"))
	})
}

func TestSkeletonProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := nameGen().Draw(t, "a"), nameGen().Draw(t, "b")
		if rapid.Bool().Draw(t, "near") { // the same, as another hand may type it
			b = strings.Map(func(r rune) rune {
				if rapid.Bool().Draw(t, "upper") {
					return unicode.ToUpper(r)
				}
				if as, ok := looks[r]; ok && rapid.Bool().Draw(t, "as") {
					return as
				}
				return r
			}, a)
		}
		x, y := Skeleton(a), Skeleton(b)
		if Skeleton(x) != x {
			t.Errorf("%+q: %+q, %+q", a, x, Skeleton(x))
		}
		if Same(a, b) != Same(b, a) || !Same(a, a) || !Same(a, x) {
			t.Errorf("%+q and %+q: not symmetric, or not itself", a, b)
		}
		if Same(a, b) != (x == y || Reading(a) == Reading(b)) {
			t.Errorf("%+q and %+q", a, b)
		}
		if !twoLooks(a) && !twoLooks(b) && Reading(a) == Reading(b) && x != y {
			t.Errorf("%+q and %+q have one reading, and the skeletons %+q, %+q", a, b, x, y)
		}
	})
}

// twoLooks says whether a name has a capital that looks like another letter than
// its small letter, or what NFKC misreads.
func twoLooks(name string) bool {
	return misread.Replace(name) != name || strings.ContainsFunc(norm.NFKD.String(name), func(r rune) bool { return looks[r] != 0 && small(r) != r })
}

// FuzzSkeleton: never a panic, always the same, and a text that may be a name stays so
// when it is composed.
func FuzzSkeleton(f *testing.F) {
	for _, p := range append(slices.Clone(lookAlike), lookApart...) {
		f.Add(p[0], p[1])
	}
	f.Add("\xff\xc0a", "a\u0300\u0301\u0302\u0323\u0307\u0307")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > abi.MaxName || len(b) > abi.MaxName {
			return
		}
		if s := Skeleton(a); Skeleton(s) != s || !utf8.ValidString(s) {
			t.Fatalf("%+q: %+q, %+q", a, s, Skeleton(s))
		}
		if Same(a, b) != Same(b, a) {
			t.Fatalf("%+q, %+q", a, b)
		}
		Reserved(a, abi.KindAgent)
		if c := norm.NFC.String(a); CheckName("name", a) == nil && len(c) <= abi.MaxName && CheckName("name", c) != nil {
			t.Fatalf("%+q may be a name, and composed may not: %v", a, CheckName("name", c))
		}
	})
}
