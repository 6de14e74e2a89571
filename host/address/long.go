package address

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// macron is drawn over a vowel that is long, which is how Japanese names are written in Latin letters where somebody takes care:
// Tarō, whom everybody else writes Taro.
const macron = '\u0304'

// Short gives a name without its macrons.
func Short(name string) string {
	plain := norm.NFD.String(name)
	if !strings.ContainsRune(plain, macron) {
		return name
	}
	return norm.NFC.String(strings.ReplaceAll(plain, string(macron), ""))
}

// Look is what a name of a companion is compared by.
type Look struct{ whole, short Keys }

// LookOf gives the look of a name.
func LookOf(name string) Look {
	whole := KeysOf(name)
	if s := Short(name); s != name {
		return Look{whole, KeysOf(s)}
	}
	return Look{whole, whole}
}

// Alike says whether two names may not be those of two companions beside each other: they are one to people, as [Same] has it, or
// differ by macrons alone. [Same] itself tells those apart, for it also says whose words are whose in journals that are there.
func (l Look) Alike(o Look) bool {
	for i := range l.whole {
		if l.whole[i] == o.whole[i] || l.short[i] == o.short[i] {
			return true
		}
	}
	return false
}
