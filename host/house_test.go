package host_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const house = "github.com/companiond/companiond/"

// floors lists the packages, lowest floor first. A package imports lower
// floors only: never its neighbour, never upward. A pattern ending in /...
// stands for packages that do not import each other.
var floors = [][]string{
	{"abi", "host/waittest", "host/logtest", "dist/systemd"},
	{"host/service", "host/lately"},
	{"abi/plain", "sdk/go"},
	{"sdk/go/words", "sdk/go/process/wire", "sdk/go/talk/stage"},
	{"sdk/go/talk/person", "sdk/go/talk/plain"},
	{"sdk/go/talk/lines"},
	{"sdk/go/talk", "sdk/go/process"},
	{"plugins/voice/sound", "plugins/voice/reading"},
	{"plugins/voice/engine"},
	{"plugins/face", "plugins/runs", "plugins/vts/studio", "plugins/vts/studiotest", "plugins/vmc/osc"},
	{"plugins/obs/client", "plugins/obs/subtitle", "plugins/obs/obstest", "plugins/obs/realobs"},
	{"plugins/chat/line"},
	{"plugins/chat/pick", "plugins/chat/twitch", "plugins/chat/youtube", "plugins/chat/onecomme"},
	{"plugins/clock/...", "plugins/obs/...", "plugins/vts/...", "plugins/vmc/...", "plugins/chat/...", "plugins/voice/..."},
	{"plugins/..."},
	{"sdk/js"},
	{"sdk/scaffold", "characters", "characters/..."},
	{"host/spell", "host/limits", "host/blob", "host/knowledge", "host/secret", "host/secret/hide", "host/context/quote", "host/search/gram", "host/force"},
	{"host/card/tree", "host/config/source"},
	{"host/card/schema"},
	{"host/entry"},
	{"host/address/lookalike"},
	{"host/turn", "host/conversation", "host/history", "host/playback", "host/address", "host/address/v1", "host/speech", "host/emotion"},
	{"host/config/form", "host/history/parts"},
	{"host/memory/wording", "host/memory/lineage"},
	{"host/memory/fact"},
	{"host/memory/dates", "host/memory/doubt"},
	{"host/memory/recall", "host/memory/near", "host/memory/extract", "host/memory/hearing", "host/history/marks"},
	{"host/config", "host/card", "host/room/cast", "host/room/queue", "host/room/turns", "host/room/life", "host/forget/origin", "host/forget/known"},
	{"host/room/fold", "host/identity", "host/bench/world", "host/conversations/view", "host/conversations/terms"},
	{"host/room/rules"},
	{"host/room/replay"},
	{"host/bench/baseline", "host/bench/house"},
	{"host/bench"},
	{"host/model/stream", "host/module/prompt/together"},
	{"host/model/wire", "host/model/shape", "host/model/vectors", "host/model/tokens", "host/model/trouble", "bench/wire", "bench/usage", "host/model/tokens/tokenstest"},
	{"host/history/alike"},
	{"host/history/keep", "host/history/judge"},
	{"host/history/extract"},
	{"bench/load", "bench/fanout", "bench/polls", "host/context/window"},
	{"host/journal", "host/module", "host/model", "host/memory/ask", "host/child", "host/child/warden", "host/module/wasm/codecache", "host/module/wasm/wasmtest"},
	{"host/module/wasm/compiler"},
	{"host/module/wasm/compiler/compilertest"},
	{"host/context/layout", "host/context/kept", "host/module/js/npm", "host/module/wasm/fuel", "host/module/wasm/sig", "host/module/wasm/memory", "host/module/wasm/snapshot", "host/module/wasm/drive", "host/module/wasm/meter", "host/module/guestlog", "host/module/moduletest", "host/journal/journaltest", "host/journal/journaltest/storetest", "host/journal/statedir", "host/journal/memory", "host/journal/sqlite/chain", "host/journal/sqlite/handover", "host/forget/scrub"},
	{"host/module/folder/lane", "host/module/folder/whole", "host/journal/sqlite/store", "host/journal/swap", "host/model/reach", "host/module/wasm/wasi"},
	{"host/module/wasm/border", "host/journal/sqlite/schema", "host/journal/sqlite/branch", "host/journal/sqlite/erasure", "host/journal/sqlite/words", "host/journal/sqlite/keys", "host/forget/ledger"},
	{"host/journal/sqlite"},
	{"host/module/prompt/spoken", "host/module/prompt/digest"},
	{"host/module/wasm", "host/module/process", "host/module/prompt", "host/module/script", "host/module/folder", "host/room/reader", "host/call", "host/perception", "host/room/presence", "host/action", "host/summon", "host/backup"},
	{"host/module/js", "host/module/extism", "host/module/folder/foldertest", "host/module/files"},
	{"host/cast", "host/fetch", "host/rooms", "host/observed", "host/context/told", "host/models", "host/memory/meaning", "host/search"},
	{"host/room/loop", "host/room/glance", "host/room/offer", "host/room/words"},
	{"host/room/votes", "host/room/voice", "host/room/senses", "host/room/body", "host/room/looptest"},
	{"host/room"},
	{"host/room/registry", "host/room/retention", "host/forget", "host/compress"},
	{"host/conversations", "host/sessions", "host/memory", "host/senses"},
	{"host/hostops", "host/handler", "host/handler/filter"},
	{"host/forget/told", "host/forget/forgettest"},
	{"host/door/guard", "host/door/doortest", "host/door/doortest/chromium", "host/door/places", "host/door/mcp/rpc"},
	{"host/door/mcp/streamable", "host/door/mcp/cards", "host/door/mcp/readers", "host/door/mcp/waits", "host/door/mcp/arguments", "host/door/answer", "host/door/chat/news"},
	{"host/door/socket/plain", "host/door/socket/session", "host/door/socket/unread", "host/door/socket/query", "host/door/socket/mouth"},
	{"host/door/socket/fanout", "host/door/socket/notices", "host/door/socket/follow", "host/door/socket/playout", "host/door/socket/actions", "host/door/socket/aituberkit", "host/door/socket/neuro", "host/door/socket/firehose", "host/door/socket/ollmv"},
	{"host/door/mcp/watch", "host/door/mcp/follows", "host/door/mcp/converse", "host/door/mcp/past"},
	{"host/door/mcp/guide"},
	{"host/door/mcp/tools"},
	{"host/door/page", "host/door/web/conversations", "host/door/web/memories", "host/door/web/past", "host/door/web/handlers", "host/door/web/files", "host/door/web/logs"},
	{"host/door/web", "host/door/socket", "host/door/mcp", "host/door/chat", "host/door/overlay"},
	{"host/check", "host/config/differ", "host/door/listen", "host/control", "host/namekey"},
	{"host/door/ops", "host/opening"},
	{"host/doctor"},
	{"host"},
	{"cmd/companiond/paint", "cmd/companiond/built", "cmd/companiond/unit", "cmd/companiond/manage", "cmd/companiond/tokens", "cmd/companiond/manual", "cmd/companiond/install"},
	{"cmd/companiond/memories", "cmd/companiond/history", "cmd/companiond/handlers", "cmd/companiond/create", "cmd/companiond/play", "cmd/companiond/backup", "cmd/companiond/replay", "cmd/companiond/check", "cmd/companiond/doctor"},
	{"cmd/companiond"},
}

