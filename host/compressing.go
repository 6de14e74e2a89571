package host

import (
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/call"
	"github.com/companiond/companiond/host/compress"
	"github.com/companiond/companiond/host/module/prompt"
)

// houseMind is the id of the compresser and verifier of a house that has a model and names no
// companion.
const houseMind = "model"

// buildCompress makes what has turns compressed.
func (h *Host) buildCompress() {
	house := prompt.NewHouse(houseMind, h.models, "")
	m := minds{of: h, house: house, calls: call.Calls{
		Find: func(id string) (call.Companion, bool) {
			if id == houseMind {
				return house, true
			}
			c, ok := h.folder.Companion(id)
			return loaded(c, ok)
		},
		NewID: newID,
		Blame: func(id, op string, err error) {
			h.log.Warn("an answer breaks the rules", "by", id, "op", op, "err", err)
		},
	}}
	h.compress = compress.New(compress.Config{
		Rooms: h.rooms, NewID: newID, Log: h.log, Mind: m.mind, Standing: h.rooms.Standing,
		Longest: func(verifier, policy string) (int, bool) {
			return house.Longest(policy), verifier == houseMind
		},
		Usual: func(string) (string, string) {
			if house.Waits() != "" {
				return compress.Extract, compress.Extract
			}
			return houseMind, houseMind
		},
	})
}

// minds are those in the house that draft and verify.
type minds struct {
	of    *Host
	house *prompt.House
	calls call.Calls
}

// mind gives one by its id.
func (m minds) mind(id string) (compress.Mind, error) {
	if id == houseMind {
		if why := m.house.Waits(); why != "" {
			return nil, abi.Errorf(abi.CodeUnavailable, "there is no model: %s; %q needs none", why, compress.Extract)
		}
		return call.Mind{Calls: m.calls, Who: id, Now: time.Now}, nil
	}
	c, ok := m.of.folder.Companion(id)
	if !ok {
		return nil, abi.Errorf(abi.CodeNotFound, "there is no companion %q; write one that compresses, %q, or %q", id, houseMind, compress.Extract)
	}
	if ops := c.Describe().Ops; !slices.Contains(ops, abi.OpCompress) && !slices.Contains(ops, abi.OpVerify) {
		return nil, abi.Errorf(abi.CodeInvalid, "%s answers neither %s nor %s; name another companion, %q, or %q", id, abi.OpCompress, abi.OpVerify, houseMind, compress.Extract)
	}
	return call.Mind{Calls: m.calls, Who: id, Now: time.Now}, nil
}
