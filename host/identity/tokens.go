package identity

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
)

// prefix begins every token, so that people and scanners know one when they see
// it; hashed begins what stands for it in the tokens file.
const (
	prefix   = "cmp_"
	hashed   = "sha256:"
	maxNamed = 1024 // holders in one file
	// randomText is how many letters the random part of a token has.
	randomText = 43
)

// Holder is one line of the tokens file: who has a token and what it is for.
type Holder struct {
	Name   string
	Kind   abi.ParticipantKind // human or agent
	Scopes []Scope
	Hash   string // of the token, see Hash
}

// Line writes the holder as a line of the tokens file.
func (h Holder) Line() string {
	var scopes []string
	for _, s := range h.Scopes {
		scopes = append(scopes, string(s))
	}
	return fmt.Sprintf("%s %s %s %s%s", h.Name, h.Kind, strings.Join(scopes, ","), hashed, h.Hash)
}

// Check says why a holder cannot be a line of the tokens file, where a name like
// "#mika" would be a comment.
func (h Holder) Check() error {
	back, err := parseLine(h.Line())
	if err != nil {
		return err
	}
	if h.Name[0] == '#' || back.Name != h.Name || back.Kind != h.Kind || !slices.Equal(back.Scopes, h.Scopes) {
		return errors.New("name, kind, scopes and hash must be one word each")
	}
	return nil
}

// New makes a token of 256 random bits, which random fills in.
func New(random func([]byte)) string {
	var b [32]byte
	random(b[:])
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// Hash is what the tokens file keeps of a token: its SHA-256 in hexadecimal. A
// token has too much chance in it to be guessed from that.
func Hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Register is a tokens file that was read. A nil Register has no tokens.
type Register struct {
	mu      sync.RWMutex // guards what follows
	holders []Holder
	names   address.Set
}

// Replace puts the tokens of another file in place of those that are here; next, which may be nil, is not used any more.
// Whoever is connected stays who it is.
func (r *Register) Replace(next *Register) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.holders, r.names = nil, (address.Set{}); next != nil {
		r.holders, r.names = next.holders, next.names
	}
}

// Parse reads a tokens file: one holder a line,
//
//	NAME KIND SCOPES sha256:HEX
//
// with KIND human or agent and SCOPES like read,talk. Blank lines and those that
// begin with # are passed over. The error has every mistake with its line, and
// never what stands where a hash should be: it may be a token.
func Parse(file string, src []byte) (*Register, error) {
	r := &Register{}
	var wrong []error
	lines := bufio.NewScanner(bytes.NewReader(src))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || line[0] == '#' {
			continue
		}
		h, err := parseLine(line)
		if err == nil {
			err = r.add(h)
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s:%d: %w", file, n, err))
		}
	}
	if lines.Err() != nil {
		wrong = append(wrong, fmt.Errorf("%s: a line is too long", file))
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	return r, nil
}

func parseLine(line string) (Holder, error) {
	if looksLikeToken(line) {
		return Holder{}, errors.New(`a token itself stands here: replace it by what companiond token prints into the file, and make a new one`)
	}
	fields := strings.Fields(line)
	if len(fields) != 4 {
		return Holder{}, fmt.Errorf("%d words, want 4: NAME KIND SCOPES sha256:HEX", len(fields))
	}
	h := Holder{Name: fields[0], Kind: abi.ParticipantKind(fields[1])}
	if abi.CheckName("name", h.Name) != nil { // whose words would show the name
		return h, fmt.Errorf("name: the first word is no name: letters, digits and _ - . only, at most %d bytes", abi.MaxName)
	}
	if h.Kind != abi.KindHuman && h.Kind != abi.KindAgent {
		return h, fmt.Errorf("kind: the second word is neither %q nor %q", abi.KindHuman, abi.KindAgent)
	}
	var err error
	if h.Scopes, err = ParseScopes(fields[2]); err != nil {
		return h, err
	}
	digits, ok := strings.CutPrefix(fields[3], hashed)
	sum, err := hex.DecodeString(digits)
	if !ok || err != nil || len(sum) != sha256.Size {
		return h, errors.New("hash: the fourth word is not sha256: and 64 hexadecimal digits")
	}
	h.Hash = hex.EncodeToString(sum)
	if h.Hash == Hash("") { // an unset variable in somebody's script
		return h, errors.New("hash: is that of an empty token")
	}
	return h, nil
}

// looksLikeToken says whether a token itself stands in a line, anywhere.
func looksLikeToken(line string) bool {
	for rest := line; ; {
		var found bool
		if _, rest, found = strings.Cut(rest, prefix); !found {
			return false
		}
		if len(rest) >= randomText && !strings.ContainsFunc(rest[:randomText], notBase64) {
			return true
		}
	}
}

func notBase64(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_')
}

// ParseScopes reads "read,talk". Its error does not repeat what it cannot read:
// in the tokens file that may be a secret in the wrong place.
func ParseScopes(s string) ([]Scope, error) {
	var scopes []Scope
	for word := range strings.SplitSeq(s, ",") {
		scope := Scope(strings.TrimSpace(word))
		switch {
		case !slices.Contains(Scopes(), scope):
			return nil, errors.New("scopes: a word is none of read, talk, act, admin")
		case slices.Contains(scopes, scope):
			return nil, fmt.Errorf("scopes: %q is there twice", scope)
		}
		scopes = append(scopes, scope)
	}
	return scopes, nil
}

// add takes a holder unless its name or its token is another's.
func (r *Register) add(h Holder) error {
	if len(r.holders) >= maxNamed {
		return fmt.Errorf("more than %d tokens", maxNamed)
	}
	// Only what reads alike is refused: files may be older than the rule that names
	// which look alike are one.
	for _, other := range r.holders {
		switch {
		case address.Reading(other.Name) == address.Reading(h.Name):
			return fmt.Errorf("name: %s reads like %s, who has a token already", h.Name, other.Name)
		case other.Hash == h.Hash:
			return errors.New("hash: another holder has this token already")
		}
	}
	r.holders = append(r.holders, h)
	r.names.Add(h.Name, h.Name)
	return nil
}

// Len gives how many have a token.
func (r *Register) Len() int {
	if r == nil {
		return 0
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.holders)
}

// Admit says why nobody new gets a token under a name: Parse reads files that are
// older than the rules that names keep today.
func (r *Register) Admit(name string, kind abi.ParticipantKind) error {
	if err := address.CheckName("name", name); err != nil {
		return err
	}
	if why := address.Reserved(name, kind); why != "" {
		return abi.Errorf(abi.CodeInvalid, "name: %s", why)
	}
	if holder, taken := r.Taken(name); taken {
		return abi.Errorf(abi.CodeInvalid, "name: %s reads or looks like %s, who has a token already", name, holder)
	}
	return nil
}

// Taken says which holder has a name, or one that a reader cannot tell from it.
func (r *Register) Taken(name string) (holder string, taken bool) {
	if r == nil {
		return "", false
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.names.Find(name)
}

// Find gives the caller with a token. It compares hashes, all of them and in
// constant time, so that how long it takes tells nothing.
func (r *Register) Find(token string) (c Caller, found bool) {
	if token == "" || r == nil {
		return Caller{}, false
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	hash := []byte(Hash(token))
	for _, h := range r.holders {
		if subtle.ConstantTimeCompare([]byte(h.Hash), hash) == 1 {
			c, found = Caller{Name: h.Name, Kind: h.Kind, Scopes: slices.Clone(h.Scopes), register: r}, true
		}
	}
	return c, found
}
