package main

import (
	"io/fs"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

const tree = "../.."

// Files that documents name are there, and so is the heading that a link goes to.
func TestDocumentsHaveNoDeadLinks(t *testing.T) {
	links := 0
	for _, file := range documents(t) {
		for _, l := range linksOf(read(t, file)) {
			links++
			if why := dead(t, file, l); why != "" {
				t.Errorf("%s: (%s): %s", file, l, why)
			}
		}
	}
	if links < 250 {
		t.Errorf("only %d links were found", links)
	}
	for link, why := range map[string]string{"README.ja.md": "", "docs/ja/CARDS.md#ゲーム": "", "#on-stream": "", "docs/GONE.md": "there is no such file", "docs/stream.md#gone": "there is no such heading", "#as-a-servic": "there is no such heading"} {
		if got := dead(t, tree+"/README.md", link); got != why {
			t.Errorf("(%s) in README.md: %q, want %q", link, got, why)
		}
	}
}

// What the text names without a link is there, too.
func TestDocumentsNameFilesThatAre(t *testing.T) {
	named := regexp.MustCompile(`\bdocs/(?:ja/)?[A-Za-z]+\.md\b`)
	for _, file := range append(documents(t), tree+"/companiond.toml") {
		for _, name := range named.FindAllString(read(t, file), -1) {
			if ok, _ := filepath.Glob(tree + "/" + name); ok == nil {
				t.Errorf("%s names %s, which is not there", file, name)
			}
		}
	}
}

// A reader finds each document from docs/README.md.
func TestDocumentsAreInTheIndex(t *testing.T) {
	index := linksOf(read(t, tree+"/docs/README.md"))
	for _, pattern := range []string{"*.md", "ja/*.md"} {
		files, err := filepath.Glob(tree + "/docs/" + pattern)
		if err != nil || len(files) < 10 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			name, err := filepath.Rel(tree+"/docs", file)
			if name = filepath.ToSlash(name); err != nil || name != "README.md" && !slices.Contains(index, name) {
				t.Errorf("docs/README.md has no link to %s (%v)", name, err)
			}
		}
	}
}

// A browser makes a space of a line's end, and Japanese has none: a sentence of it is one line.
func TestJapaneseSentencesAreWhole(t *testing.T) {
	files, err := filepath.Glob(tree + "/docs/ja/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, tree+"/README.ja.md") {
		before := ""
		for line := range strings.SplitSeq(prose(read(t, file)), "\n") {
			if before != "" && line != "" && !strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "- ") && !strings.HasPrefix(line, "#") && !strings.HasSuffix(before, "。") {
				t.Errorf("%s: a line ends within a sentence: %s\n%s", file, before, line)
			}
			before = line
		}
	}
}

// The first page stays one: its text, without tables and what is typed, fits into 60 lines of 120 columns.
func TestReadmeIsShort(t *testing.T) {
	for file, columns := range map[string]int{"README.md": 120, "README.ja.md": 60} {
		lines := 0
		for line := range strings.SplitSeq(prose(read(t, tree+"/"+file)), "\n") {
			if line != "" && !strings.HasPrefix(line, "|") {
				lines += 1 + (utf8.RuneCountInString(linked.ReplaceAllString(line, "$1"))-1)/columns
			}
		}
		if t.Logf("%s: %d lines", file, lines); lines > 60 {
			t.Errorf("%s has %d lines of text, 60 at most: docs has room", file, lines)
		}
	}
}

// documents are all of the tree that are written for readers: not those that a scaffold fills in, nor data of tests.
func documents(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "node_modules", "testdata", "template", "bin", "state"}, d.Name()):
			return filepath.SkipDir
		case filepath.Ext(path) == ".md":
			files = append(files, path)
		}
		return nil
	})
	if err != nil || len(files) < 40 {
		t.Fatalf("%d documents: %v", len(files), err)
	}
	return files
}

var (
	linked = regexp.MustCompile(`\[([^\]]*)\]\(([^)\s]+)\)`)
	inline = regexp.MustCompile("`[^`\n]*`")
)

// linksOf gives where links go that are not to other hosts.
func linksOf(text string) (links []string) {
	for _, m := range linked.FindAllStringSubmatch(inline.ReplaceAllString(prose(text), "x"), -1) {
		if !strings.Contains(m[2], "://") {
			links = append(links, m[2])
		}
	}
	return links
}

// prose is a text without its blocks of code.
func prose(text string) string {
	var b strings.Builder
	code := false
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		} else if !code {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func dead(t *testing.T, file, link string) (why string) {
	t.Helper()
	link, err := url.PathUnescape(link)
	if err != nil {
		return err.Error()
	}
	path, heading, fragment := strings.Cut(link, "#")
	if path != "" {
		file = filepath.Join(filepath.Dir(file), path)
	}
	if found, err := filepath.Glob(file); err != nil || len(found) != 1 {
		return "there is no such file"
	}
	if fragment && !slices.Contains(headings(read(t, file)), heading) {
		return "there is no such heading"
	}
	return ""
}

// headings gives the names by which links go to headings, as GitHub makes them.
func headings(text string) (names []string) {
	for line := range strings.SplitSeq(prose(text), "\n") {
		title := strings.TrimLeft(line, "#")
		if title == line || !strings.HasPrefix(title, " ") {
			continue
		}
		names = append(names, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '-' || r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, linked.ReplaceAllString(strings.TrimSpace(title), "$1")))
	}
	return names
}
