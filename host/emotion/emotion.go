// Package emotion has the six words for how something is said that the front ends of characters
// have in common, and finds the one that is meant by whatever a card, a model or a module calls it.
//
// It is pure and knows words, in English and Japanese; it never reads an emotion out of what is
// said, and nothing of it is ever spoken.
package emotion

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Word is one of the six.
type Word string

// The six words.
const (
	Neutral   Word = "neutral"
	Happy     Word = "happy"
	Angry     Word = "angry"
	Sad       Word = "sad"
	Relaxed   Word = "relaxed"
	Surprised Word = "surprised"
)

// Words gives all six.
func Words() []Word { return []Word{Neutral, Happy, Angry, Sad, Relaxed, Surprised} }

// fields are where the parameters of the action "speak" may have it, the first that is there
// counts.
var fields = []string{"emotion", "expression"}

// Of gives how a line is said by the parameters of its action "speak": their emotion or else
// their expression, which may also be an object whose name, or type, it is. Parameters that
// have neither, or are none, give [Neutral].
func Of(parameters json.RawMessage) Word {
	var all map[string]json.RawMessage
	if json.Unmarshal(parameters, &all) != nil {
		return Neutral
	}
	for _, field := range fields {
		if word := text(all[field]); word != "" {
			return Named(word)
		}
	}
	return Neutral
}

func text(raw json.RawMessage) (word string) {
	if json.Unmarshal(raw, &word) == nil {
		return word
	}
	var of struct{ Name, Type string }
	if json.Unmarshal(raw, &of) != nil {
		return ""
	}
	if of.Name != "" {
		return of.Name
	}
	return of.Type
}

// Named gives the word that is meant by a name, whatever its case and with or without marks
// around it; [Neutral] for one that is not known.
func Named(name string) Word {
	w, _ := known(name)
	return w
}

func known(name string) (Word, bool) {
	name = strings.ToLower(strings.TrimFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }))
	if w, ok := meant[name]; ok {
		return w, true
	}
	return Neutral, false
}

// tag is a word in brackets.
var tag = regexp.MustCompile(`[\[［]([\pL\pM ]{1,24})[\]］]`)

// Lead takes the tag off the beginning of a text, word is "" where there is none.
func Lead(text string) (rest string, word Word) {
	head := strings.TrimLeft(text, " \t\r\n　")
	at := tag.FindStringSubmatchIndex(head)
	if at == nil || at[0] > 0 {
		return text, ""
	}
	w, ok := known(head[at[2]:at[3]])
	if !ok {
		return text, ""
	}
	return strings.TrimLeft(head[at[1]:], " 　"), w
}

// Strip takes the tags off a text, "[happy] Hi!", as models write them that were made for avatars. word is the one of the
// first, "" where there is none. Only words for emotions in brackets are tags; all others stay.
func Strip(text string) (rest string, word Word) {
	var b strings.Builder
	from := 0
	for _, at := range tag.FindAllStringSubmatchIndex(text, -1) {
		w, ok := known(text[at[2]:at[3]])
		if !ok {
			continue
		}
		b.WriteString(text[from:at[0]])
		if from = at[1]; word == "" {
			word = w
		}
		if last, _ := utf8.DecodeLastRuneInString(b.String()); b.Len() == 0 || unicode.IsSpace(last) { // one space is enough
			from += len(text[from:]) - len(strings.TrimLeft(text[from:], " 　"))
		}
	}
	if from == 0 {
		return text, ""
	}
	b.WriteString(text[from:])
	return b.String(), word
}

// meant is what people, models and formats of avatars call them.
var meant = table(map[Word]string{
	Happy:     "happy happiness joy joyful glad smile smiling fun cheerful excited excitement delighted laugh laughing amused love proud 喜び 喜 嬉しい うれしい 楽しい たのしい 楽 笑顔 笑い 笑う 幸せ 喜ぶ ハッピー",
	Angry:     "angry anger mad furious annoyed irritated rage disgust disgusted 怒り 怒 怒る 怒っている いかり おこ 不機嫌 むっ 苛立ち 嫌悪",
	Sad:       "sad sadness sorrow unhappy crying cry tears lonely disappointed depressed worried fear afraid scared 悲しい 悲しみ 悲 かなしい 哀 哀しい 泣く 泣き 涙 寂しい さびしい 落ち込み 不安 恐れ 怖い",
	Relaxed:   "relaxed relax calm gentle peaceful serene content relief relieved comfortable tender sleepy 安らぎ 穏やか おだやか リラックス 安心 落ち着き 落ち着いた のんびり やすらぎ 癒し ほっ",
	Surprised: "surprised surprise shocked shock astonished amazed amazement startled confused 驚き 驚 驚く おどろき びっくり 驚いた 衝撃",
	Neutral:   "neutral normal none default thinking serious 普通 ふつう 通常 無表情 真顔 平常",
})

func table(of map[Word]string) map[string]Word {
	all := map[string]Word{}
	for word, names := range of {
		for name := range strings.FieldsSeq(names) {
			all[name] = word
		}
	}
	return all
}
