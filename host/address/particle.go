package address

import "github.com/companiond/companiond/abi"

// Particles and their like that may follow a name whatever comes after them,
// an honorific excepted, for then they are the end of a longer name (あやの-さん).
var freeParticles = []string{
	"って", "から", "なら", "まで", "より", "だけ", "でも", "です", "だよ", "だね", "だろ", "だって", "じゃ", "たち", "達",
	"みたい", "らしい", "こそ", "なんて", "なんか", "とか", "かな", "かも", "よね", "なの", "ので", "さえ", "すら", "っぽ",
	"ったら", "的に", "は", "が", "も", "を", "へ",
}

// Particles that are often the next letter of a longer word (あやとり, なつみかん,
// まいにち), with the hiragana that show they are not. Anything but hiragana
// shows it too, and so does a member's name.
var boundParticles = []struct{ word, next string }{
	{"と", "はもかのだいあっなでし"},
	{"か", "なもら"},
	{"に", "はもきいおあみつなたわよしと"},
	{"で", "すもはいし"},
	{"だ", "よねけろっとなか"},
	{"な", "のら"},
	{"よ", "ねりろ"},
	{"ね", "ぇえ"},
	{"や", ""},
	{"さ", "ぁあ"},
}

// particle says whether a particle is at i, after a name in kana or kanji.
// Particles are not written in katakana: ナツミカン.
func (s *scan) particle(i int) bool {
	if s.class(i) == katakana {
		return false
	}
	for _, p := range freeParticles {
		if s.at(i, p) {
			return !s.named(i + len([]rune(p)))
		}
	}
	if s.at(i, "の") {
		return s.possessive(i + 1)
	}
	for _, p := range boundParticles {
		if !s.at(i, p.word) {
			continue
		}
		if s.class(i+1) != hiragana || s.starts[i+1] || prolonged(s.folded[i+1]) {
			return !s.named(i + 1)
		}
		for _, r := range p.next {
			if s.folded[i+1] == r {
				return true
			}
		}
	}
	return false
}

// startsTalk says whether a word is at i that begins what is said to the name before it.
func (s *scan) startsTalk(i int) bool {
	return s.anyAt(i, starters) || s.class(i) != s.class(i-1) && s.anyAt(i, demonstratives)
}

func (s *scan) anyAt(i int, words []string) bool {
	for _, w := range words {
		if s.at(i, w) {
			return true
		}
	}
	return false
}

// named says whether an honorific at i shows that what is before it belongs to
// a longer name (あやの-さん), and is not the start of a word (さんぽ, ちゃんと).
func (s *scan) named(i int) bool {
	e := s.honorific(i)
	return e > i && !s.at(i, "ちゃんと") && (s.class(e) != hiragana || s.particle(e))
}

// possessive says whether の before i is the particle and not the end of a name
// such as あやの: a name would go on with an honorific, or with a particle that
// is the last of its word.
func (s *scan) possessive(i int) bool {
	if s.named(i) {
		return false
	}
	for _, p := range []string{"は", "が", "も", "を", "に", "へ"} {
		if s.at(i, p) && s.class(i+1) != hiragana {
			return false
		}
	}
	return true
}

