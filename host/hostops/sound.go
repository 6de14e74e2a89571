package hostops

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/blob"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/rooms"
)

// sounds runs an op on blobs, and on the sound of a line that is one.
func (o *Ops) sounds(ctx context.Context, c module.Caller, op string, data json.RawMessage) (json.RawMessage, error) {
	switch {
	case o.Blobs == nil:
		return nil, abi.Errorf(abi.CodeUnavailable, "%s: no blobs are kept here", op)
	case op == abi.HostBlobPut:
		return module.Answer(data, o.Blobs.Put)
	case op == abi.HostBlobGet:
		return module.Answer(data, func(r abi.BlobRef) (abi.Blob, error) { return o.Blobs.Get(r.Hash) })
	case o.Sound == nil:
		return nil, abi.Errorf(abi.CodeUnavailable, "%s: nobody takes sounds here", op)
	}
	return module.Answer(data, func(s abi.Sound) (struct{}, error) {
		if err := o.checkSound(s); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, o.Sound(ctx, c, s)
	})
}

// mostVisemes bounds the shapes of the mouth of one part, longestMouth how long they are together, and mostShape the name of one.
const (
	mostVisemes  = 4096
	longestMouth = 10 * time.Minute
	mostShape    = 16
)

// checkSound refuses what bodies could not play: a blob that is not kept, or is of another type.
func (o *Ops) checkSound(s abi.Sound) error {
	if s.Failed != "" {
		return nil
	}
	if _, err := o.typed("blob", s.Blob, blob.Audio); err != nil || s.Mouth.Hash == "" {
		return err
	}
	b, err := o.typed("mouth", s.Mouth, blob.JSON)
	if err != nil {
		return err
	}
	return checkMouth(b.Bytes)
}

// checkMouth refuses what no face could be moved by.
func checkMouth(text []byte) error {
	var mouth []*abi.Viseme
	err := json.Unmarshal(text, &mouth)
	if err == nil && mouth == nil { // null
		err = errors.New("it is null")
	}
	if err != nil {
		return abi.Field("mouth", abi.CodeInvalid, `is no list of {"ms":40,"open":0.8,"shape":"a"}: %v`, err)
	}
	if len(mouth) > mostVisemes {
		return abi.Field("mouth", abi.CodeTooLarge, "%d shapes, at most %d", len(mouth), mostVisemes)
	}
	left := int(longestMouth / time.Millisecond)
	for i, v := range mouth {
		switch {
		case v == nil:
			return abi.Field("mouth", abi.CodeInvalid, "shape %d: is null", i)
		case v.MS < 0 || !(v.Open >= 0 && v.Open <= 1):
			return abi.Field("mouth", abi.CodeInvalid, "shape %d: %d ms, open %v; must be 0 or more, and 0..1", i, v.MS, v.Open)
		case v.MS > left:
			return abi.Field("mouth", abi.CodeTooLarge, "is longer than %v", longestMouth)
		case len(v.Shape) > mostShape:
			return abi.Field("mouth", abi.CodeTooLarge, "shape %d: %d bytes for its name, at most %d", i, len(v.Shape), mostShape)
		}
		left -= v.MS
	}
	return nil
}

// typed gives a blob that has to be of a type.
func (o *Ops) typed(field string, r abi.BlobRef, want string) (abi.Blob, error) {
	b, err := o.Blobs.Get(r.Hash)
	if err != nil {
		e := abi.AsError(err)
		return b, abi.Field(field, e.Code, "%s; put it with blob.put first", e.Reason())
	}
	if b.Type != want {
		return b, abi.Field(field, abi.CodeInvalid, "is of the type %s, must be %s", b.Type, want)
	}
	return b, nil
}

// InHome gives what tells the home room of a companion how its lines sound, where may says that whoever calls acts for it, and changes what others may not read.
func InHome(may func(c module.Caller, s *abi.Sound) error, home func(ctx context.Context, companion string) (rooms.Room, error)) func(context.Context, module.Caller, abi.Sound) error {
	return func(ctx context.Context, c module.Caller, s abi.Sound) error {
		if err := may(c, &s); err != nil {
			return err
		}
		talk, err := home(ctx, s.Companion)
		if err != nil {
			return err
		}
		return talk.Sound(ctx, s.Companion, c.Companion, s)
	}
}
