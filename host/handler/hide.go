package handler

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/companiond/companiond/host/module"
)

// hide takes secrets out of a text that others may read, also as they are written in Go, JSON, addresses and base64.
func (p *post) hide(text string) string {
	for _, form := range p.forms {
		text = strings.ReplaceAll(text, form, "(secret)")
	}
	return text
}

// conceal has a secret taken out of texts.
func (p *post) conceal(secret string) {
	written, _ := json.Marshal(secret) // a text can always be written
	for _, form := range []string{
		secret, inside(strconv.Quote(secret)), inside(string(written)), url.QueryEscape(secret), url.PathEscape(secret),
		base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)),
	} {
		if !slices.Contains(p.forms, form) {
			p.forms = append(p.forms, form)
		}
	}
	slices.SortFunc(p.forms, func(a, b string) int { return len(b) - len(a) }) // one may be a part of another
}

// inside gives a text without its quotes.
func inside(quoted string) string { return quoted[1 : len(quoted)-1] }

// wrong says why the settings are wrong: of a secret the place alone.
func (p *post) wrong(err error) string {
	why := module.Reason(err)
	for _, name := range p.secrets {
		if place := "settings." + name; strings.HasPrefix(why, place) {
			return place + ": is not as the handler's schema wants it; it is a secret, and not shown"
		}
	}
	return p.hide(why)
}
