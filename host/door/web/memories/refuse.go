package memories

import (
	"errors"
	"net/http"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/guard"
)

// at says where in a request an error is, nil of none. What is wrong with us has no place.
func at(where string, err error) error {
	if err == nil {
		return nil
	}
	d := *guard.DetailsOf(err)
	if d.Status >= http.StatusInternalServerError || len(d.Errors) > 0 {
		return err
	}
	e := abi.AsError(err)
	d.Errors = []guard.Field{{Location: where, Message: e.Reason()}}
	d.Detail = sentence(d.Errors)
	return &d
}

// places says where in a request the fields are that errors name.
type places map[string]string

// inPath are those of a path; all is every field of a body besides.
func inPath(all ...string) places {
	p := places{"companion": "path.id", "id": "path.memory"}
	for _, field := range all {
		p[field] = "body." + field
	}
	return p
}

// of places an error, where it names a field that has a place.
func (p places) of(err error) error {
	if e := (*abi.Error)(nil); errors.As(err, &e) && p[e.Field] != "" {
		return at(p[e.Field], err)
	}
	return err
}

// inBody makes one refusal of what is wrong with the fields of a body, nil of nothing.
func inBody(found ...error) error {
	var d *guard.Details
	for _, err := range found {
		if err == nil {
			continue
		}
		if d == nil {
			d = guard.DetailsOf(err)
		}
		e := abi.AsError(err)
		d.Errors = append(d.Errors, guard.Field{Location: "body." + e.Field, Message: e.Reason()})
	}
	if d == nil {
		return nil
	}
	d.Detail = sentence(d.Errors)
	return d
}

func sentence(all []guard.Field) string {
	var parts []string
	for _, f := range all {
		parts = append(parts, strings.TrimPrefix(f.Location, "body.")+": "+f.Message)
	}
	return strings.Join(parts, "; ")
}
