package extism

import (
	"bytes"
	"encoding/binary"
	"encoding/json"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module/wasm/drive"
)

// The modules that are imported from.
const (
	Env  = "extism:host/env"
	User = "extism:host/user"
)

// put writes something into a block of its own.
func (p *plugin) put(b []byte) uint64 {
	p.g.Copied(len(b))
	at := p.memory.alloc(uint64(len(b)))
	copy(p.memory.at(at, uint64(len(b))), b)
	return at
}

// take copies what stands in a block.
func (p *plugin) take(at uint64) []byte {
	b := p.memory.block(at)
	p.g.Copied(len(b))
	return bytes.Clone(b)
}

// imports are all functions, by module. Their types are those of Extism's kernel, in which a u8 is an i32.
func imports() map[string][]drive.Import {
	f := func(name, params, results string, run func(p *plugin, stack []uint64)) drive.Import {
		return drive.Import{Name: name, Params: params, Results: results, Run: func(d drive.Driver, stack []uint64) { run(d.(*plugin), stack) }}
	}
	env := []drive.Import{
		f("alloc", "l", "l", func(p *plugin, s []uint64) {
			p.g.Copied(int(min(s[0], maxMemory)))
			s[0] = p.memory.alloc(s[0])
		}),
		f("free", "l", "", func(p *plugin, s []uint64) { p.memory.release(s[0]) }),
		f("length", "l", "l", func(p *plugin, s []uint64) { s[0] = p.memory.blocks[s[0]] }),
		f("length_unsafe", "l", "l", func(p *plugin, s []uint64) { s[0] = p.memory.blocks[s[0]] }),
		f("load_u8", "l", "i", func(p *plugin, s []uint64) { s[0] = uint64(p.memory.at(s[0], 1)[0]) }),
		f("load_u64", "l", "l", func(p *plugin, s []uint64) { s[0] = binary.LittleEndian.Uint64(p.memory.at(s[0], 8)) }),
		f("store_u8", "li", "", func(p *plugin, s []uint64) { p.memory.at(s[0], 1)[0] = byte(s[1]) }),
		f("store_u64", "ll", "", func(p *plugin, s []uint64) { binary.LittleEndian.PutUint64(p.memory.at(s[0], 8), s[1]) }),

		f("input_offset", "", "l", func(p *plugin, s []uint64) { s[0] = p.input }),
		f("input_length", "", "l", func(p *plugin, s []uint64) { s[0] = p.memory.blocks[p.input] }),
		f("input_load_u8", "l", "i", func(p *plugin, s []uint64) { s[0] = uint64(p.inputAt(s[0], 1)[0]) }),
		f("input_load_u64", "l", "l", func(p *plugin, s []uint64) { s[0] = binary.LittleEndian.Uint64(p.inputAt(s[0], 8)) }),
		f("output_set", "ll", "", func(p *plugin, s []uint64) {
			out := p.memory.at(s[0], s[1])
			p.g.Copied(len(out))
			p.output = bytes.Clone(out)
		}),
		f("error_set", "l", "", func(p *plugin, s []uint64) { p.failed = string(p.take(s[0])) }),

		f("config_get", "l", "l", func(p *plugin, s []uint64) {
			value, _ := p.setting(string(p.take(s[0])))
			s[0] = p.put([]byte(value))
		}),
		f("var_get", "l", "l", func(p *plugin, s []uint64) { s[0] = p.put(p.vars[string(p.take(s[0]))]) }),
		f("var_set", "ll", "", func(p *plugin, s []uint64) {
			key := string(p.take(s[0]))
			if s[1] == 0 {
				p.set(key, nil)
				return
			}
			p.set(key, append([]byte{}, p.take(s[1])...))
		}),

		f("http_request", "ll", "l", func(p *plugin, s []uint64) { s[0] = p.put(p.fetch(p.take(s[0]), p.take(s[1]))) }),
		f("http_status_code", "", "i", func(p *plugin, s []uint64) { s[0] = uint64(p.status) }),
		f("http_headers", "", "l", func(p *plugin, s []uint64) {
			s[0] = 0
			if p.headers != nil {
				b, _ := json.Marshal(p.headers) // texts
				s[0] = p.put(b)
			}
		}),
		f("get_log_level", "", "i", func(p *plugin, s []uint64) { s[0] = 0 }), // all is taken; the daemon's log chooses
	}
	for name, level := range map[string]abi.Level{"log_trace": abi.LevelDebug, "log_debug": abi.LevelDebug, "log_info": abi.LevelInfo, "log_warn": abi.LevelWarn, "log_error": abi.LevelError} {
		env = append(env, f(name, "l", "", func(p *plugin, s []uint64) { p.g.Log(level, string(p.take(s[0]))) }))
	}
	return map[string][]drive.Import{Env: env, User: {
		f("host_call", "l", "l", func(p *plugin, s []uint64) { s[0] = p.put(p.g.Ask(p.take(s[0]))) }),
	}}
}

// inputAt is a part of the input.
func (p *plugin) inputAt(at, n uint64) []byte {
	input := p.memory.block(p.input)
	if at > uint64(len(input)) || n > uint64(len(input))-at {
		return make([]byte, n) // behind its end Extism has nothing, too
	}
	return input[at : at+n]
}
