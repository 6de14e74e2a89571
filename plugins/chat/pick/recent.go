package pick

import "container/list"

// recent is a map that keeps the newest keys, and forgets the one that was asked for the longest ago when it is full.
type recent[V any] struct {
	most  int
	at    map[string]*list.Element // of *kept[V]
	order *list.List               // the newest first
}

type kept[V any] struct {
	key   string
	value V
}

func newRecent[V any](most int) *recent[V] {
	return &recent[V]{most: most, at: map[string]*list.Element{}, order: list.New()}
}

// of gives the value of a key, which is zero where it is new.
func (r *recent[V]) of(key string) *V {
	r.add(key)
	return &r.at[key].Value.(*kept[V]).value
}

// add says whether a key is new.
func (r *recent[V]) add(key string) bool {
	if e, has := r.at[key]; has {
		r.order.MoveToFront(e)
		return false
	}
	if r.order.Len() >= r.most {
		oldest := r.order.Remove(r.order.Back()).(*kept[V])
		delete(r.at, oldest.key)
	}
	r.at[key] = r.order.PushFront(&kept[V]{key: key})
	return true
}

// look gives the value of a key, and makes it no newer.
func (r *recent[V]) look(key string) (v V, ok bool) {
	e, ok := r.at[key]
	if !ok {
		return v, false
	}
	return e.Value.(*kept[V]).value, true
}

func (r *recent[V]) size() int { return r.order.Len() }
