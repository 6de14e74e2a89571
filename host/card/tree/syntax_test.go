package tree

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// A text that is no JSON says where, at the first byte of a character, and what to
// write instead.
func TestBroken(t *testing.T) {
	for src, want := range map[string]string{
		" \n":                               `2 it ends too early: there is nothing in it`,
		"{\n\"a\": [\n{":                    `10 it ends too early: the { in line 3 is not closed, nor are 2 around it`,
		"[1,\n2,\n":                         `7 it ends too early: the [ in line 1 is not closed`,
		`{"a": "b`:                          `8 it ends too early: the string in column 7 is not closed`,
		`{"a": "b”}`:                        `12 it ends too early: the string in column 7 is not closed; write " where it has ”`,
		`{"a": "b\"}`:                       `11 it ends too early: the string in column 7 is not closed`,
		`"\`:                                `2 it ends too early: the string in column 1 is not closed`,
		`nul`:                               `3 it ends too early`,
		`[-`:                                `2 it ends too early: the [ in column 1 is not closed`,
		`{"ああ": 'b'}`:                       `11 '\'' where a value has to begin; write " instead`,
		`{"a": “b”}`:                        `6 '“' where a value has to begin; write " instead`,
		`{“a”: 1}`:                          `1 '“' where a key has to begin; write " instead`,
		`{"a": ＂b＂}`:                        `6 '＂' where a value has to begin; write " instead`,
		`{a: 1}`:                            `1 'a' where a key has to begin; a key stands in "`,
		`{,}`:                               `1 ',' where a key has to begin`,
		`{"a" 1}`:                           `5 '1' where : has to follow the key; a : is missing before it`,
		`{"a”: "b": 1}`:                     `9 'b' where : has to follow the key; a : is missing before it, or is ” meant to be "?`,
		`{"a"：1}`:                           `4 '：' where : has to follow the key; write : instead, which is not full-width`,
		`{"a": 1，"b": 2}`:                   `7 '，' where , or } has to follow; write , instead, which is not full-width`,
		`{"a": 1、"b": 2}`:                   `7 '、' where , or } has to follow; write , instead`,
		`{"a": 1; "b": 2}`:                  `7 ';' where , or } has to follow; write , instead`,
		"{\"a\":\u30001}":                   `5 '\u3000' where a value has to begin; write an ordinary space instead`,
		"[\ufeff1]":                         `1 '\ufeff' where a value has to begin; it cannot be seen; take it out`,
		"{\"a\": 1\n\"b\": 2}":              `8 '"' where , or } has to follow; a comma is missing before it`,
		`[1 2]`:                             `3 '2' where , or ] has to follow; a comma is missing before it`,
		`{"a": "b”, "c": 1}`:                `14 'c' where , or } has to follow; a comma is missing before it, or is ” meant to be "?`,
		`{"a": "he said "hi" to"}`:          `16 'h' where , or } has to follow; a comma is missing before it, or a " in the text before is not written \"`,
		`{"a": "b" 01}`:                     `10 '0' where , or } has to follow; a comma is missing before it`,
		`{"a": 01}`:                         `7 '1' where , or } has to follow; a number does not begin with 0`,
		`{"a": 1]`:                          `7 ']' where , or } has to follow; the { in column 1 is not closed`,
		"{\"a\": [{\"b\": 1},\n\"c\": 2}":   `20 ':' where , or ] has to follow; the [ in line 1 is not closed`,
		`{"a": 1 : 2}`:                      `8 ':' where , or } has to follow`,
		"{\n\"a\": 1,\n}":                   `8 there is a comma before }; take it out`,
		`["}", ]`:                           `4 there is a comma before ]; take it out`,
		`{"a": }`:                           `6 '}' where a value has to begin`,
		`[1,,2]`:                            `3 ',' where a value has to begin`,
		"{ // x\n}":                         `2 there is a comment, and JSON has none; take it out`,
		`{"a": /* x */ 1}`:                  `6 there is a comment, and JSON has none; take it out`,
		"# x\n{}":                           `0 there is a comment, and JSON has none; take it out`,
		`{"a": 1 / 2}`:                      `8 '/' where , or } has to follow`,
		"\"a\nb\"":                          `2 a line end in the string that begins in column 1; close it, or write \n`,
		"{\n\"a\": \"b”,\n\"c\": 1}":        `13 a line end in the string that begins in line 2; is ” meant to be its closing "?`,
		"\"a\tb\"":                          `2 a tab in the string that begins in column 1; write \t`,
		"\"a\x01b\"":                        `2 '\x01' in the string that begins in column 1; write \u0001`,
		`"C:\あ"`:                            `4 'あ' after a \ in a string; a \ that is meant is written \\`,
		`"\//x\#"`:                          `6 '#' after a \ in a string; a \ that is meant is written \\`,
		`"\u12あ"`:                           `5 'あ' in a string where \u needs four digits, 0 to 9 and a to f`,
		`[tasty]`:                           `2 'a' in what begins like true; a text stands in "`,
		`[tru e]`:                           `4 ' ' in what begins like true; a text stands in "`,
		`[1.x]`:                             `3 'x' in a number`,
		`[True]`:                            `1 'T' where a value has to begin; write true`,
		`[None]`:                            `1 'N' where a value has to begin; write null`,
		`[Aya]`:                             `1 'A' where a value has to begin; a text stands in "`,
		`["a", 「あ」]`:                        `6 '「' where a value has to begin; a text stands in "`,
		`[.5]`:                              `1 '.' where a value has to begin; a number begins with a digit, or with -`,
		"{}\n}":                             `3 '}' after the end; the } in line 1 closes all that was open`,
		`1 2`:                               `2 '2' after the end`,
		strings.Repeat("[", 20_000) + "1":   `10000 '[' lies too deep`,
		strings.Repeat("[", 9_000) + "1, ]": `9001 there is a comma before ]; take it out`,
	} {
		var why Faults
		if n := Read([]byte(src), "v", &why); n != nil || len(why) != 1 || !why[0].Syntax {
			t.Errorf("%.40q: %v %v", src, n, why)
			continue
		}
		if got := strings.Replace(told(why), "v: is no JSON: ", "", 1); got != want {
			t.Errorf("%.40q:\n got %s\nwant %s", src, got, want)
		}
	}
}

// However a text is damaged, the place that is told begins a character of it, and
// nothing of encoding/json's own words is left.
func TestBrokenAnyhow(t *testing.T) {
	const good = "{\n  \"name\": \"あや\",\n  \"list\": [1, -2.5e3, true, null, {\"a\\u00e9\\\\\": \"\"}]\n}\n"
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(0, len(good)).Draw(t, "at")
		for !utf8.RuneStart((good + " ")[at]) {
			at--
		}
		with := rapid.SampledFrom([]string{"", "“", "”", "，", "：", "{", "}", "[", "]", "\"", ",", ":", "\\", "//", "/", "0", "t", " ", "\n", "\t", "あ", "#", "'"}).Draw(t, "with")
		rest := good[at:]
		if rapid.Bool().Draw(t, "cut") {
			rest = ""
		}
		data := good[:at] + with + rest
		var why Faults
		if n := Read([]byte(data), "", &why); n != nil {
			return
		}
		f := why[0]
		if f.At > len(data) || f.At < len(data) && !utf8.RuneStart(data[f.At]) || !utf8.ValidString(f.Text) ||
			strings.Contains(f.Text, "invalid character") || strings.Contains(f.Text, "looking for") {
			t.Fatalf("%q: %+v", data, f)
		}
	})
}
