// Package forgettest is what tests of erasing have in common: it decodes every file of a state
// directory and tells where words still stand. It never erases anything.
package forgettest

import (
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	_ "modernc.org/sqlite" // the journal's own

	"github.com/companiond/companiond/host/forget/ledger"
)

// Left decodes every file of a state directory, and tells where one of some needles stands.
func Left(t testing.TB, dir string, needles ...string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) { // it was half of a file, and has another name by now
			return nil
		}
		if err != nil {
			return err
		}
		text := string(raw)
		if d.Name() == ledger.File {
			text = hashed(text)
		}
		for _, n := range needles {
			if in(text, n) {
				found = append(found, filepath.Base(path)+" (bytes): "+n)
			}
		}
		if strings.HasPrefix(string(raw), "SQLite format 3\x00") {
			rows(t, path, func(where string, value string) {
				decoded(value, 4, func(text string) {
					for _, n := range needles {
						if in(text, n) {
							found = append(found, where+": "+n+" in "+text)
						}
					}
				})
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// hashed gives the ledger with its hashes and salts as the bytes that they are: their letters come by chance, and four of them
// are a name once in some thousand times.
func hashed(text string) string {
	return regexp.MustCompile(`"[A-Za-z0-9+/]{22,}={0,2}"`).ReplaceAllStringFunc(text, func(quoted string) string {
		if b, err := base64.StdEncoding.DecodeString(strings.Trim(quoted, `"`)); err == nil {
			return string(b)
		}
		return quoted
	})
}

// in says whether a needle stands in a text, plainly, or with the escapes of JSON.
func in(text, needle string) bool {
	var escaped strings.Builder
	for _, r := range needle {
		if r < 0x80 {
			escaped.WriteRune(r)
		} else {
			fmt.Fprintf(&escaped, `\u%04x`, r)
		}
	}
	text, needle = strings.ToLower(text), strings.ToLower(needle)
	return strings.Contains(text, needle) || strings.Contains(text, escaped.String()) || strings.Contains(norm.NFKC.String(text), norm.NFKC.String(needle))
}

// rows gives all values of a database.
func rows(t testing.TB, path string, f func(where, value string)) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var tables []string
	list, err := db.Query("SELECT name FROM sqlite_schema WHERE type = 'table'")
	if err != nil {
		t.Fatal(err)
	}
	for list.Next() {
		var name string
		if err := list.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	}
	for _, table := range tables {
		all, err := db.Query("SELECT * FROM " + table)
		if err != nil {
			t.Fatal(err)
		}
		columns, _ := all.Columns()
		for n := 0; all.Next(); n++ {
			values := make([]any, len(columns))
			at := make([]any, len(columns))
			for i := range values {
				at[i] = &values[i]
			}
			if err := all.Scan(at...); err != nil {
				t.Fatal(err)
			}
			for i, v := range values {
				text := fmt.Sprint(v)
				if b, ok := v.([]byte); ok {
					text = string(b)
				}
				f(fmt.Sprintf("%s %s[%d].%s", filepath.Base(path), table, n, columns[i]), text)
			}
		}
	}
}

// decoded gives a text and all that is encoded in it.
func decoded(s string, depth int, f func(string)) {
	f(s)
	if depth == 0 {
		return
	}
	var v any
	if json.Unmarshal([]byte(s), &v) == nil {
		walk(v, func(s string) { decoded(s, depth-1, f) })
	}
	if b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "=")); err == nil && len(b) > 3 && utf8.Valid(b) {
		decoded(string(b), depth-1, f)
	}
}

func walk(v any, f func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for k, v := range v {
			f(k)
			walk(v, f)
		}
	case []any:
		for _, v := range v {
			walk(v, f)
		}
	case string:
		f(v)
	}
}