// pure packages decide; they reach nothing. bare ones use the standard library
// alone.
var (
	pure = []string{"host/spell", "host/search/gram", "host/forget/scrub", "host/forget/origin", "host/forget/known", "host/context/quote", "host/context/window", "host/context/layout", "host/model/tokens", "host/conversation", "host/history", "host/history/marks", "host/history/alike", "host/history/keep", "host/history/judge", "host/history/extract", "host/door/mcp/rpc", "host/entry", "host/turn", "host/playback", "host/address", "host/address/v1", "host/speech", "host/emotion", "host/address/lookalike", "host/config", "host/config/form", "host/config/source", "host/config/differ", "host/card", "host/identity", "host/room/cast", "host/room/queue", "host/room/turns", "host/room/life", "host/room/rules", "host/room/replay", "host/bench/world", "host/bench/baseline", "host/bench/house", "host/bench", "host/journal/sqlite/handover", "host/conversations/view", "host/conversations/terms", "host/door/chat/news", "host/door/mcp/arguments", "host/door/mcp/guide", "host/door/mcp/tools", "host/room/fold", "host/memory/wording", "host/memory/lineage", "host/memory/dates", "host/memory/doubt", "host/memory/fact", "host/memory/recall", "host/memory/near", "host/memory/extract", "host/memory/hearing", "host/memory/ask", "host/model/shape", "host/model/vectors", "host/limits", "host/history/parts", "host/module/prompt/digest", "plugins/obs/subtitle", "plugins/chat/line", "plugins/chat/pick"}
	bare = []string{"abi", "sdk/go", "sdk/go/words", "sdk/go/talk", "sdk/go/talk/stage", "sdk/go/talk/person", "sdk/go/talk/plain", "sdk/go/talk/lines"}
	// impure is what a pure package may not import.
	impure = []string{"os", "net", "net/http", "math/rand", "math/rand/v2", "crypto/rand", "database/sql", "log/slog"}
	// clocks are what a pure package may not use of package time: the time comes
	// in with what is asked.
	clocks = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}
)

