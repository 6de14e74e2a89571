package address

import "testing"

// TestLong: names that differ by macrons alone are alike for companions, both ways, in a set that minds them and by their looks; whose
// words are whose is asked as ever.
func TestLong(t *testing.T) {
	for pair, alike := range map[[2]string]bool{
		{"Nīkoni", "nikoni"}: true, {"nīkōni", "Ni\u0304koni"}: true, {"Tarō", "TARO"}: true, {"Tarō", "tarо\u0304"}: true, {"ａ\u0304ya", "aya"}: true,
		{"aya", "kyoko"}: false, {"é", "e"}: false, {"ö", "o"}: false, {"tarou", "taro"}: false, {"アヤー", "アヤ"}: false, {"ū", "u"}: true,
	} {
		for range 2 {
			long, plain := Set{Long: true}, Set{}
			long.Add(pair[0], "first")
			plain.Add(pair[0], "first")
			if whose, taken := long.Find(pair[1]); taken != alike || taken && whose != "first" {
				t.Errorf("%q: %s, %v", pair, whose, taken)
			}
			if _, added := long.Add(pair[1], "second"); added == alike {
				t.Errorf("%q: added %v", pair, added)
			}
			if _, taken := plain.Find(pair[1]); taken != Same(pair[0], pair[1]) {
				t.Errorf("%q: %v in a plain set", pair, taken)
			}
			if LookOf(pair[0]).Alike(LookOf(pair[1])) != alike {
				t.Errorf("%q: not as in a set", pair)
			}
			pair[0], pair[1] = pair[1], pair[0]
		}
	}
	if Same("Tarō", "Taro") {
		t.Error("what one said is the other's")
	}
}
