package ops

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/room/turns"
)

var described = regexp.MustCompile(`fqName: "(\w+)".*variableLabels: \{([^}]*)\}`)

// all gives the metrics there are, with their labels.
func all(d *Door) map[string][]string {
	descs := make(chan *prometheus.Desc)
	go func() { d.registry.Describe(descs); close(descs) }()
	found := map[string][]string{}
	for desc := range descs {
		m := described.FindStringSubmatch(desc.String())
		found[m[1]] = strings.FieldsFunc(m[2], func(r rune) bool { return r == ',' })
	}
	return found
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("../../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var (
	row     = regexp.MustCompile("(?m)^\\| `(companiond_\\w+)` \\|([^|]*)\\|")
	path    = regexp.MustCompile("(?m)^\\| `(/[\\w/]+)` \\|")
	checked = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (?:the journal|characters|the loop|the daemon)")
	word    = regexp.MustCompile("`(\\w+)`")
)

// TestDocuments holds docs/METRICS.md to the metrics, their labels, the endpoints and the checks, both ways.
func TestDocuments(t *testing.T) {
	doc, d := read(t, "docs/METRICS.md"), busy()
	written := map[string][]string{}
	for _, m := range row.FindAllStringSubmatch(doc, -1) {
		var labels []string
		for _, l := range word.FindAllStringSubmatch(m[2], -1) {
			labels = append(labels, l[1])
		}
		written[m[1]] = labels
	}
	for name, labels := range all(d) {
		if own := strings.HasPrefix(name, namespace); own && !slices.Equal(written[name], labels) {
			t.Errorf("%s has the labels %q, docs/METRICS.md %q", name, labels, written[name])
		}
		delete(written, name)
	}
	if len(written) > 0 {
		t.Errorf("docs/METRICS.md has metrics that are not there: %v", written)
	}
	var paths []string
	for _, m := range path.FindAllStringSubmatch(doc, -1) {
		if paths = append(paths, m[1]); ask(d, m[1]).Code != 200 {
			t.Errorf("%s: %d", m[1], ask(d, m[1]).Code)
		}
	}
	if shown := strings.Fields(strings.Replace(index, "/readyz?verbose\n", "", 1)); !slices.Equal(paths, shown) {
		t.Errorf("docs/METRICS.md has %q, the door %q", paths, shown)
	}
	var checks []string
	for _, m := range checked.FindAllStringSubmatch(doc, -1) {
		checks = append(checks, m[1])
	}
	var have []string
	for _, c := range d.checks() {
		have = append(have, c.name)
	}
	if !slices.Equal(checks, have) {
		t.Errorf("docs/METRICS.md has the checks %q, the door %q", checks, have)
	}
}

// TestWordsOfLabels holds the values of labels in docs/METRICS.md to those there are.
func TestWordsOfLabels(t *testing.T) {
	doc := read(t, "docs/METRICS.md")
	table := func(head string) (words []string) {
		_, after, ok := strings.Cut(doc, head)
		if !ok {
			t.Fatalf("docs/METRICS.md has no %q", head)
		}
		for i, line := range strings.Split(after, "\n") {
			if i < 2 {
				continue // the rest of the head, and the rule
			}
			if !strings.HasPrefix(line, "|") {
				break
			}
			for _, m := range word.FindAllStringSubmatch(strings.Split(line, "|")[1], -1) {
				words = append(words, m[1])
			}
		}
		slices.Sort(words)
		return slices.Compact(words)
	}
	var outcomes []string
	for _, o := range turns.All() {
		outcomes = append(outcomes, string(o))
	}
	for head, want := range map[string][]string{
		"| `outcome` of a turn |": outcomes,
		"| `outcome` of a call |": {
			callOK, callError, callUnavailable, callGivenUp, string(module.FaultFuel), string(module.FaultReply), string(module.FaultTimeout), string(module.FaultTrap),
		},
		"| `outcome` of a file |": {"joined", "left", "refused", "replaced"}, // folder.ChangeKind
		"| `door`, `reason` |":    {"http", "internal", "mcp", "place", "rate", "slow", "socket"},
	} {
		slices.Sort(want)
		if got := table(head); !slices.Equal(got, want) {
			t.Errorf("%s has %q, want %q", head, got, want)
		}
	}
}

// TestDashboard holds the dashboard, and what docs/METRICS.md says is worth an alert, to metrics and labels there are.
func TestDashboard(t *testing.T) {
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
		Templating struct{ List []struct{ Query any } }
	}
	raw := read(t, "dist/grafana/companiond.json")
	if err := json.Unmarshal([]byte(raw), &board); err != nil || len(board.Panels) == 0 {
		t.Fatal(err)
	}
	doc := read(t, "docs/METRICS.md")
	_, alerts, _ := strings.Cut(doc, "worth an alert")
	exprs := []string{alerts}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			exprs = append(exprs, target.Expr+" "+target.LegendFormat)
		}
	}
	for _, v := range board.Templating.List {
		if q, is := v.Query.(map[string]any); is {
			exprs = append(exprs, q["query"].(string))
		}
	}
	have, shown := all(busy()), map[string]bool{}
	known := []string{"le"}
	for _, labels := range have {
		known = append(known, labels...)
	}
	metric := regexp.MustCompile(`\b(?:companiond|go|process)_\w+`)
	labels := regexp.MustCompile(`by \(([\w, ]+)\)|\{\{(\w+)\}\}|[{,](\w+)(?:=|!=)`)
	for _, expr := range exprs {
		for _, m := range metric.FindAllString(expr, -1) {
			name := strings.TrimSuffix(m, "_bucket")
			if _, ok := have[name]; !ok {
				t.Errorf("%s: there is no %s", expr, m)
			}
			shown[name] = true
		}
		for _, m := range labels.FindAllStringSubmatch(expr, -1) {
			for _, l := range strings.FieldsFunc(m[1]+","+m[2]+","+m[3], func(r rune) bool { return r == ',' || r == ' ' }) {
				if !slices.Contains(known, l) && l != "job" {
					t.Errorf("%s: no metric has the label %s", expr, l)
				}
			}
		}
	}
	for name := range have {
		if strings.HasPrefix(name, namespace) && !shown[name] {
			t.Errorf("neither the dashboard nor an alert shows %s", name)
		}
	}
}
