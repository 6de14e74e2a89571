package handler

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/module"
)

// May says whether the handler in whose call a host op is asked acts for a companion.
//
// # Errors
//
// CodeDenied where it does not, or where the call is none of a handler's.
func (s *Stage) May(c module.Caller, companion string) error {
	p, err := s.caller(c)
	if err == nil && !slices.Contains(p.companions, companion) {
		err = abi.Field("companion", abi.CodeDenied, "the handler %s does not act for %.64q, or there is none of this name", p.Name, companion)
	}
	return err
}

// Sound says whether a handler may say how a companion sounds, and takes out of why it does not what others may not read.
//
// # Errors
//
// Those of May.
func (s *Stage) Sound(c module.Caller, x *abi.Sound) error {
	if err := s.May(c, x.Companion); err != nil {
		return err
	}
	p, err := s.caller(c)
	if err == nil && x.Failed != "" {
		x.Failed = short(p.hide(x.Failed))
	}
	return err
}

// Emit has a companion perceive something, of which the handler's own secrets are taken out.
//
// # Errors
//
// Those of May; CodeInvalid for a body, a name or a key that cannot be; and those of Config.Perceive.
func (s *Stage) Emit(ctx context.Context, c module.Caller, a abi.PerceptionAsk) (abi.Emitted, error) {
	if err := s.May(c, a.Companion); err != nil {
		return abi.Emitted{}, err
	}
	by, _ := s.caller(c) // May has found it
	a.Body, a.From = by.concealed.JSON(a.Body), by.hide(a.From)
	p, err := percept(a)
	if err != nil {
		return abi.Emitted{}, err
	}
	if p.From == "" {
		p.From = by.Name
	}
	p.Key = keyOf(by, a.Key)
	seq, err := s.cfg.Perceive(module.During(ctx, by.Module), a.Companion, p)
	return abi.Emitted{Seq: seq}, err
}

// keyOf makes a key of a handler's, which the journal has: what others emitted it cannot take back.
func keyOf(p *post, key string) string { return p.Name + "/" + p.hide(key) }

// percept makes a perception of what a handler emits.
func percept(a abi.PerceptionAsk) (p abi.Percept, err error) {
	p = abi.Percept{Title: a.Title, Body: a.Body, From: shortName(a.From), Key: a.Key}
	switch {
	case len(a.Key) > abi.MaxName || strings.ContainsFunc(a.Key, func(r rune) bool { return !unicode.IsPrint(r) }):
		return p, abi.Field("key", abi.CodeInvalid, "must be at most %d bytes that can be printed", abi.MaxName)
	case len(a.Image) > 0 && len(a.Body) > 0:
		return p, abi.Field("image", abi.CodeInvalid, "there is a body as well")
	case len(a.Image) > 0:
		p.Format = card.FormatImage
		p.Body, err = json.Marshal("data:" + a.MediaType + ";base64," + base64.StdEncoding.EncodeToString(a.Image))
	case bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte{'"'}):
		p.Format = card.FormatText
	case len(a.Body) == 0, bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte{'{'}):
		p.Format = card.FormatObject
	default:
		return p, abi.Field("body", abi.CodeInvalid, "must be an object or a text")
	}
	return p, err
}

// shortName keeps what somebody calls himself to what shows, and to MaxName bytes.
func shortName(name string) string {
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && !abi.Ignorable(r) {
			return r
		}
		return -1
	}, name))
	if len(name) > abi.MaxName {
		name = strings.TrimSpace(strings.ToValidUTF8(name[:abi.MaxName], ""))
	}
	return name
}

// Retract takes back what a companion has not judged yet.
//
// # Errors
//
// Those of May; CodeInvalid where neither a key nor a name is given; and those of Config.Retract.
func (s *Stage) Retract(ctx context.Context, c module.Caller, a abi.RetractAsk) (abi.Retracted, error) {
	if err := s.May(c, a.Companion); err != nil {
		return abi.Retracted{}, err
	}
	if a.Key == "" && a.From == "" {
		return abi.Retracted{}, abi.Field("key", abi.CodeInvalid, "must not be empty where from is")
	}
	by, _ := s.caller(c) // May has found it
	n, err := s.cfg.Retract(ctx, a.Companion, keyOf(by, ""), keyOf(by, a.Key), shortName(by.hide(a.From)))
	return abi.Retracted{Count: n}, err
}