// owners says which package alone, with those below it, may import a third-party
// module. A module that only tests import is not listed: go list leaves test imports out.
var owners = map[string]string{
	"github.com/tetratelabs/wazero":            "host/module/wasm",
	"github.com/KimMachineGun/automemlimit":    "host",
	"github.com/fsnotify/fsnotify":             "host/module/folder",
	"github.com/gorilla/websocket":             "host/door/socket",
	"github.com/BurntSushi/toml":               "host/config",
	"github.com/agnivade/levenshtein":          "host/spell",
	"github.com/danielgtaylor/huma/v2":         "host/door/web",
	"github.com/santhosh-tekuri/jsonschema/v6": "host/card",
	"github.com/google/jsonschema-go":          "host/door/mcp",
	"github.com/modelcontextprotocol/go-sdk":   "host/door/mcp",
	"github.com/hashicorp/go-plugin":           "sdk/go/process",
	"github.com/hashicorp/go-hclog":            "sdk/go/process",
	"google.golang.org/grpc":                   "sdk/go/process",
	"google.golang.org/protobuf":               "sdk/go/process",
	"golang.org/x/time":                        "host/door/guard",
	"golang.org/x/sync":                        "host/door/guard",
	"golang.org/x/text":                        "host/address", // and host/module/folder, see shared
	"golang.org/x/sys":                         "host/journal/statedir",
	"github.com/gofrs/flock":                   "host/journal/statedir",
	"github.com/coreos/go-systemd/v22":         "host/service",
	"modernc.org/sqlite":                       "host/journal/sqlite",
	"pgregory.net/rapid":                       "host/journal/journaltest",
	"github.com/gempir/go-twitch-irc/v4":       "plugins/chat/twitch",
	"github.com/prometheus/client_golang":      "host/door/ops",
}

// shared are the exceptions to owners, each with its reason.
var shared = map[string]string{
	"host/module/files golang.org/x/sys":  "two files take each other's name in one step, so that nothing is lost that an editor saves at that moment",
	"host/module/files golang.org/x/text": "an id is its file's name in NFC; macOS writes NFD",

	"host/child golang.org/x/sys":        "the job object of Windows",
	"host/child/warden golang.org/x/sys": "the job object of Windows",

	"host/module/process github.com/hashicorp/go-plugin": "it is the other side of sdk/go/process: it starts programs and connects to them",
	"host/module/process github.com/hashicorp/go-hclog":  "go-plugin wants a logger of its kind",
	"host/module/process google.golang.org/grpc":         "what an error of a call was",

	"plugins/vts/studio github.com/gorilla/websocket":     "VTube Studio's API is a WebSocket",
	"plugins/vts/studiotest github.com/gorilla/websocket": "it stands in for VTube Studio",
	"plugins/obs/client github.com/gorilla/websocket":     "it is a client of OBS, which speaks WebSocket, and a program of its own",
	"plugins/obs/obstest github.com/gorilla/websocket":    "the server to it in tests",
	"plugins/chat/onecomme github.com/gorilla/websocket":  "OneComme is a WebSocket server, and this its client",

	"host/door/doortest/chromium github.com/gorilla/websocket": "Chromium's DevTools are a WebSocket",

	"cmd/companiond/paint golang.org/x/sys":     "how wide a terminal is",
	"cmd/companiond/paint golang.org/x/text":    "texts side by side, in which a Japanese letter is two wide",
	"host/turn golang.org/x/text":               "why lines up a table, in which a Japanese letter is two wide",
	"host/memory/wording golang.org/x/text":     "a quotation is looked for in NFKC",
	"host/forget/forgettest golang.org/x/text":  "tests look for words as people read them",
	"host/forget/forgettest modernc.org/sqlite": "tests look into the file behind the journal's back",
	"host/history/marks golang.org/x/text":      "numbers and names are read in NFKC",
	"host/history/judge golang.org/x/text":      "a verifier's quotation is looked for in NFKC, and where it stands",
	"host/forget/scrub golang.org/x/text":       "a word is looked for in NFKC",
	"host/search/gram golang.org/x/text":        "words are looked for in NFKC",
	"host/speech golang.org/x/text":             "what a listener says and lines that repeat are compared in NFKC; its neighbour host/address may not be asked",
	"host/module/folder golang.org/x/text":      "an id is its file's name in NFC; macOS writes NFD",
}

type pkg struct {
	ImportPath string
	Doc        string
	Imports    []string
	Standard   bool
}

// list asks the go command about packages of the house.
func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Doc,Imports,Standard", house+"...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

// floorOf gives the floor of a package, -1 when it has none.
func floorOf(name string) int {
	return slices.IndexFunc(floors, func(ps []string) bool {
		return slices.ContainsFunc(ps, func(p string) bool {
			prefix, all := strings.CutSuffix(p, "...")
			return p == name || (all && strings.HasPrefix(name, prefix))
		})
	})
}

