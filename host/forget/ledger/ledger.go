// Package ledger is the file in which orders to erase are written down before anything is
// erased, and in which it is noted when they are done. It lies beside the journal and not in
// it, so that a journal that is put back from a backup meets the orders that it does not
// know.
//
// It never holds a name or a word: of whoever is to be forgotten it has a salted hash, by which
// a name can be told that is met again, and lines are only ever added.
package ledger

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/journal/statedir"
)

// File is the name of the ledger in the state directory.
const File = "erasures"

// maxLine is how long a line may be; of an order with as many facts as there may be it is less.
const maxLine = 1 << 16

// Order is an order as it is written down.
type Order struct {
	ID        string    `json:"id"`
	At        time.Time `json:"at"`
	By        string    `json:"by"`           // "person" or "admin"
	As        string    `json:"as,omitempty"` // stands where the name stood
	Salt      []byte    `json:"salt,omitempty"`
	Who       [][]byte  `json:"who,omitempty"` // hashes of the name, as it is read and as it looks
	Facts     []string  `json:"facts,omitempty"`
	Companion string    `json:"companion,omitempty"`
	Theirs    bool      `json:"theirs,omitempty"` // somebody else told the facts, whose words stay
	Copies    bool      `json:"copies,omitempty"`

	So     json.RawMessage `json:"-"` // what became of it so far, nil where nothing did yet
	Done   json.RawMessage `json:"-"` // what became of it, nil while it is not done
	Ended  time.Time       `json:"-"` // when it was done, zero where an older daemon did it
	Looked bool            `json:"-"` // what came late was looked through afterwards
}

// line is a line of the file: an order, how far one is, or that one is done.
type line struct {
	V int `json:"v"`
	*Order
	Of     string          `json:"of,omitempty"`
	So     json.RawMessage `json:"so,omitempty"`
	Done   json.RawMessage `json:"done,omitempty"`
	Ended  time.Time       `json:"ended,omitzero"`
	Looked bool            `json:"looked,omitempty"`
}

const version = 1

// Name puts the hashes of a name into an order.
func (o *Order) Name(name string) {
	o.Salt = make([]byte, 16)
	_, _ = rand.Read(o.Salt) // it never fails: crypto/rand ends the program instead
	o.Who = o.hashes(name)
}

// Is says whether a name is the one that is to be forgotten, or one that people cannot tell
// from it.
func (o *Order) Is(name string) bool {
	if len(o.Who) == 0 {
		return false
	}
	hs := o.hashes(name)
	return hmac.Equal(hs[0], o.Who[0]) || hmac.Equal(hs[1], o.Who[1])
}

func (o *Order) hashes(name string) [][]byte {
	sum := func(what, s string) []byte {
		h := hmac.New(sha256.New, o.Salt)
		h.Write([]byte(what + s))
		return h.Sum(nil)[:16]
	}
	return [][]byte{sum("read ", address.Reading(name)), sum("look ", address.Skeleton(name))}
}

// Ledger is an open file.
type Ledger struct {
	mu     sync.Mutex
	path   string
	orders []*Order // oldest first
}

// Open reads the ledger at path, which need not be there. The half of a line that a crash left
// at its end is taken off; any other line that cannot be read is an error, for nobody could
// tell what was to be erased.
func Open(path string) (*Ledger, error) {
	l := &Ledger{path: path}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ledger of erasures: %w", err)
	}
	whole := bytes.LastIndexByte(raw, '\n') + 1
	if whole < len(raw) {
		if err := os.Truncate(path, int64(whole)); err != nil {
			return nil, fmt.Errorf("mend ledger of erasures: %w", err)
		}
	}
	s := bufio.NewScanner(bytes.NewReader(raw[:whole]))
	s.Buffer(nil, maxLine)
	n := 0
	for s.Scan() {
		n++
		if err := l.read(s.Bytes()); err != nil {
			return nil, fmt.Errorf("%s:%d: %w; put the file back from a copy, or take the line out and give the order again", path, n, err)
		}
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", path, n+1, err)
	}
	return l, nil
}

