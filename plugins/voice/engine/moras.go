package engine

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/voice/sound"
)

// spoken is what of a query says when which mouth is made.
type spoken struct {
	Phrases []struct {
		Moras    []mora `json:"moras"`
		Pause    *mora  `json:"pause_mora"`
		Question bool   `json:"is_interrogative"`
	} `json:"accent_phrases"`
	Speed      float64  `json:"speedScale"`
	Before     float64  `json:"prePhonemeLength"`
	After      float64  `json:"postPhonemeLength"`
	Pause      *float64 `json:"pauseLength"` // in place of what each pause has
	PauseScale *float64 `json:"pauseLengthScale"`
}

// mora is a beat of Japanese: a vowel, mostly behind a consonant. Lengths are in seconds.
type mora struct {
	Consonant       string  `json:"consonant"`
	ConsonantLength float64 `json:"consonant_length"`
	Vowel           string  `json:"vowel"`
	VowelLength     float64 `json:"vowel_length"`
	Pitch           float64 `json:"pitch"`
}

// raised is how long the engine draws out the end of a question, in seconds.
const raised = 0.15

// strays is how much longer or shorter a sound may be than its moras: an engine rounds each of them. Where it is
// more, the engine does not know their lengths, as AivisSpeech does not.
const strays = 0.1

// open is how far a mouth opens for a vowel.
var open = map[string]float64{"a": 1, "e": 0.7, "o": 0.75, "i": 0.45, "u": 0.4, "n": 0.1}

// mouth reads from a query how a mouth moves through a sound; nil where the query does not tell.
func mouth(query []byte, seconds float64) []abi.Viseme {
	var s spoken
	if err := json.Unmarshal(query, &s); err != nil || s.Speed <= 0 {
		return nil
	}
	var t timeline
	t.add(s.Before/s.Speed, abi.Viseme{})
	for _, p := range s.Phrases {
		for _, m := range p.Moras {
			t.mora(m, s.Speed)
		}
		if n := len(p.Moras); n > 0 && p.Question && p.Moras[n-1].Pitch > 0 {
			t.mora(mora{Vowel: p.Moras[n-1].Vowel, VowelLength: raised}, s.Speed)
		}
		if p.Pause != nil {
			t.add(s.pause(*p.Pause)/s.Speed, abi.Viseme{})
		}
	}
	spoke := t.at
	t.add(s.After/s.Speed, abi.Viseme{})
	if spoke <= s.Before/s.Speed || math.Abs(t.at-seconds) > strays*seconds+0.05 {
		return nil
	}
	return t.until(seconds)
}

func (s spoken) pause(m mora) float64 {
	length := m.VowelLength
	if s.Pause != nil {
		length = *s.Pause
	}
	if s.PauseScale != nil {
		length *= *s.PauseScale
	}
	return length
}

// timeline is a mouth that moves: each shape ends where the next begins.
type timeline struct {
	at     float64 // where the last one ends, in seconds
	shapes []abi.Viseme
	ends   []float64
}

func (t *timeline) add(seconds float64, v abi.Viseme) {
	if seconds <= 0 {
		return
	}
	t.at += seconds
	t.shapes, t.ends = append(t.shapes, v), append(t.ends, t.at)
}

// mora adds a mora. Before its vowel the mouth is shut for a consonant of the lips, and else on its way.
func (t *timeline) mora(m mora, speed float64) {
	vowel := strings.ToLower(m.Vowel) // a large one is whispered
	v := abi.Viseme{Open: open[vowel], Shape: vowel}
	if v.Open == 0 { // cl and pau
		v.Shape = ""
	}
	if m.Vowel != vowel && vowel != "n" {
		v.Open = sound.Hundredths(v.Open / 2)
	}
	if m.Consonant != "" {
		before := abi.Viseme{Open: sound.Hundredths(v.Open / 2), Shape: v.Shape}
		if strings.ContainsAny(m.Consonant[:1], "mbp") {
			before = abi.Viseme{}
		}
		t.add(m.ConsonantLength/speed, before)
	}
	t.add(m.VowelLength/speed, v)
}

// until gives the shapes up to an end, in whole milliseconds that add up to it; behind the last one the mouth is shut.
func (t *timeline) until(seconds float64) (all []abi.Viseme) {
	total, past := int(math.Round(seconds*1000)), 0
	add := func(v abi.Viseme, end int) {
		v.MS = end - past
		if v.MS <= 0 {
			return
		}
		past = end
		if n := len(all); n > 0 && all[n-1].Open == v.Open && all[n-1].Shape == v.Shape {
			all[n-1].MS += v.MS
			return
		}
		all = append(all, v)
	}
	for i, v := range t.shapes {
		add(v, min(total, int(math.Round(t.ends[i]*1000))))
	}
	add(abi.Viseme{}, total)
	return all
}
