package host

import (
	"slices"
	"sync"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
	"github.com/companiond/companiond/host/room"
)

// residents is who lives in the house and who has a token, for the rooms: who may
// be called what. A companion lives here as soon as its file is there, long before
// it is compiled.
type residents struct {
	folder *folder.Folder
	tokens *identity.Register

	mu    sync.Mutex
	found []string // the ids of the files when the daemon started
	ids   []string // of which names is made
	names *address.Set
}

var _ room.House = (*residents)(nil)

// Residents gives the ids of all companions, loaded or not. A file whose name no
// companion may have is nobody's: you.wasm takes no name from people.
func (r *residents) Residents() []string {
	return slices.DeleteFunc(r.files(), func(id string) bool { return address.Reserved(id, abi.KindCompanion) != "" })
}

// Loading gives the ids of those that are being loaded for the first time.
func (r *residents) Loading() (ids []string) {
	for _, s := range r.folder.Status() {
		if s.State == module.StateLoading {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// files gives the ids of all files.
func (r *residents) files() []string {
	ids := r.folder.IDs()
	select {
	case <-r.folder.Ready():
	default: // the folder is being looked through for the first time
		ids = append(ids, r.found...)
		slices.Sort(ids)
		ids = slices.Compact(ids)
	}
	return ids
}

// Resident says which companion has an id that reads or looks like a name.
func (r *residents) Resident(name string) (id string, taken bool) {
	ids := r.files() // for each message; their names are found out when they change
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.names == nil || !slices.Equal(ids, r.ids) {
		r.ids, r.names = ids, new(address.Set)
		for _, id := range r.Residents() {
			r.names.Add(id, id)
		}
	}
	return r.names.Find(name)
}

// Holder says which holder of a token has a name that reads or looks like it.
func (r *residents) Holder(name string) (holder string, taken bool) { return r.tokens.Taken(name) }

// isOurs says whether an id is that of a companion of the house, loaded or not, or of the holder of
// a token.
func (h *Host) isOurs(id string) bool {
	holder, taken := h.tokens.Taken(id)
	return taken && holder == id || slices.Contains(h.house.Residents(), id)
}
