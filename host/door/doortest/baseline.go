package doortest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// finding is a check of the suite that is not fulfilled.
type finding struct {
	check  string // "scenario:check-id"
	reason string // as the suite gives it, in one line
}

func (f finding) String() string { return f.check + " # " + f.reason }

// A line of a baseline: what is expected to fail, and why, as the suite says it.
var (
	baselineEntry = regexp.MustCompile(`^  - (\S+)(?: # (.*))?$`)
	oneCheck      = regexp.MustCompile(`^[^:\s]+:[^:\s]+$`)
	filed         = regexp.MustCompile(`^server-(.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z$`) // as the suite names a scenario's folder
)

// readBaseline reads a file of checks that are expected to fail. It is one of the
// suite's, of single checks only, each with its reason.
func readBaseline(text string) (expected []finding, problems []string) {
	for n, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" || line == "server:" || strings.HasPrefix(line, "  #") {
			continue
		}
		entry := baselineEntry.FindStringSubmatch(line)
		switch {
		case entry == nil:
			problems = append(problems, fmt.Sprintf("line %d: %q is no entry", n+1, line))
		case !oneCheck.MatchString(entry[1]):
			problems = append(problems, fmt.Sprintf("line %d: %s is no single check, write scenario:check-id", n+1, entry[1]))
		case entry[2] == "":
			problems = append(problems, fmt.Sprintf("line %d: %s has no reason, write it behind a #", n+1, entry[1]))
		default:
			expected = append(expected, finding{entry[1], entry[2]})
		}
	}
	return expected, problems
}

// verdicts are the checks of one scenario.
type verdicts []struct{ ID, Status, ErrorMessage string }

// score compares what the suite found with what is expected of the scenarios that are
// required.
func score(found map[string]verdicts, required []string, expected []finding) (problems []string) {
	var failed []finding
	ran := map[string]bool{}
	for _, scenario := range required {
		if len(found[scenario]) == 0 {
			problems = append(problems, scenario+": was not run to its end")
		}
		for _, c := range found[scenario] {
			f := finding{scenario + ":" + c.ID, strings.Join(strings.Fields(c.ErrorMessage), " ")}
			ran[f.check] = true
			if c.Status == "FAILURE" || c.Status == "WARNING" {
				failed = append(failed, f)
			}
		}
	}
	for _, f := range failed {
		if !slices.Contains(expected, f) {
			problems = append(problems, "unexpected: "+f.String())
		}
	}
	for n, e := range expected {
		switch {
		case slices.Contains(expected[:n], e):
			problems = append(problems, "twice: "+e.String())
		case !ran[e.check]:
			problems = append(problems, "absent, the suite has no such check: "+e.String())
		case !slices.Contains(failed, e):
			problems = append(problems, "stale, the check is fulfilled or fails for another reason: "+e.String())
		}
	}
	return problems
}

// requiredIn reads the server's scenarios from the suite's list of what a revision
// requires.
func requiredIn(list string) (scenarios []string) {
	_, list, _ = strings.Cut(list, "Server scenarios")
	_, list, _ = strings.Cut(list, "\n")
	for line := range strings.SplitSeq(list, "\n") {
		scenario, ok := strings.CutPrefix(line, "  - ")
		if !ok {
			break
		}
		scenarios = append(scenarios, strings.TrimSpace(scenario))
	}
	return scenarios
}

// results reads what the suite filed below dir, by scenario.
func results(dir string) (map[string]verdicts, error) {
	found := map[string]verdicts{}
	folders, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		scenario := filed.FindStringSubmatch(folder.Name())
		if scenario == nil {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, folder.Name(), "checks.json"))
		if err != nil {
			return nil, err
		}
		var checks verdicts
		if err := json.Unmarshal(data, &checks); err != nil {
			return nil, fmt.Errorf("%s: %w", folder.Name(), err)
		}
		found[scenario[1]] = append(found[scenario[1]], checks...)
	}
	return found, nil
}
