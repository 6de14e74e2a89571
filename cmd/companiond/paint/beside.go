package paint

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Column is a text with what stands above it.
type Column struct{ Title, Text string }

// wide is how many columns a terminal has to have so that two texts stand beside each other.
const wide = 100

// between stands between two columns.
const between = " │ "

// Beside writes two texts beside each other where the terminal is wide, and else one below the other.
func (p Painter) Beside(left, right Column) error {
	if p.Width < wide {
		for _, c := range []Column{left, right} {
			if _, err := fmt.Fprintf(p.Out, "%s\n", p.in("1", oneLine(c.Title))); err != nil {
				return err
			}
			if text := plain(c.Text, 2); text != "" {
				if _, err := fmt.Fprintf(p.Out, "  %s\n", text); err != nil {
					return err
				}
			}
		}
		return nil
	}
	half := (p.Width - columns(between)) / 2
	one, other := folded(oneLine(left.Title), half), folded(oneLine(right.Title), half)
	titles := max(len(one), len(other))
	one, other = padded(one, titles), padded(other, titles)
	one, other = append(one, folded(plain(left.Text, 0), half)...), append(other, folded(plain(right.Text, 0), half)...)
	for i := range max(len(one), len(other)) {
		a, b := at(one, i), at(other, i)
		gap := strings.Repeat(" ", max(0, half-columns(a)))
		if i < titles {
			a, b = p.in("1", a), p.in("1", b)
		}
		if _, err := fmt.Fprintln(p.Out, strings.TrimRight(a+gap+p.dim(between)+b, " ")); err != nil {
			return err
		}
	}
	return nil
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

func padded(lines []string, n int) []string {
	for len(lines) < n {
		lines = append(lines, "")
	}
	return lines
}

// columns is how many columns of a terminal a text takes.
func columns(s string) (n int) {
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

func columnsOf(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// folded breaks a text into lines of so many columns at most: between words, or anywhere where a word is
// longer, as in Japanese.
func folded(text string, most int) (lines []string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		for columns(line) > most {
			cut := cutAt(line, most)
			lines = append(lines, strings.TrimRight(line[:cut], " "))
			line = strings.TrimLeft(line[cut:], " ")
		}
		lines = append(lines, line)
	}
	return lines
}

// cutAt gives the byte at which a line is broken that is too long.
func cutAt(line string, most int) int {
	n, space := 0, 0
	for i, r := range line {
		if r == ' ' {
			space = i
		}
		if n += columnsOf(r); n > most && i > 0 {
			if space > 0 && i-space < most/2 { // a word that begins not too far before
				return space
			}
			return i
		}
	}
	return len(line)
}
