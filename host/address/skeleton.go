package address

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address/lookalike"
)

// Skeleton is what all names that a reader cannot tell apart have in common, as
// UTS #39 (Unicode Security Mechanisms) makes one, for names in Japanese and
// English. It is for comparing names, never for showing them. It takes out what
// is not shown, then makes no difference between
//
//   - case, width, and hiragana or katakana, as [Reading] does not either;
//   - the letters and digits of a class of package lookalike, Unicode's own data, or
//     in byEye: a and Cyrillic а, the numeral 二 and the katakana ニ;
//   - 0 and o, for in many fonts 0 is O, and case makes no difference;
//   - 1, l and i, for in many fonts 1 and I are l, and I is i. So kai and kal
//     cannot be in one room, nor can user1 and userl. That is the price of
//     refusing AIice beside Alice, and names in Japanese have no l;
//   - a mark written once and the same mark twice, and an i with a dot put on it.
//
// It makes a difference between names that a second look tells apart: rn and m
// (which UTS #39 makes one), cl and d, vv and w, for "Ren" and "Corn" are common
// and fonts for screens keep them apart; ン and ソ, シ and ツ, small ッ and ツ, が
// and か; é and e.
//
// A capital that looks like another letter than its small letter is taken as it
// looks: ΑΝΑ is ana, ανα is ava. Only a few are so, Greek ones for the most part,
// and only with them can two names have one Reading and two Skeletons: to look for
// a name among many, look for both.
func Skeleton(name string) string {
	name = strings.TrimSpace(norm.NFKC.String(misread.Replace(shown(name))))
	letters := []rune(norm.NFD.String(name))
	for i, r := range letters {
		letters[i] = looks.of(r)
	}
	var b strings.Builder
	var before, base rune
	marks := 0
	for _, r := range norm.NFD.String(string(letters)) {
		switch {
		case !unicode.IsMark(r):
			base, marks = r, 0
		case r == before && unicode.Is(unicode.Mn, r):
			continue // drawn on top of itself
		case r == dotAbove && (base == 'l' || base == 'j'):
			continue // it has a dot already (Soft_Dotted, UTS #39 section 5.4)
		case marks == mostMarks:
			continue
		default:
			marks++
		}
		before = r
		b.WriteRune(r)
	}
	return b.String()
}

// dotAbove is the mark that is part of i and j.
const dotAbove = '\u0307'

// mostMarks are looked at upon one letter. Nobody sees more, and from thirty on
// the normaliser would put in code points of its own.
const mostMarks = 8

// misread are the letters that NFKC makes another letter of than they look like
// in confusables.txt: the long s, and the Greek sigma in the shape of a moon.
var misread = strings.NewReplacer("ſ", "f", "ϲ", "c", "Ϲ", "c")

// byEye are classes that Unicode's data does not have: kana and the kanji or
// radical that it was taken from, 日 and 曰, and marks that over a kana look like
// its own (the data has the second of them).
var byEye = []string{"お才", "ち千", "ぬ又", "ひ匕", "む厶", "め乂", "よ彐", "日曰", "\u3099\u030B", "\u309A\u030A"}

// looks knows what each letter looks like.
var looks = newAppearance(lookalike.Classes(), byEye)

// appearance gives for a letter what stands for all that look like it.
type appearance map[rune]rune

func newAppearance(tables ...[]string) appearance {
	a := appearance{}
	for _, table := range tables {
		for _, class := range table {
			first := []rune(class)[0]
			for _, r := range class {
				a[r] = first
			}
		}
	}
	return a
}

// of gives what stands for a letter: as it looks itself, or else as its small
// letter does.
func (a appearance) of(r rune) rune {
	if as, ok := a[r]; ok {
		return as
	}
	r = small(r)
	if as, ok := a[r]; ok {
		return as
	}
	return r
}

// small makes capitals small and katakana hiragana, as fold does.
func small(r rune) rune {
	if r >= 'ァ' && r <= 'ヶ' {
		return r - ('ァ' - 'ぁ')
	}
	return unicode.ToLower(r)
}

// shown leaves out what no reader is shown. CheckName lets nothing ignorable into
// new names; old ones, and labels, may have it.
func shown(name string) string {
	marks := 0
	return strings.Map(func(r rune) rune {
		switch {
		case abi.Ignorable(r):
			return -1
		case !unicode.IsMark(r):
			marks = 0
		case marks == mostMarks:
			return -1
		default:
			marks++
		}
		return r
	}, name)
}
