package js

import (
	"fmt"
	"path"
	"strings"
)

// mostName bounds the name of a file that is imported, in bytes.
const mostName = 256

// cstring reads a text that ends with a zero.
func (v *vm) cstring(at uint32) string {
	var b strings.Builder
	for b.Len() < mostName {
		c := v.g.Read(at+uint32(b.Len()), 1)
		if c == nil || c[0] == 0 {
			break
		}
		b.WriteByte(c[0])
	}
	return b.String()
}

// leave writes a text where whoever asked for it gives it back.
func (v *vm) leave(text string) uint64 {
	at := must(v.alloc(len(text) + 1))
	if !v.g.Write(at, append([]byte(text), 0)) {
		panic(errMemory)
	}
	return uint64(at)
}

// throw has what the maker's code does fail.
func (v *vm) throw(why string) uint64 {
	must(v.g.Call("qjs_throw", uint64(must(v.string([]byte(why))))))
	return 0
}

// helpers is what makers import the helpers as, and helpersFile the file that they stand in. It is named as the prelude is, so
// that an error in them is told with the place in the maker's own file.
const (
	helpers     = "companion"
	helpersFile = preludeName + "/" + helpers
)

// resolve finds the file that one of a maker's imports: the helpers, or a file beside it, with or without its extension.
func resolve(files map[string]string, base, name string) string {
	if name == helpers {
		return helpersFile
	}
	if !strings.HasPrefix(name, "./") {
		return ""
	}
	at := path.Join(path.Dir(base), name)
	for _, ext := range append([]string{""}, extensions...) {
		if _, ok := files[at+ext]; ok {
			return at + ext
		}
	}
	return at
}

// normalize finds the file that one imports.
func (v *vm) normalize(stack []uint64) {
	base, name := v.cstring(uint32(stack[0])), v.cstring(uint32(stack[1]))
	find := v.script.resolve
	if find == nil {
		find = resolve
	}
	if file := find(v.script.files, base, name); file != "" {
		stack[0] = v.leave(file)
		return
	}
	stack[0] = v.throw(fmt.Sprintf("SyntaxError: %s imports %q; a file may import files beside it, such as \"./words.js\", and \"%s\"", base, name, helpers))
}

// module gives a file that is imported.
func (v *vm) module(stack []uint64) {
	name := v.cstring(uint32(stack[0]))
	text, ok := v.script.files[name]
	if !ok {
		stack[0] = v.throw(fmt.Sprintf("SyntaxError: there is no %s to import", name))
		return
	}
	n := uint32(len(text))
	if !v.g.Write(uint32(stack[1]), []byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}) {
		panic(errMemory)
	}
	stack[0] = v.leave(text)
}
