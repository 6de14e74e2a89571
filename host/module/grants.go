package module

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/companiond/companiond/abi"
)

// Grants gives the host ops that a module may use beside those that are always
// granted. Engines know nothing of it: they get host calls that were put behind
// it, so that a new engine cannot forget to ask. A nil Grants grants nothing more.
type Grants func(module string) []string

// Guard gives calls that run only what the module that asks is granted. An op
// that is neither granted nor could be is not passed on either, so that one nobody
// thought of is denied.
func (g Grants) Guard(calls HostCalls) HostCalls { return guarded{calls, g} }

// ErrNotGranted is the cause of a denial for want of a grant, which is no matter of
// the moment: asking again gives the same.
var ErrNotGranted = errors.New("not granted")

type guarded struct {
	calls  HostCalls
	grants Grants
}

func (g guarded) HostCall(ctx context.Context, c Caller, op string, data json.RawMessage) (json.RawMessage, error) {
	if err := g.grants.Check("host_call", c.Companion, op); err != nil {
		return nil, err
	}
	return g.calls.HostCall(ctx, c, op, data)
}

// Check refuses ops that a module is not granted; where says where it names them.
// The denial names the key that would grant them all, beside what is granted now.
func (g Grants) Check(where, module string, ops ...string) error {
	var granted, missing []string
	if g != nil {
		granted = g(module)
	}
	for _, op := range ops {
		switch {
		case slices.Contains(abi.AlwaysGranted(), op), slices.Contains(granted, op):
		case slices.Contains(abi.GrantedOnly(), op):
			missing = append(missing, op)
		default:
			return abi.Errorf(abi.CodeUnknownOp, "%s: there is no op %q", where, op)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return abi.Wrap(abi.CodeDenied, ErrNotGranted, fmt.Sprintf("%s: %s is not granted to %s; to grant it, write under [module.%s] in the configuration: grant = [%s]",
		where, quoted(missing), module, tomlKey(module), quoted(append(slices.Clone(granted), missing...))))
}

func quoted(ops []string) string {
	texts := make([]string, len(ops))
	for i, op := range ops {
		texts[i] = strconv.Quote(op)
	}
	return strings.Join(texts, ", ")
}

// tomlKey writes a name as TOML does: in quotes unless it is plain ASCII.
func tomlKey(name string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return strconv.Quote(name)
	}
	return name
}
