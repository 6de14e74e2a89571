//go:build wasip1

// Command guest is a module for Extism that the tests load. It does what the mark says, which tests overwrite, and asks of Extism
// what its input says.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"
)

//go:wasmimport extism:host/env input_length
func inputLength() uint64

//go:wasmimport extism:host/env input_load_u8
func inputLoadU8(at uint64) uint32

//go:wasmimport extism:host/env input_load_u64
func inputLoadU64(at uint64) uint64

//go:wasmimport extism:host/env alloc
func alloc(n uint64) uint64

//go:wasmimport extism:host/env free
func free(at uint64)

//go:wasmimport extism:host/env length
func length(at uint64) uint64

//go:wasmimport extism:host/env load_u8
func loadU8(at uint64) uint32

//go:wasmimport extism:host/env load_u64
func loadU64(at uint64) uint64

//go:wasmimport extism:host/env store_u8
func storeU8(at uint64, b uint32)

//go:wasmimport extism:host/env store_u64
func storeU64(at uint64, b uint64)

//go:wasmimport extism:host/env output_set
func outputSet(at, n uint64)

//go:wasmimport extism:host/env error_set
func errorSet(at uint64)

//go:wasmimport extism:host/env config_get
func configGet(key uint64) uint64

//go:wasmimport extism:host/env var_get
func varGet(key uint64) uint64

//go:wasmimport extism:host/env var_set
func varSet(key, value uint64)

//go:wasmimport extism:host/env http_request
func httpRequest(what, body uint64) uint64

//go:wasmimport extism:host/env http_status_code
func httpStatus() uint32

//go:wasmimport extism:host/env log_warn
func logWarn(at uint64)

//go:wasmimport extism:host/user host_call
func hostCall(at uint64) uint64

// mark is what the guest is like. Tests write another word into the file.
var mark = strings.TrimSpace("MARK:good          ")

func put(s string) uint64 {
	at := alloc(uint64(len(s)))
	k := 0
	for ; k+8 <= len(s); k += 8 {
		var b uint64
		for n := range 8 {
			b |= uint64(s[k+n]) << (8 * n)
		}
		storeU64(at+uint64(k), b)
	}
	for ; k < len(s); k++ {
		storeU8(at+uint64(k), uint32(s[k]))
	}
	return at
}

func get(at uint64) string {
	b := make([]byte, length(at))
	k := 0
	for ; k+8 <= len(b); k += 8 {
		v := loadU64(at + uint64(k))
		for n := range 8 {
			b[k+n] = byte(v >> (8 * n))
		}
	}
	for ; k < len(b); k++ {
		b[k] = byte(loadU8(at + uint64(k)))
	}
	return string(b)
}

func input(to any) {
	b := make([]byte, inputLength())
	k := 0
	for ; k+8 <= len(b); k += 8 {
		v := inputLoadU64(uint64(k))
		for n := range 8 {
			b[k+n] = byte(v >> (8 * n))
		}
	}
	for ; k < len(b); k++ {
		b[k] = byte(inputLoadU8(uint64(k)))
	}
	if err := json.Unmarshal(b, to); err != nil {
		panic(err)
	}
}

func output(s string) { at := put(s); outputSet(at, uint64(len(s))) }

func give(v any) uint32 {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	output(string(b))
	return 0
}

//go:wasmexport describe
func describe() uint32 {
	switch mark {
	case "MARK:loads":
		for {
		}
	case "MARK:abi":
		return give(map[string]any{"abi": "99"})
	}
	return give(map[string]any{"version": "1"})
}

var hoard [][]byte

//go:wasmexport vote
func vote() uint32 {
	switch mark {
	case "MARK:hang":
		for {
		}
	case "MARK:trap":
		panic("told to")
	case "MARK:exit":
		os.Exit(0)
	case "MARK:grow":
		for {
			hoard = append(hoard, make([]byte, 1<<20))
		}
	case "MARK:bad":
		output("no JSON")
		return 0
	case "MARK:huge":
		output(`"` + strings.Repeat("x", 1_100_000) + `"`)
		return 0
	}
	return give(map[string]any{"state": "listen", "importance": 0})
}

//go:wasmexport speak
func speak() uint32 {
	var scene struct{ Message struct{ Text string } }
	input(&scene)
	what, arg, _ := strings.Cut(scene.Message.Text, " ")
	switch what {
	case "text":
		output("やあ、" + arg)
	case "fail":
		errorSet(put(arg))
		return 7
	case "count":
		n := len(get(varGet(put("n"))))
		varSet(put("n"), put(strings.Repeat("x", n+1)))
		output(fmt.Sprint(n + 1))
	case "forget":
		varSet(put("n"), 0)
		output(fmt.Sprint(length(varGet(put("n")))))
	case "config":
		output(get(configGet(put(arg))))
	case "ask":
		output("> " + get(hostCall(put(arg))))
	case "fetch":
		body := get(httpRequest(put(`{"url":"`+arg+`","method":"POST","headers":{"a":"b"}}`), put("body")))
		output(fmt.Sprintf("%d %s", httpStatus(), body))
	case "log":
		logWarn(put(arg))
		output("logged")
	case "outside": // of Extism's memory
		loadU64(1 << 40)
	case "hoard": // all of it
		for {
			alloc(1 << 20)
		}
	case "vars": // more than an instance may keep
		for n := range 100 {
			varSet(put(fmt.Sprint(n)), put(strings.Repeat("x", 100_000)))
		}
	case "again": // blocks that are given back can be had again, with nothing in them
		for range 10_000 {
			at := alloc(10_000)
			storeU8(at, 1)
			free(at)
		}
		at := alloc(9_000)
		output(fmt.Sprintf("%d %d", length(at), loadU8(at)))
	default:
		return give(map[string]any{"text": what, "to": []string{"taro"}})
	}
	return 0
}

type turn struct{ From, Text string }

//go:wasmexport compress
func compress() uint32 {
	var of struct {
		Turns  []turn
		Length int
	}
	input(&of)
	var lines []string
	for _, t := range of.Turns {
		lines = append(lines, t.From+": "+t.Text)
	}
	all := strings.Join(lines, " / ")
	if utf8.RuneCountInString(all) > of.Length {
		all = string([]rune(all)[:of.Length])
	}
	return give(map[string]any{"text": all})
}

//go:wasmexport verify
func verify() uint32 {
	var of struct {
		Keep  []struct{ ID, Text string }
		Draft string
	}
	input(&of)
	items, missing := []map[string]any{}, []string{}
	for _, k := range of.Keep {
		item := map[string]any{"id": k.ID, "status": "missing"}
		if strings.Contains(of.Draft, k.Text) {
			item["status"], item["quote"] = "kept", k.Text
		} else {
			missing = append(missing, k.ID)
		}
		items = append(items, item)
	}
	verdict := "YES"
	if len(missing) > 0 {
		verdict = "NO"
	}
	return give(map[string]any{"verdict": verdict, "feedback": strings.Join(missing, ", "), "items": items})
}

func main() {}
