package scaffold

import (
	"strings"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
)

// taken are names that mean something else as a folder of a Go module.
var taken = map[string]bool{"abi": true, "companion": true, "internal": true, "vendor": true, "testdata": true}

// checkName reports why a name cannot be both a companion's id and the last
// element of a Go module's path, with a name that can, where one is at hand.
func checkName(name string, lang Lang) error {
	if err := abi.CheckName("name", name); err != nil || lang == TypeScript && !strings.HasSuffix(name, ".") { // which is no Go module
		return err
	}
	for _, r := range name {
		if r >= utf8.RuneSelf {
			hint := `choose one in Latin letters for the folder`
			if roman := romaji(name); roman != "" {
				hint = `try "` + roman + `"`
			}
			return abi.Errorf(abi.CodeInvalid, "name: %q cannot name a Go module; %s, and put %q into Aliases in main.go", name, hint, name)
		}
	}
	switch {
	case taken[strings.ToLower(name)]:
		return abi.Errorf(abi.CodeInvalid, "name: %q means something else to Go; choose another", name)
	case strings.HasSuffix(name, "."):
		return abi.Errorf(abi.CodeInvalid, "name: %q ends in a dot, which a Go module's path may not", name)
	}
	return nil
}

// romaji writes kana in Latin letters; "" when there is anything else.
func romaji(kana string) string {
	var b strings.Builder
	double := false // after っ
	for _, r := range kana {
		if r >= 'ァ' && r <= 'ヶ' {
			r -= 'ァ' - 'ぁ'
		}
		switch r {
		case 'っ':
			double = true
			continue
		case 'ー':
			continue
		case 'ゃ', 'ゅ', 'ょ':
			// きょ is written kyo: the small letter takes the place of the i.
			before, ok := strings.CutSuffix(b.String(), "i")
			if !ok {
				return ""
			}
			vowel := map[rune]string{'ゃ': "a", 'ゅ': "u", 'ょ': "o"}[r]
			if !strings.HasSuffix(before, "sh") && !strings.HasSuffix(before, "ch") && !strings.HasSuffix(before, "j") {
				vowel = "y" + vowel
			}
			b.Reset()
			b.WriteString(before + vowel)
			continue
		}
		latin, ok := letters[r]
		if !ok {
			return ""
		}
		if double {
			latin, double = latin[:1]+latin, false
		}
		b.WriteString(latin)
	}
	return b.String()
}

// letters are the Hepburn letters of hiragana.
var letters = hepburn(`あa いi うu えe おo かka きki くku けke こko さsa しshi すsu せse そso たta ちchi つtsu てte とto
なna にni ぬnu ねne のno はha ひhi ふfu へhe ほho まma みmi むmu めme もmo やya ゆyu よyo らra りri るru れre ろro わwa をo んn
がga ぎgi ぐgu げge ごgo ざza じji ずzu ぜze ぞzo だda ぢji づzu でde どdo ばba びbi ぶbu べbe ぼbo ぱpa ぴpi ぷpu ぺpe ぽpo
ぁa ぃi ぅu ぇe ぉo ゔvu`)

func hepburn(table string) map[rune]string {
	m := map[rune]string{}
	for _, f := range strings.Fields(table) {
		r, size := utf8.DecodeRuneInString(f)
		m[r] = f[size:]
	}
	return m
}
