package face

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/companiond/companiond/abi"
)

// Bounds of a timeline.
const (
	mostVisemes = 20_000
	longest     = time.Hour
)

// ReadMouth reads the timeline of a sound: JSON, a list of visemes, one after the other. Openness beyond 0..1 is
// brought there, and a shape that is none of abi.Viseme's is forgotten.
func ReadMouth(b []byte) ([]abi.Viseme, error) {
	var all []abi.Viseme
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, abi.Errorf(abi.CodeInvalid, "it is no list of visemes: %v", err)
	}
	if len(all) > mostVisemes {
		return nil, abi.Errorf(abi.CodeTooLarge, "it has %d visemes, at most %d", len(all), mostVisemes)
	}
	total := time.Duration(0)
	for i, v := range all {
		if v.MS < 0 || v.MS > int(longest/time.Millisecond) {
			return nil, abi.Errorf(abi.CodeInvalid, "viseme %d takes %d ms", i, v.MS)
		}
		if total += ms(v.MS); total > longest {
			return nil, abi.Errorf(abi.CodeTooLarge, "it takes more than %v", longest)
		}
		all[i].Open = min(max(v.Open, 0), 1)
		if !slices.Contains([]string{"a", "i", "u", "e", "o", "n"}, v.Shape) {
			all[i].Shape = ""
		}
	}
	return all, nil
}

// eases is how long the mouth takes from one openness to the next, where a viseme is as long: a mouth that jumps
// looks like a puppet's.
const eases = 40 * time.Millisecond

// sample gives how the mouth stands so far into a timeline; beyond it, it is shut.
func sample(mouth []abi.Viseme, into time.Duration) (open float64, shape string) {
	before := 0.0
	for _, v := range mouth {
		if into < ms(v.MS) {
			ease := min(eases, ms(v.MS))
			return before + (v.Open-before)*min(float64(into)/float64(ease), 1), v.Shape
		}
		into -= ms(v.MS)
		before = v.Open
	}
	return 0, ""
}

// length gives how long a timeline is.
func length(mouth []abi.Viseme) (d time.Duration) {
	for _, v := range mouth {
		d += ms(v.MS)
	}
	return d
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// vowels are those of ぁ (U+3041) to ゖ, one letter each; katakana stand in the same order. A small っ and ん shut the mouth.
const vowels = "aaiiuueeoo" + // ぁあ
	"aaiiuueeoo" + // かが
	"aaiiuueeoo" + // さざ
	"aaiinuueeoo" + // ただ, with っ
	"aiueo" + // な
	"aaaiiiuuueeeooo" + // はばぱ
	"aiueo" + // ま
	"aauuoo" + // ゃや
	"aiueo" + // ら
	"aaieon" + // ゎわゐゑをん
	"uae" // ゔゕゖ

// opens is how far the mouth opens for a vowel; for a sound that nobody knows it is unknown.
var opens = map[string]float64{"a": 0.9, "i": 0.4, "u": 0.35, "e": 0.6, "o": 0.7, "n": 0}

const unknown = 0.6

// beat is how long a vowel takes, about seven of them a second.
const beat = 140 * time.Millisecond

// Guess gives a timeline for a text that is said in a time, without having heard it: a mouth that opens and shuts as
// often as there are vowels, and is shut where the text pauses.
func Guess(text string, long time.Duration) []abi.Viseme {
	beats := beatsOf(text)
	total := int(long / time.Millisecond)
	if len(beats) == 0 || total <= 0 {
		return nil
	}
	var all []abi.Viseme
	from := 0
	until := func(share float64, open float64, shape string) {
		to := int(math.Round(share / float64(len(beats)) * float64(total)))
		if to > from {
			all = append(all, abi.Viseme{MS: to - from, Open: open, Shape: shape})
			from = to
		}
	}
	for i, shape := range beats {
		open, ok := opens[shape]
		if !ok {
			open = unknown
		}
		until(float64(i)+0.6, open, shape)
		until(float64(i)+1, open*0.4, shape)
	}
	return all
}

// beatsOf gives the shapes of the mouth for a text, which take equally long.
func beatsOf(text string) (beats []string) {
	for _, r := range strings.ToLower(text) {
		kana := r
		if 'ァ' <= r && r <= 'ヶ' {
			kana = r - 'ァ' + 'ぁ'
		}
		switch {
		case 'ぁ' <= kana && kana <= 'ゖ':
			if strings.ContainsRune("ゃゅょぁぃぅぇぉゎ", kana) && len(beats) > 0 { // it changes the vowel before
				beats = beats[:len(beats)-1]
			}
			beats = append(beats, string(vowels[kana-'ぁ']))
		case r == 'ー':
			if len(beats) > 0 {
				beats = append(beats, beats[len(beats)-1])
			}
		case strings.ContainsRune("aiueo", r):
			beats = append(beats, string(r))
		case r == 'y':
			beats = append(beats, "i")
		case unicode.Is(unicode.Han, r): // two beats mostly
			beats = append(beats, "", "")
		case r <= unicode.MaxASCII && unicode.IsLetter(r): // a consonant goes with its vowel
		case unicode.IsLetter(r), unicode.IsDigit(r):
			beats = append(beats, "")
		case unicode.IsPunct(r) && len(beats) > 0 && beats[len(beats)-1] != "n":
			beats = append(beats, "n")
		}
	}
	return beats
}