func TestFloors(t *testing.T) {
	for _, p := range list(t) {
		from := strings.TrimPrefix(p.ImportPath, house)
		floor := floorOf(from)
		if floor < 0 {
			t.Errorf("%s has no floor: add it to floors", from)
		}
		for _, imp := range p.Imports {
			if to, own := strings.CutPrefix(imp, house); own && floorOf(to) >= floor {
				t.Errorf("%s (floor %d) imports %s (floor %d)", from, floor, to, floorOf(to))
			}
		}
	}
}

func TestOwners(t *testing.T) {
	used := map[string]bool{}
	for _, p := range list(t) {
		from := strings.TrimPrefix(p.ImportPath, house)
		for _, imp := range p.Imports {
			if strings.HasPrefix(imp, house) || !strings.Contains(strings.Split(imp, "/")[0], ".") {
				continue
			}
			known := false
			for dep, owner := range owners {
				if imp != dep && !strings.HasPrefix(imp, dep+"/") {
					continue
				}
				known, used[dep] = true, true
				if from != owner && !strings.HasPrefix(from, owner+"/") && shared[from+" "+dep] == "" {
					t.Errorf("%s imports %s, which only %s may", from, imp, owner)
				}
			}
			if !known {
				t.Errorf("%s imports %s, which has no owner: add it to owners", from, imp)
			}
		}
	}
	for dep := range owners {
		if !used[dep] {
			t.Errorf("nobody imports %s: take it out of owners", dep)
		}
	}
}

func TestPureAndBare(t *testing.T) {
	for _, p := range list(t) {
		from := strings.TrimPrefix(p.ImportPath, house)
		for _, imp := range p.Imports {
			if slices.Contains(pure, from) && slices.Contains(impure, imp) {
				t.Errorf("%s is pure and imports %s", from, imp)
			}
			if slices.Contains(bare, from) && strings.Contains(strings.Split(imp, "/")[0], ".") && !strings.HasPrefix(imp, house) {
				t.Errorf("%s uses the standard library alone and imports %s", from, imp)
			}
		}
	}
}

// TestSDKIsBare holds that what a guest links with the SDK is the standard library and abi: package process, for
// programs, is not among it.
func TestSDKIsBare(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", house+"sdk/go", house+"sdk/go/words", house+"sdk/go/talk").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range strings.Fields(string(out)) {
		if own, ok := strings.CutPrefix(p, house); !ok || !slices.Contains(bare, own) {
			t.Errorf("a guest links %s", p)
		}
	}
}

// TestPureReadsNoClock holds the pure packages to answers that are the same
// whenever they are asked, and in whatever order: no clock, no goroutine.
func TestPureReadsNoClock(t *testing.T) {
	for _, name := range pure {
		files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(name), "*.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s: %d files, %v", name, len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range clocksIn(f) {
				t.Errorf("%s: a pure package may not use %s", fset.Position(found.at), found.what)
			}
		}
	}
}

type found struct {
	at   token.Pos
	what string
}

// clocksIn finds the clocks of package time and the go statements of a file.
func clocksIn(f *ast.File) (all []found) {
	timeIs := ""
	for _, i := range f.Imports {
		if i.Path.Value != `"time"` {
			continue
		}
		timeIs = "time"
		if i.Name != nil {
			timeIs = i.Name.Name
		}
		if timeIs == "." {
			all = append(all, found{i.Pos(), `import . "time"`})
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			all = append(all, found{n.Pos(), "a goroutine"})
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && timeIs != "" && x.Name == timeIs && slices.Contains(clocks, n.Sel.Name) {
				all = append(all, found{n.Pos(), "time." + n.Sel.Name})
			}
		}
		return true
	})
	return all
}

// A search that finds nothing must be one that could.
func TestClocksAreFound(t *testing.T) {
	const src = `package x
import ti "time"
var now = ti.Now
func f(at ti.Time) { go f(at); _ = ti.Since(at); _ = ti.Second; _ = at.Add(1) }
`
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range clocksIn(f) {
		got = append(got, c.what)
	}
	if want := []string{"time.Now", "a goroutine", "time.Since"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

func TestPackageComments(t *testing.T) {
	for _, p := range list(t) {
		name := strings.TrimPrefix(p.ImportPath, house)
		switch {
		case p.Doc == "":
			t.Errorf("%s has no package comment", name)
		case !strings.HasPrefix(p.Doc, "Package ") && !strings.HasPrefix(p.Doc, "Command "):
			t.Errorf("%s: the package comment begins with %q", name, p.Doc)
		}
	}
}

// TestBuildsForGuests holds abi and the SDK to what a module can be built with.
func TestBuildsForGuests(t *testing.T) {
	cmd := exec.Command("go", "build", house+"abi", house+"sdk/go")
	cmd.Env = append(cmd.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
