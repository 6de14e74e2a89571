package world

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"time"
	"unicode/utf8"
)

// Draw gives a number of [0, 1) for a seed and what it is drawn for, always the same.
func Draw(seed string, what ...string) float64 {
	sum := sha256.Sum256([]byte(seed + "\x00" + strings.Join(what, "\x00")))
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}

// draw is Draw for the talk's seed.
func (w *World) draw(what ...string) float64 { return Draw(w.cfg.Seed, what...) }

// Draw gives a number of [0, 1) for the talk's seed; what tells draws of a rule apart.
func (w *World) Draw(what ...string) float64 { return w.draw(append([]string{"rule"}, what...)...) }

// span draws a time, in whole milliseconds.
func (w *World) span(s Span, what ...string) time.Duration {
	return (s.Min + time.Duration(w.draw(what...)*float64(s.Max-s.Min+1))).Round(time.Millisecond)
}

// nods are backchannels.
var nods = [...]string{"うん", "へえ", "なるほど", "そうだね", "すごい"}

// kana are what lines are made of: words without a sense do not repeat each other.
const kana = "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわ"

// text makes words of about size characters, addressed to somebody, in sentences of
// some twenty, and gives the first of these too.
func (w *World) text(name string, size int, what ...string) (text, first string) {
	letters := []rune(kana)
	sum := sha256.Sum256([]byte(w.cfg.Seed + "\x00text\x00" + strings.Join(what, "\x00")))
	state := binary.BigEndian.Uint64(sum[:])
	var b strings.Builder
	if name != "" {
		b.WriteString(name + "、")
	}
	for i := 1; i <= size; i++ {
		state = state*6364136223846793005 + 1442695040888963407
		b.WriteRune(letters[(state>>33)%uint64(len(letters))])
		if i == size || i%sentence == 0 && size-i >= sentence/2 {
			b.WriteString("。")
			if first == "" {
				first = b.String()
			}
		}
	}
	return b.String(), first
}

const sentence = 20 // characters

func runes(s string) int { return utf8.RuneCountInString(s) }
