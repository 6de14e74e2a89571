package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestEveryVerbHelps holds that each verb says on standard output how it is called, and which flags it has, and does nothing else.
func TestEveryVerbHelps(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, v := range verbs() {
		for _, args := range [][]string{{v.name, "-h"}, {v.name, "--help"}, {"help", v.name}} {
			var out, errs bytes.Buffer
			if code := (&term{out: &out, err: &errs}).do(t.Context(), args); code != exitOK || errs.Len() > 0 || !strings.HasPrefix(out.String(), "companiond "+v.name) {
				t.Errorf("%q: %d\n%s\n%s", args, code, out.String(), errs.String())
			}
		}
		flags := flagsOf(v)
		if flags == nil || flags.Name() != v.name {
			t.Errorf("%s has no flags that documents could tell of", v.name)
			continue
		}
		flags.VisitAll(func(f *flag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s -%s says nothing", v.name, f.Name)
			}
		})
		if has := flags.Lookup("o") != nil; has != strings.Contains(v.args, "[-o json]") {
			t.Errorf("%s takes -o: %v; its line says %q", v.name, has, v.args)
		}
	}
	var out, errs bytes.Buffer
	if code := (&term{out: &out, err: &errs}).do(t.Context(), []string{"help", "dance"}); code != exitUsage || !strings.Contains(errs.String(), `no verb "dance"`) {
		t.Errorf("%d %s", code, errs.String())
	}
	errs.Reset()
	if code := (&term{out: &out, err: &errs}).do(t.Context(), []string{"status", "-colour"}); code != exitUsage || !strings.Contains(errs.String(), "companiond help status") {
		t.Errorf("%d %s", code, errs.String())
	}
	if files, err := os.ReadDir("."); err != nil || len(files) > 0 {
		t.Errorf("help made %v %v", files, err)
	}
}

// TestForScripts holds the shapes of docs/SCRIPTS.md.
func TestForScripts(t *testing.T) {
	var want []string
	for _, v := range verbs() {
		if v.name == "history" || flagsOf(v).Lookup("o") != nil { // history's parts have it
			want = append(want, v.name)
		}
	}
	slices.Sort(want)
	if got := rows(t, "../../docs/SCRIPTS.md", "| `([a-z]+)` \\|"); !slices.Equal(got, want) {
		t.Errorf("docs/SCRIPTS.md has a row for %q, -o json have %q", got, want)
	}
	t.Chdir(t.TempDir())
	for args, keys := range map[string][]string{
		"version -o json": {"version", "go", "abi"},
		"check -o json":   {"ok", "findings"},
	} {
		var out, errs bytes.Buffer
		if code := (&term{out: &out, err: &errs}).do(t.Context(), strings.Fields(args)); code != exitOK {
			t.Errorf("%s: %d %s", args, code, errs.String())
		}
		var got map[string]any
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Errorf("%s: %v", args, err)
		}
		for _, k := range keys {
			if _, ok := got[k]; !ok {
				t.Errorf("%s has no %q: %v", args, k, got)
			}
		}
	}
}
