package query

import (
	"net/url"
	"testing"

	"github.com/companiond/companiond/abi"
)

func TestFlag(t *testing.T) {
	for _, c := range []struct {
		query string
		usual bool
		want  bool
		field string
	}{
		{"", false, false, ""}, {"", true, true, ""}, {"on=1", false, true, ""}, {"on=true", false, true, ""}, {"on=0", true, false, ""},
		{"on=", false, false, "query.on"}, {"on", false, false, "query.on"}, {"on=yes", false, false, "query.on"}, {"other=1", false, false, ""},
	} {
		q, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Flag(q, "on", c.usual)
		if got != c.want || (err == nil) != (c.field == "") || err != nil && (abi.CodeOf(err) != abi.CodeInvalid || abi.AsError(err).Field != c.field) {
			t.Errorf("%q, usually %v: %v, %v", c.query, c.usual, got, err)
		}
	}
}
