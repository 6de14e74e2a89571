// Package cast knows who lives in the house, before anybody is loaded and after: whose a name is, among
// companions with a file and holders of a token.
//
// It loads nobody, and opens no room.
package cast

import (
	"slices"
	"sync"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
)

// House is who lives in the house and who has a token, for the rooms: who may
// be called what. A companion lives here as soon as its file is there, long before
// it is compiled.
type House struct {
	folders *folder.Set
	tokens  *identity.Register
	found   []string // the ids of the files when the daemon started

	mu    sync.Mutex
	ids   []string // of which names is made
	names *address.Set
}

// New makes a house of the folders, in which these files were found when the daemon started, and of the
// holders of tokens; nil is none.
func New(folders *folder.Set, tokens *identity.Register, found []string) *House {
	return &House{folders: folders, tokens: tokens, found: found}
}

// Residents gives the ids of all companions, loaded or not. A file whose name no
// companion may have is nobody's: you.wasm takes no name from people.
func (r *House) Residents() []string {
	return slices.DeleteFunc(r.files(), func(id string) bool { return address.Reserved(id, abi.KindCompanion) != "" })
}

// Loading gives the ids of those that are being loaded for the first time.
func (r *House) Loading() (ids []string) {
	for _, s := range r.folders.Status() {
		if s.State == module.StateLoading {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// files gives the ids of all files.
func (r *House) files() []string {
	ids := r.folders.IDs()
	select {
	case <-r.folders.Ready():
	default: // the folder is being looked through for the first time
		ids = append(ids, r.found...)
		slices.Sort(ids)
		ids = slices.Compact(ids)
	}
	return ids
}

// Resident says which companion has an id that reads or looks like a name.
func (r *House) Resident(name string) (id string, taken bool) {
	ids := r.files() // for each message; their names are found out when they change
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.names == nil || !slices.Equal(ids, r.ids) {
		r.ids, r.names = ids, &address.Set{Long: true}
		for _, id := range r.Residents() {
			r.names.Add(id, id)
		}
	}
	return r.names.Find(name)
}

// Holder says which holder of a token has a name that reads or looks like it.
func (r *House) Holder(name string) (holder string, taken bool) { return r.tokens.Taken(name) }