func (l *Ledger) read(text []byte) error {
	x := line{Order: &Order{}}
	if err := json.Unmarshal(text, &x); err != nil {
		return errors.New("is no line of a ledger of erasures")
	}
	switch {
	case x.V > version:
		return fmt.Errorf("has version %d and this companiond knows %d; start the newer one", x.V, version)
	case x.Of != "":
		if o := l.find(x.Of); o != nil {
			o.take(x)
		}
		return nil
	case x.ID == "":
		return errors.New("has no id")
	}
	l.orders = append(l.orders, x.Order)
	return nil
}

func (l *Ledger) find(id string) *Order {
	for _, o := range l.orders {
		if o.ID == id {
			return o
		}
	}
	return nil
}

// Add writes an order down. When it returns nil the order is durable.
func (l *Ledger) Add(o Order) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.append(line{V: version, Order: &o}); err != nil {
		return fmt.Errorf("write down the order: %w", err)
	}
	l.orders = append(l.orders, &o)
	return nil
}

// So notes what became of an order so far, for whoever goes on with it after a kill.
func (l *Ledger) So(id string, result any) error {
	raw, err := json.Marshal(result)
	if err != nil {
		return err
	}
	return l.note(line{V: version, Of: id, So: raw})
}

// Done notes what became of an order.
func (l *Ledger) Done(id string, result any, at time.Time) error {
	raw, err := json.Marshal(result)
	if err != nil {
		return err
	}
	return l.note(line{V: version, Of: id, Done: raw, Ended: at.UTC().Truncate(time.Millisecond)})
}

// Looked notes that what came late was looked through, after an order was done.
func (l *Ledger) Looked(id string) error {
	l.mu.Lock()
	o := l.find(id)
	l.mu.Unlock()
	if o == nil {
		return nil
	}
	return l.note(line{V: version, Of: id, Done: o.Done, Ended: o.Ended, Looked: true})
}

// note adds a line about an order that is there.
func (l *Ledger) note(x line) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.append(x); err != nil {
		return fmt.Errorf("note how an order stands: %w", err)
	}
	if o := l.find(x.Of); o != nil {
		o.take(x)
	}
	return nil
}

// take takes in a line about an order.
func (o *Order) take(x line) {
	if x.So != nil {
		o.So = x.So
		return
	}
	o.Done, o.Ended, o.Looked = x.Done, x.Ended, x.Looked
}

// append adds a line to the file. What a write that failed left of one is taken off again.
func (l *Ledger) append(x line) (err error) {
	text, err := json.Marshal(x)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if _, err = f.Write(append(text, '\n')); err == nil {
		err = f.Sync()
	}
	if err != nil {
		return errors.Join(err, f.Truncate(info.Size()))
	}
	if info.Size() == 0 {
		return statedir.Sync(l.path)
	}
	return nil
}

// Since gives the orders behind one, oldest first: all, where that one is not known.
func (l *Ledger) Since(id string) []Order {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.IndexFunc(l.orders, func(o *Order) bool { return o.ID == id })
	var all []Order
	for _, o := range l.orders[at+1:] {
		all = append(all, *o)
	}
	return all
}

// NewID makes the id of an order, which also ends the name that stands for whoever is forgotten.
func NewID() string {
	var b [5]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// Merge gives the lines of a ledger that comes with a backup, and behind them those of the one that is there and are in it not: all orders that the
// backup's journal does not know stand behind those it knows.
func Merge(theirs, ours []byte) []byte {
	var all []byte
	known := map[string]bool{}
	for _, text := range [][]byte{theirs, ours} {
		for line := range bytes.Lines(text) {
			if line[len(line)-1] != '\n' || known[string(line)] { // half a line is what a crash left
				continue
			}
			known[string(line)] = true
			all = append(all, line...)
		}
	}
	return all
}