// Words after which a name may follow without a mark between them.
var (
	interjections = []string{
		"ねえねえ", "ねぇねぇ", "ねーねー", "なあ", "なぁ", "ちょっと", "ねえ", "ねぇ", "ねー", "おーい", "おおい", "おい", "あのさ", "あのね", "あのー", "あの", "ほら",
		"やあ", "やぁ", "やっほー", "もしもし", "じゃあ", "じゃ", "では", "でも", "それで", "うん", "ううん", "はい", "いやいや", "いや",
		"まあ", "まぁ", "えっと", "えっ", "えー", "ああ", "あっ", "さあ", "さぁ", "そう", "そうだね", "ところで", "ちなみに", "へい", "はろー",
		"おはよう", "おはよ", "こんにちは", "こんばんは", "おやすみ", "ただいま", "おかえり", "はじめまして", "ありがとう", "ありがと", "どうも",
		"ごめんね", "ごめん", "さようなら", "さよなら", "ばいばい", "またね", "よろしく", "おつかれさま", "おつかれ", "お疲れ様", "お疲れ",
		"がんばって", "がんばれ", "頑張って", "頑張れ", "さすが", "おめでとう",
	}
	englishCalls = []string{
		"hey", "hi", "hello", "yo", "oi", "thanks", "thank you", "sorry", "bye", "goodbye", "good morning", "good evening", "good night",
		"welcome", "dear", "please", "congrats", "happy birthday", "see you",
	}
	// Words in kanji that stand before a name in kanji without being part of it.
	hanWords = []string{"今日", "昨日", "明日", "今朝", "今夜", "今度", "毎日", "最近", "先日", "実際", "今", "私", "僕", "俺"}
	// Particles before a name in hiragana. A weak one is a letter like another
	// unless it follows a member's name or another script.
	strongBefore = []string{"は", "が", "も", "を", "の", "よ", "ね", "へ", "で", "から", "なら", "けど", "でも", "だけ", "って", "より", "まで", "ので", "のに", "とか"}
	weakBefore   = []string{"と", "や", "か", "さ", "に", "な"}
)

// wordStart says whether a word begins at i: after a gap, another script, or
// words that begin there themselves.
func (s *scan) wordStart(i int) bool {
	c := s.class(i - 1)
	return c == gap || c != s.class(i) || s.interjection(i)
}

// interjection says whether an interjection or greeting that begins a word
// ends at i.
func (s *scan) interjection(i int) bool {
	return s.endsAfterStart(i, interjections)
}

func (s *scan) endsAfterStart(i int, words []string) bool {
	for _, w := range words {
		n := len([]rune(w))
		if i < n || !s.at(i-n, w) {
			continue
		}
		if c := s.class(i - n - 1); c == gap || c != s.class(i-n) {
			return true
		}
	}
	return false
}

// leftOpen says whether a name in kana or kanji may begin at i.
func (s *scan) leftOpen(i int) bool {
	if s.wordStart(i) {
		return true
	}
	switch s.class(i) {
	case han:
		return s.endsAfterStart(i, hanWords)
	case hiragana:
		return s.particleBefore(i, strongBefore, true) || s.particleBefore(i, weakBefore, false) || s.asked(i)
	}
	return false
}

// particleBefore says whether one of the particles ends at i. There must be a
// word before it: は in はなつみ is no particle, nor in ねえはるか.
func (s *scan) particleBefore(i int, particles []string, strong bool) bool {
	for _, p := range particles {
		n := len([]rune(p))
		if i <= n || !s.at(i-n, p) {
			continue
		}
		before := s.class(i - n - 1)
		if before == gap || s.interjection(i-n) {
			continue
		}
		if strong || before != hiragana || s.ends[i-n] || s.honorificEnds(i-n) {
			return true
		}
	}
	return false
}

// honorificEnds says whether an honorific ends at i.
func (s *scan) honorificEnds(i int) bool {
	for _, h := range looseHonorifics {
		if n := len([]rune(h)); i > n && s.at(i-n, h) {
			return true
		}
	}
	return false
}

// asked says whether a request or question ends at i and the name there closes
// the sentence or has an honorific: 聞いてあや！, どう思うあや？
func (s *scan) asked(i int) bool {
	if i < 2 || s.class(i-2) == gap || !s.endsTalk(i) {
		return false
	}
	for j := i + 1; j <= min(i+abi.MaxName, len(s.folded)); j++ {
		if s.ends[j] && (s.class(j) == gap || s.afterHonorific(j) > j) {
			return true
		}
		if s.class(j) == gap {
			return false
		}
	}
	return false
}

// endsTalk says whether what ends at i may be the end of a sentence.
func (s *scan) endsTalk(i int) bool {
	for _, w := range []string{"て", "思う", "おもう", "ですか", "ますか", "ません", "ました", "です", "ます", "かな", "じゃん", "でしょ"} {
		if s.at(i-len([]rune(w)), w) {
			return true
		}
	}
	return false
}
