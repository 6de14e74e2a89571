package words

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is an English word and where it stands.
type token struct {
	text, norm string
	at, end    int
	first      bool // of a sentence
	stop       bool // a mark follows
}

// tokensOf splits an English text into words.
func tokensOf(s string) (out []token) {
	first, from := true, -1
	flush := func(end int) {
		if from < 0 {
			return
		}
		text := strings.Trim(s[from:end], "'’-")
		if text != "" {
			out = append(out, token{text: text, norm: strings.ReplaceAll(Normal(text), "’", "'"), at: from, end: end, first: first})
		}
		first, from = false, -1
	}
	for i, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '\'' || r == '’' || r == '-' {
			if from < 0 {
				from = i
			}
			continue
		}
		flush(i)
		if !unicode.IsSpace(r) && len(out) > 0 {
			out[len(out)-1].stop = true
			first = first || strings.ContainsRune(".!?…\n", r)
		}
	}
	flush(len(s))
	if n := len(out); n > 0 {
		out[n-1].stop = true
	}
	return out
}

// englishWord picks a name, what is asked for, or the noun behind a word that one stands behind.
func englishWord(s string) string {
	tokens := tokensOf(s)
	if w := nameIn(s, tokens); w != "" {
		return w
	}
	if w := askedFor(s, tokens); w != "" {
		return w
	}
	for i := range tokens {
		if w := nounAt(s, tokens, i); w != "" {
			return w
		}
	}
	return ""
}

// nameIn gives the first words with a capital that no sentence begins with: Elden Ring.
func nameIn(s string, tokens []token) string {
	if s == strings.ToUpper(s) {
		return ""
	}
	for i := 0; i < len(tokens); i++ {
		from := i
		for i < len(tokens) && isNamed(tokens[i]) {
			i++
			if tokens[i-1].stop {
				break
			}
		}
		if i > from {
			if w := s[tokens[from].at:tokens[i-1].end]; utf8.RuneCountInString(w) <= maxWord {
				return strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "’s")
			}
		}
	}
	return ""
}

func isNamed(t token) bool {
	r, _ := utf8.DecodeRuneInString(t.text)
	n := utf8.RuneCountInString(t.text)
	return unicode.IsUpper(r) && n > 1 && !t.first && !stopWords[t.norm] && !capitals[t.norm] && !strings.ContainsAny(t.norm, "'")
}

// askedFor gives the one word of "what is X" and "do you like X".
func askedFor(s string, tokens []token) string {
	for i := 0; i+2 < len(tokens); i++ {
		three := tokens[i].norm + " " + tokens[i+1].norm
		if !slices.Contains([]string{"what is", "what are", "you like", "you know", "you play", "you watch", "you eat", "you drink", "heard of"}, three) && tokens[i].norm != "what's" {
			continue
		}
		next := i + 2
		if tokens[i].norm == "what's" {
			next = i + 1
		}
		if w := phraseAt(s, tokens, next); w != "" {
			return w
		}
	}
	return ""
}

// nounAt gives what stands behind a word that a noun stands behind, where it ends before something that is surely
// no part of it.
func nounAt(s string, tokens []token, i int) string {
	if !before[tokens[i].norm] || tokens[i].stop {
		return ""
	}
	return phraseAt(s, tokens, i+1)
}

// phraseAt gives one or two words that end there.
func phraseAt(s string, tokens []token, i int) string {
	for i < len(tokens) && (qualities[tokens[i].norm] || before[tokens[i].norm]) && !tokens[i].stop {
		i++
	}
	from := i
	for i < len(tokens) && isNoun(tokens[i].norm) {
		i++
		if tokens[i-1].stop {
			break
		}
	}
	n := i - from
	ended := n > 0 && (tokens[i-1].stop || i < len(tokens) && (behind[tokens[i].norm] || strings.HasSuffix(tokens[i].norm, "ed") || strings.Contains(tokens[i].norm, "'")))
	if n == 0 || n > 2 || !ended {
		return ""
	}
	w := s[tokens[from].at:tokens[i-1].end]
	if utf8.RuneCountInString(w) > maxWord || generic[tokens[i-1].norm] || stopWords[Normal(w)] {
		return ""
	}
	return w
}

func isNoun(norm string) bool {
	n := utf8.RuneCountInString(norm)
	return n > 2 && !behind[norm] && !(n > 4 && strings.HasSuffix(norm, "ed")) && !before[norm] && !stopWords[norm] && !qualities[norm] && !strings.Contains(norm, "'") && !strings.HasSuffix(norm, "ly")
}

// Words that tell where a noun of a thing stands.
var (
	// before a noun.
	before = Set(`my our the a an about of into called playing play watching watch reading learning learn love hate like loves hates enjoy cooking baking eating eat drink drinking making bought tried try started visit visiting`)
	// behind a noun, and no part of it.
	behind = Set(`is are was were am be been being has have had do does did will would can could should may might must just so and or but because since if when while that which who whom whose what where why how than then
in on at to from with without for by of as up down out off over under after before until again about into around near during against behind it i you he she we they me him her us them this these those there here
today tomorrow tonight yesterday now soon later always never ever already yet still really too also very much more most only even lol haha tbh ngl omg pls please right ok okay died broke keeps keep got gets went goes
came comes made makes took takes won lost started stopped looks look feels feel sounds seems tastes smells works worked needs want wants said says thinks thought kept fell burned turned ran runs ended begins starts sucks rocks
not no yes all both last next this every each some any yesterday's finally lately recently once twice though although like likes love loves hate hates actually honestly literally
hurts hurt aches taught teaches told tells ate eats gave gives brought brings left leaves moved moves passed fails failed helped helps asked asks called calls bit bites slept sleeps woke wakes cried cries happened happens
changed changes arrived arrives gave drives drove freaks crashed crashes froze freezes lost loses hit hits spent spends sent sends let lets put puts cut cuts paid pays snores barks smells stinks rocks slaps slapped hits grew grows
self itself myself yourself alone together everywhere somewhere anywhere`)
	// qualities stand before a noun and are none.
	qualities = Set(`new old big small little good bad best worst great favorite favourite whole first second last next same other own real really very so such nice weird strange long short hard easy hot cold young cute
entire latest amazing awful terrible lovely beautiful pretty stupid dumb silly crazy cool fun funny few many some any more most only fresh homemade local early late final huge tiny`)
	// generic nouns say nothing of what it is about.
	generic = Set(`day days time times way ways thing things lot lots bit people person one ones week weeks night nights morning evening afternoon year years month months hour hours minute minutes guy guys kind sort stuff problem
problems idea moment life world fact point end start top bottom middle side part rest chance reason word words name question answer break mood mess minute second place name mind head hand hands eyes face back body fault turn
everything nothing something anything someone somebody everyone nobody man woman girl boy kid friend friends half number same best worst first while truth news case hell heck god sense sake look feeling hope luck fan`)
	// capitals are words with a capital that name no thing.
	capitals = Set(`i i'm i've i'd i'll ok okay omg lol lmao wtf btw tbh ngl monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december
am pm mr mrs ms dr god oh hi hey hello thanks yes no not so the a an it is my`)
)

// stopWords are runs that are never what a question is about, in normal form.
var stopWords = Set(`今日 明日 昨日 私 僕 俺 君 何 誰 好 思 教 皆 人 時 本当 最近 一番 話 言 知 質問 意味 自分 みんな
what about which where think know like love tell your have does with that this they there would could should from people favorite favourite
please really hmm something anything explain who why how when the you are and for can did was`)
