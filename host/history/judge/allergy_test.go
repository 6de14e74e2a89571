package judge_test

import (
	"testing"

	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/history/judge"
)

// TestAllergies: an allergy is a statement: what it is of has to be there, and it is not denied, whoever verifies; that somebody must not have the
// thing says it as well. One that is denied is not asserted.
func TestAllergies(t *testing.T) {
	const peanuts, egg, nuts = "I am allergic to peanuts.", "卵アレルギーがあります。", "ナッツのアレルギーがあるので、ナッツは絶対に入れないでください。"
	for _, c := range []struct {
		item, draft string
		kept        bool
	}{
		{peanuts, "taro is allergic to peanuts.", true},
		{peanuts, "They had a nice talk. taro has a peanut allergy.", true},
		{peanuts, "taro's allergies: peanuts and shrimp.", true},
		{peanuts, "Because of an allergy, taro must not eat peanuts.", true},
		{peanuts, "No peanuts for taro, who is allergic.", true},
		{peanuts, "mika is not allergic to shrimp, and taro is allergic to peanuts.", true},
		{peanuts, "taro is not allergic to peanuts.", false},
		{peanuts, "They had a nice talk. taro isn't allergic to peanuts.", false},
		{peanuts, "taro has no peanut allergy.", false},
		{peanuts, "taro is no longer allergic to peanuts.", false},
		{peanuts, "Nobody is allergic to peanuts.", false},
		{peanuts, "The peanut allergy is a mistake.", false},
		{peanuts, "taro is allergic to shrimp.", false},
		{peanuts, "taro is allergic to shrimp and likes peanuts.", false},
		{peanuts, "taro likes peanuts.", false},
		{peanuts, "taro does not have a peanut allergy.", false},
		{peanuts, "There is no peanut allergy.", false},
		{peanuts, "taro: I never said I am allergic to peanuts.", false},
		{peanuts, "Allergies: none. Peanuts are fine.", false},
		{peanuts, "taro, allergic to peanuts, does not like shrimp.", true},
		{"Mika has a severe nut allergy, so no nuts in the cake.", "mika has a bad nut allergy: no nuts in the cake.", true},
		{"Mika has a severe nut allergy, so no nuts in the cake.", "No nuts in the cake, as mika is allergic.", true},
		{"Mika has a severe nut allergy, so no nuts in the cake.", "mika has no nut allergy: nuts in the cake are fine.", false},
		{"Please note that I'm allergic to cats and dogs.", "taro is allergic to dogs and cats.", true},
		{"Please note that I'm allergic to cats and dogs.", "taro is allergic to cats.", false},
		{egg, "卵アレルギーなんてない。", false},
		{egg, "卵アレルギーは確認されていない。", false},
		{egg, "卵アレルギーを持っていません。", false},
		{egg, "卵アレルギーがあるので、卵は食べない。", true},
		{egg, "アレルギーがあるため卵は食べられない。", true},
		{egg, "アレルギー: なし。卵も大丈夫。", false},
		{egg, "アレルギー: 卵", true},
		{egg, "卵のアレルギーはないとのこと。", false},
		{egg, "卵アレルギーがなくなった。", false},
		{egg, "太郎は卵がだめ(アレルギー)。", true},
		{egg, "卵アレルギーがある。", true},
		{egg, "太郎さんは卵のアレルギー。", true},
		{egg, "アレルギーは小麦と卵。", true},
		{egg, "卵アレルギーのため、卵料理は出さない。", true},
		{egg, "たまごアレルギーあり。", true},
		{egg, "小麦アレルギーはないが、卵アレルギーはある。", true},
		{egg, "みんなは話した。卵アレルギーはありません。", false},
		{egg, "卵アレルギーはない。", false},
		{egg, "卵アレルギーではない。", false},
		{egg, "卵アレルギーなし。", false},
		{egg, "卵のアレルギーは太郎さんにはない。", false},
		{egg, "卵アレルギーは治った。", false},
		{egg, "小麦アレルギーがあります。", false},
		{egg, "卵が好きで、小麦アレルギーがある。", false},
		{egg, "卵が好きです。", false},
		{nuts, "ナッツのアレルギーがあるので、ナッツは入れない。", true},
		{nuts, "ナッツは絶対に入れない。", true},
		{nuts, "ナッツのアレルギーはない。", false},
		{nuts, "ナッツのアレルギーはない。ナッツを入れる。", false},
		{nuts, "卵のアレルギーがあるので、卵は入れない。", false},
		{nuts, "ナッツのアレルギーがあるので、ナッツを入れる。", false},
		{"I am not allergic to peanuts.", "taro is allergic to peanuts.", false},
		{"I am not allergic to peanuts.", "taro is not allergic to peanuts.", true},
		{"卵アレルギーはありません。", "卵アレルギーがある。", false},
		{"卵アレルギーはありません。", "卵アレルギーはない。", true},
		{"卵と小麦のアレルギーがあります。", "卵アレルギーがある。", false},
		{"卵と小麦のアレルギーがあります。", "小麦と卵のアレルギーがある。", true},
		{egg, "taro has no egg allergy.", false},
		{egg, "taro is allergic to eggs.", true},
		{"えびアレルギーです。", "海老アレルギーがある。", true},
		{"ピーナッツアレルギーです。", "カシューナッツのアレルギーがある。", false},
	} {
		items := named(c.item)
		turns := saying(c.draft, items)
		if v := judge.Verify(turns, items, c.draft); (v.Items[0].Status == string(history.Kept)) != c.kept {
			t.Errorf("%s -> %s: %+v, alone", c.item, c.draft, v.Items[0])
		}
		if v, f, why := judged(turns, items, c.draft, anyLength, says(c.draft)); (v == history.Yes) != c.kept {
			t.Errorf("%s -> %s: %s %+v by a model: %s", c.item, c.draft, v, f, why)
		}
	}
}
