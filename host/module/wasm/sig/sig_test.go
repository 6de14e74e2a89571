package sig

import "testing"

func TestText(t *testing.T) {
	for _, c := range []struct{ params, results, want string }{
		{"", "", "() -> ()"}, {"i", "", "(i32) -> ()"}, {"il", "l", "(i32, i64) -> (i64)"},
	} {
		if got := Text(Types(c.params), Types(c.results)); got != c.want {
			t.Errorf("%q, %q: %s, want %s", c.params, c.results, got, c.want)
		}
	}
}
