package config

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/turn"
)

const (
	kib  = 1 << 10
	mib  = 1 << 20
	page = 64 * kib // of WebAssembly memory
	day  = 24 * time.Hour
)

// row is what one key takes and refuses. Values are TOML; a refusal is the
// message with its hint.
type row struct {
	key    string
	takes  map[string]any
	refuse map[string]string
}

func rows() []row {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	return append([]row{
		{"door.listen", map[string]any{
			`"127.0.0.1:0"`:          "127.0.0.1:0",
			`"localhost:80"`:         "localhost:80",
			`"LOCALHOST:65535"`:      "LOCALHOST:65535",
			`"[::1]:3000"`:           "[::1]:3000",
			`"127.9.9.9:1"`:          "127.9.9.9:1",
			`'[::ffff:127.0.0.1]:1'`: "[::ffff:127.0.0.1]:1",
		}, map[string]string{
			`""`:                `"" is not host:port (try "127.0.0.1:3000")`,
			`"3000"`:            `"3000" is not host:port (try "127.0.0.1:3000")`,
			`"localhost"`:       `"localhost" is not host:port (try "127.0.0.1:3000")`,
			`"localhost:"`:      `"localhost:" is not host:port (try "127.0.0.1:3000")`,
			`"localhost:http"`:  `"localhost:http" is not host:port (try "127.0.0.1:3000")`,
			`"localhost:-1"`:    `"localhost:-1" is not host:port (try "127.0.0.1:3000")`,
			`"::1:3000"`:        `"::1:3000" is not host:port (try "127.0.0.1:3000")`,
			`"[::1]"`:           `"[::1]" is not host:port (try "127.0.0.1:3000")`,
			`"[127.0.0.1]:1"`:   `"[127.0.0.1]:1" is not host:port (try "127.0.0.1:3000")`,
			`"http://a:1"`:      `"http://a:1" is not host:port (try "127.0.0.1:3000")`,
			`"localhost:65536"`: `port 65536 is outside 0..65535`,
			`3000`:              `3000 is not a text (try "3000")`,
			`"0.0.0.0:3000"`:    `"0.0.0.0:3000" can be reached from other machines, and there are no tokens (set identity.tokens, or listen on 127.0.0.1)`,
			`":3000"`:           `":3000" can be reached from other machines, and there are no tokens (set identity.tokens, or listen on 127.0.0.1)`,
			`"aya.example:1"`:   `"aya.example:1" can be reached from other machines, and there are no tokens (set identity.tokens, or listen on 127.0.0.1)`,
		}},
		{"door.insecure", map[string]any{
			`true`:  true,
			`false`: false,
		}, map[string]string{
			`"true"`: `"true" is not true or false (try true)`,
			`"yes"`:  `"yes" is not true or false`,
			`1`:      `1 is not true or false`,
		}},
		{"door.hosts", map[string]any{
			`[]`:                              []string{},
			`["aya.example", "Studio"]`:       []string{"aya.example", "studio"},
			`["192.168.0.7", "[::1]", "a_b"]`: []string{"192.168.0.7", "[::1]", "a_b"},
		}, map[string]string{
			`["a:80"]`:        `"a:80" is not a host name (try "a")`,
			`["http://a/b"]`:  `"http://a/b" is not a host name (try "a")`,
			`["*"]`:           `"*" is not a host name`,
			`[""]`:            `"" is not a host name`,
			`["a..b"]`:        `"a..b" is not a host name`,
			`["-a"]`:          `"-a" is not a host name`,
			`["あ"]`:           `"あ" is not a host name`,
			`["::1"]`:         `"::1" is not a host name`,
			`["a", "b", "A"]`: `"a" is in the list twice`,
			`"a"`:             `"a" is not a list (try ["a"])`,
			`true`:            `true is not a list`,
			`[1979-05-27]`:    `a date or time is not a text`,
			`[1.5]`:           `1.5 is not a text`,
			`[["a"]]`:         `a list is not a text`,
			`[{a = 1}]`:       `a table is not a text`,
		}},
		{"door.origins", map[string]any{
			`["http://localhost:8080"]`:          []string{"http://localhost:8080"},
			`["HTTPS://Aya.Example"]`:            []string{"https://aya.example"},
			`["https://a:443", "http://a:80"]`:   []string{"https://a", "http://a"},
			`["https://a:80"]`:                   []string{"https://a:80"},
			`["http://[::1]:1", "http://[::1]"]`: []string{"http://[::1]:1", "http://[::1]"},
			`["tauri://localhost"]`:              []string{"tauri://localhost"},
			`["chrome-extension://abcdef"]`:      []string{"chrome-extension://abcdef"},
		}, map[string]string{
			`["aya.example"]`:            `"aya.example" is not an origin (scheme://host[:port]) (try "https://aya.example")`,
			`["https://aya.example/"]`:   `"https://aya.example/" is not an origin (scheme://host[:port]) (try "https://aya.example")`,
			`["https://a/b?c"]`:          `"https://a/b?c" is not an origin (scheme://host[:port]) (try "https://a")`,
			`["https://"]`:               `"https://" is not an origin (scheme://host[:port])`,
			`["://a"]`:                   `"://a" is not an origin (scheme://host[:port])`,
			`["1a://a"]`:                 `"1a://a" is not an origin (scheme://host[:port])`,
			`["https://a:0"]`:            `"https://a:0" is not an origin (scheme://host[:port])`,
			`["https://a:"]`:             `"https://a:" is not an origin (scheme://host[:port])`,
			`["https://a:080"]`:          `"https://a:080" is not an origin (scheme://host[:port])`,
			`["https://u:p@a"]`:          `"https://u:p@a" is not an origin (scheme://host[:port])`,
			`["*"]`:                      `"*" is not an origin (scheme://host[:port])`,
			`["null"]`:                   `"null" is not an origin (scheme://host[:port]) (try "https://null")`,
			`["https://a", "https://A"]`: `"https://a" is in the list twice`,
		}},
		{"door.rate", map[string]any{`0`: int64(0)}, map[string]string{`-1`: `-1 is outside 0..1000000`}},
		{"identity.tokens", map[string]any{`""`: "", `"state/tokens"`: "state/tokens", `"credential:tokens"`: "credential:tokens"}, map[string]string{
			`"credential:"`: `"credential:" names no credential (try "credential:tokens")`, `"credential:a/b"`: `"credential:a/b" names no credential (try "credential:tokens")`,
			`7`: `7 is not a text (try "7")`,
		}},
		{"identity.guests", map[string]any{`false`: false}, map[string]string{`"no"`: `"no" is not true or false`}},
		{"door.require_spec", map[string]any{
			`true`:  true,
			`false`: false,
		}, map[string]string{
			`"yes"`: `"yes" is not true or false`,
		}},
		{"door.overlay_css", map[string]any{`""`: "", `"stream/overlay.css"`: "stream/overlay.css"}, map[string]string{
			`"a\u0000"`: `"a\x00" is not a path`, `true`: `true is not a text (try "true")`,
		}},
		{"door.firehose", map[string]any{`""`: "", `"127.0.0.1:8080"`: "127.0.0.1:8080"}, map[string]string{
			`"8080"`: `"8080" is not host:port (try "127.0.0.1:3000")`, `8080`: `8080 is not a text (try "8080")`,
		}},
		{"door.ops", map[string]any{`""`: "", `"127.0.0.1:3001"`: "127.0.0.1:3001", `"[::1]:0"`: "[::1]:0", `"localhost:3001"`: "localhost:3001"}, map[string]string{
			`"3001"`: `"3001" is not host:port (try "127.0.0.1:3000")`, `"127.0.0.1:70000"`: `port 70000 is outside 0..65535`,
			`"0.0.0.0:3001"`: `"0.0.0.0:3001" can be reached from other machines, and nobody is asked who it is there (try "127.0.0.1:3001")`,
			`":3001"`:        `":3001" can be reached from other machines, and nobody is asked who it is there (try "127.0.0.1:3001")`,
			`"ops.lan:3001"`: `"ops.lan:3001" can be reached from other machines, and nobody is asked who it is there (try "127.0.0.1:3001")`,
		}},
		{"door.max_rooms", map[string]any{`0`: int64(0), `100`: int64(100)}, map[string]string{`-1`: `-1 is outside 0..1000000`}},
		{"journal.blank_after", map[string]any{`"0s"`: time.Duration(0), `"720h"`: 720 * time.Hour}, map[string]string{
			`"-1s"`: `"-1s" is outside 0s..876000h`, `"30 days"`: `"30 days" is not a duration (try "720h")`,
		}},
		{"memory.scope", map[string]any{`"off"`: "off", `"room"`: "room", `"person"`: "person", `"all"`: "all"}, map[string]string{
			`"rom"`: `"rom" is unknown, have: off, room, person, all (did you mean "room"?)`, `""`: `"" is unknown, have: off, room, person, all`,
		}},
		{"memory.by", map[string]any{`"auto"`: "auto", `"rules"`: "rules", `"model"`: "model"}, map[string]string{
			`"modle"`: `"modle" is unknown, have: auto, rules, model (did you mean "model"?)`,
		}},
		{"companion.NAME.memory", map[string]any{`""`: "", `"off"`: "off", `"person"`: "person"}, map[string]string{
			`true`: `true is unknown, have: off, room, person, all`,
		}},
		{"companion.NAME.memory_by", map[string]any{`""`: "", `"rules"`: "rules"}, map[string]string{
			`"rule"`: `"rule" is unknown, have: auto, rules, model (did you mean "rules"?)`,
		}},
		{"companion.NAME.calls_minute", map[string]any{`0`: int64(0), `60`: int64(60)}, map[string]string{`-1`: `-1 is outside 0..1000000`}},
		{"companion.NAME.calls_day", map[string]any{`5000`: int64(5000)}, map[string]string{`"5"`: `"5" is not a whole number (try 5)`}},
		{"companion.NAME.cost_day", map[string]any{`0.5`: 0.5, `2`: 2.0}, map[string]string{`-1`: `-1 is outside 0..1000000`}},
		{"room.NAME.calls_minute", map[string]any{`0`: int64(0), `60`: int64(60)}, map[string]string{`1000001`: `1000001 is outside 0..1000000`}},
		{"room.NAME.calls_day", map[string]any{`5000`: int64(5000)}, map[string]string{`-1`: `-1 is outside 0..1000000000`}},
		{"room.NAME.cost_day", map[string]any{`0.5`: 0.5}, map[string]string{`"1"`: `"1" is not a number (try 1)`}},
		{"companion.NAME.home", map[string]any{`""`: "", `"main"`: "main"}, map[string]string{`"a/b"`: `"a/b" may not contain '/'`}},
		{"door.max_clients", map[string]any{
			`1`:     int64(1),
			`65536`: int64(65536),
			`0x10`:  int64(16),
			`1_000`: int64(1000),
		}, map[string]string{
			`0`:      `0 is outside 1..65536`,
			`65537`:  `65537 is outside 1..65536`,
			`-1`:     `-1 is outside 1..65536`,
			`1.0`:    `1 is not a whole number`,
			`"256"`:  `"256" is not a whole number (try 256)`,
			`"many"`: `"many" is not a whole number`,
			`inf`:    `+Inf is not a whole number`,
			`[256]`:  `a list is not a whole number`,
		}},
		{"journal.path", map[string]any{
			`"a"`:             "a",
			`'C:\x y'`:        `C:\x y`,
			`"/var/lib/あ.db"`: "/var/lib/あ.db",
		}, map[string]string{
			`""`:                `must not be empty`,
			`"a\u0000b"`:        `"a\x00b" is not a path`,
			`false`:             `false is not a text (try "false")`,
			`"characters/j.db"`: `"characters/j.db" lies inside modules.characters: every message would look like a changed character (put it beside "characters")`,
		}},
		{"journal.ballast", map[string]any{
			`"0"`:       int64(0),
			`0`:         int64(0),
			`"1GiB"`:    int64((1 << 30)),
			`"100B"`:    int64(100),
			`"1024KiB"`: int64(mib),
			`4096`:      int64(4096),
		}, map[string]string{
			`"-1"`:                   `"-1" is not a size (try "16MiB")`,
			`"16 MiB"`:               `"16 MiB" is not a size (try "16MiB")`,
			`"16MB"`:                 `"16MB" is not a size (try "16MiB")`,
			`"16k"`:                  `"16k" is not a size (try "16KiB")`,
			`"1G"`:                   `"1G" is not a size (try "1GiB")`,
			`"1.5GiB"`:               `"1.5GiB" is not a size (try "1GiB")`,
			`"lots"`:                 `"lots" is not a size (try "16MiB")`,
			`""`:                     `"" is not a size (try "16MiB")`,
			`"2GiB"`:                 `"2GiB" is outside 0..1GiB`,
			`-1`:                     `-1 is outside 0..1GiB`,
			`"9999999999999GiB"`:     `"9999999999999GiB" is not a size (try "16MiB")`,
			`"99999999999999999999"`: `"99999999999999999999" is not a size (try "16MiB")`,
			`1.5`:                    `1.5 is not a size (try "1MiB")`,
			`true`:                   `true is not a size (try "16MiB")`,
		}},
		{"modules.characters", map[string]any{
			`"people"`:        "people",
			`"/srv/people"`:   "/srv/people",
			`"state/cache/x"`: "state/cache/x",
		}, map[string]string{
			`""`: `must not be empty`,
			`"."`: `"state/cache" lies inside modules.characters: compiled code would be taken for characters (put it beside ".")
` + `"state/companiond.db" lies inside modules.characters: every message would look like a changed character (put it beside ".")`,
			`"state/cache"`: `"state/cache" lies inside modules.characters: compiled code would be taken for characters (put it beside "state/cache")`,
		}},
		{"modules.cache", map[string]any{
			`"c"`:               "c",
			`"charactersx"`:     "charactersx",
			`"/characters/x"`:   "/characters/x",
			`"characters/../c"`: "characters/../c",
		}, map[string]string{
			`""`:                 `must not be empty`,
			`"characters"`:       `"characters" lies inside modules.characters: compiled code would be taken for characters (put it beside "characters")`,
			`"x/../characters/"`: `"x/../characters/" lies inside modules.characters: compiled code would be taken for characters (put it beside "characters")`,
			`"./characters/.c"`:  `"./characters/.c" lies inside modules.characters: compiled code would be taken for characters (put it beside "characters")`,
		}},
		{"modules.plugins", map[string]any{
			`"/usr/lib/companiond"`: "/usr/lib/companiond",
		}, map[string]string{
			`""`: `must not be empty`,
		}},
		{"modules.program_memory", map[string]any{
			`"256MiB"`: int64(256 << 20),
			`0`:        int64(0),
		}, map[string]string{
			`"2000GiB"`: `"2000GiB" is outside 0..1024GiB`,
		}},
		{"module.NAME.hosts", map[string]any{ // others need a grant: TestHosts has them
			`[]`: []string{},
		}, map[string]string{
			`["*.a.example"]`:       `1st item: "*.a.example" is not a host, nor host:port (write out each host)`,
			`["https://a.example"]`: `1st item: "https://a.example" is not a host, nor host:port (try "a.example")`,
		}},
		{"handler.NAME.module", map[string]any{`"lamp"`: "lamp"}, map[string]string{
			`"a b"`: `"a b" may not contain ' '`,
		}},
		{"handler.NAME.companions", map[string]any{`["aya"]`: []string{"aya"}}, map[string]string{
			`["a b"]`: `1st item: "a b" may not contain ' '`,
		}},
		{"handler.NAME.settings", map[string]any{
			`{}`: json.RawMessage(`{}`), `{ port = 4455, deep = { list = [1, 2.5, true, "x"] } }`: json.RawMessage(`{"deep":{"list":[1,2.5,true,"x"]},"port":4455}`),
		}, map[string]string{
			`"x"`: `"x" is not a table`, `[1]`: `a list is not a table`, `{ a = inf }`: `holds a number that is none`,
		}},
		{"handler.NAME.secrets", map[string]any{
			`{}`: json.RawMessage(`{}`), `{ password = "credential:obs", key = "/etc/key" }`: json.RawMessage(`{"key":"/etc/key","password":"credential:obs"}`),
		}, map[string]string{
			`"x"`: `"x" is not a table`, `{ key = 1 }`: `key is not the path of a file (try "credential:key")`, `{ key = "" }`: `key is not the path of a file (try "credential:key")`,
			`{ key = "credential:" }`: `key: "credential:" names no credential (try "credential:key")`,
		}},
		{"handler.NAME.on", map[string]any{`["chat", "view*"]`: []string{"chat", "view*"}}, map[string]string{
			`["[a"]`:  `1st item: "[a" is no pattern (write a title, or a part of one and *, as "chat*")`,
			`["a b"]`: `1st item: "a b" is no pattern (write a title, or a part of one and *, as "chat*")`,
			`[""]`:    `1st item: "" is no pattern (write a title, or a part of one and *, as "chat*")`,
		}},
		{"handler.NAME.order", map[string]any{`7`: int64(7)}, map[string]string{`1001`: `1001 is outside 0..1000`}},
		{"handler.NAME.fail", map[string]any{`"stop"`: "stop"}, map[string]string{`"halt"`: `"halt" is unknown, have: skip, stop`}},
		{"module.NAME.program", map[string]any{
			`"voice"`:     "voice",
			`"voice.exe"`: "voice.exe",
			`""`:          "",
		}, map[string]string{
			`"bin/voice"`: `"bin/voice" is not the name of a file (write its name in modules.plugins, without the folder)`,
			`".voice"`:    `".voice" is not the name of a file (write its name in modules.plugins, without the folder)`,
			`"voice.tmp"`: `"voice.tmp" is a name that tools leave behind (rename the file)`,
		}},
		{"module.NAME.checksum", map[string]any{
			`"` + strings.Repeat("Ab", 32) + `"`: strings.Repeat("ab", 32),
			`""`:                                 "",
		}, map[string]string{
			`"abc"`: `"abc" is not 64 hex digits (write what sha256sum prints)`,
		}},
		{"modules.debounce", map[string]any{
			`"1ms"`:  ms(1),
			`"1m"`:   time.Minute,
			`"0.5s"`: ms(500),
		}, map[string]string{
			`"0s"`:        `"0s" is outside 1ms..1m`,
			`"61s"`:       `"61s" is outside 1ms..1m`,
			`"1500us"`:    `"1500us" is finer than a millisecond`,
			`250`:         `250 is not a duration (try "250s")`,
			`2.5`:         `2.5 is not a duration (try "2.5s")`,
			`"250"`:       `"250" is not a duration (try "250s")`,
			`"250 ms"`:    `"250 ms" is not a duration (try "250ms")`,
			`"5 minutes"`: `"5 minutes" is not a duration (try "5m")`,
			`"2 hours"`:   `"2 hours" is not a duration (try "2h")`,
			`"1d"`:        `"1d" is not a duration (try "24h")`,
			`"1.5 days"`:  `"1.5 days" is not a duration (try "36h")`,
			`"5 parsecs"`: `"5 parsecs" is not a duration (try "5s")`,
			`"soon"`:      `"soon" is not a duration (try "5s")`,
			`"1.2.3"`:     `"1.2.3" is not a duration (try "5s")`,
			`12:00:00`:    `a date or time is not a duration (try "5s")`,
			`true`:        `true is not a duration (try "5s")`,
		}},
		{"modules.rescan", map[string]any{
			`"24h"`:   day,
			`"100ms"`: ms(100),
		}, map[string]string{
			`"0s"`:  `"0s" is outside 1ms..24h`,
			`"25h"`: `"25h" is outside 1ms..24h`,
		}},
		{"modules.grace", map[string]any{
			`"1ms"`: ms(1),
			`"10m"`: 10 * time.Minute,
		}, map[string]string{
			`"0s"`:  `"0s" is outside 1ms..10m`,
			`"11m"`: `"11m" is outside 1ms..10m`,
		}},
		{"modules.faults", map[string]any{
			`1`:    int64(1),
			`1000`: int64(1000),
		}, map[string]string{
			`0`:   `0 is outside 1..1000`,
			`"3"`: `"3" is not a whole number (try 3)`,
		}},
		{"modules.fault_window", map[string]any{
			`"1h30m"`: 90 * time.Minute,
		}, map[string]string{
			`"0s"`: `"0s" is outside 1ms..24h`,
		}},
		{"modules.cool_down", map[string]any{
			`"1ms"`: ms(1),
		}, map[string]string{
			`"0s"`: `"0s" is outside 1ms..24h`,
			`300`:  `300 is not a duration (try "300s")`,
		}},
		{"wasm.memory", map[string]any{
			`"1MiB"`:    int64(mib),
			`"4GiB"`:    int64(4 * (1 << 30)),
			`"1088KiB"`: int64(17 * page),
		}, map[string]string{
			`"1023KiB"`: `"1023KiB" is outside 1MiB..4GiB`,
			`"5GiB"`:    `"5GiB" is outside 1MiB..4GiB`,
			`"1025KiB"`: `"1025KiB" is not a multiple of 64KiB (try "1088KiB")`,
			`1048577`:   `1048577 is not a multiple of 64KiB (try "1088KiB")`,
		}},
		{"wasm.memory_total", map[string]any{
			`0`:      int64(0),
			`"1GiB"`: int64((1 << 30)),
		}, map[string]string{
			`"1025GiB"`: `"1025GiB" is outside 0..1024GiB`,
		}},
		{"wasm.cache_size", map[string]any{
			`"1MiB"`: int64(mib),
		}, map[string]string{
			`"1KiB"`: `"1KiB" is outside 1MiB..1024GiB`,
		}},
		{"wasm.max_file", map[string]any{
			`"1KiB"`: int64(kib),
			`"1GiB"`: int64((1 << 30)),
		}, map[string]string{
			`"0"`:    `"0" is outside 1KiB..1GiB`,
			`"2GiB"`: `"2GiB" is outside 1KiB..1GiB`,
		}},
		{"wasm.fuel", map[string]any{
			`0`:                   int64(0),
			`9223372036854775807`: int64(1<<63 - 1),
		}, map[string]string{
			`-1`:  `-1 is outside 0..9223372036854775807`,
			`"0"`: `"0" is not a whole number (try 0)`,
		}},
		{"wasm.guard", map[string]any{
			`"fuel"`:    "fuel",
			`"context"`: "context",
		}, map[string]string{
			`""`:     `"" is unknown, have: fuel, context`,
			`"none"`: `"none" is unknown, have: fuel, context`,
			`"feul"`: `"feul" is unknown, have: fuel, context (did you mean "fuel"?)`,
			`true`:   `true is unknown, have: fuel, context`,
		}},
		{"wasm.log_rate", map[string]any{
			`"1KiB"`: int64(kib),
		}, map[string]string{
			`"1"`:    `"1" is outside 1KiB..1GiB`,
			`"64KB"`: `"64KB" is not a size (try "64KiB")`,
		}},
		{"room.NAME.companions", map[string]any{
			`[]`:                       []string{},
			`["*"]`:                    []string{"*"},
			`["aya", "京子", "a.b-c_1"]`: []string{"aya", "京子", "a.b-c_1"},
		}, map[string]string{
			`[""]`:                                `"" is not a name: must not be empty`,
			`["a b"]`:                             `"a b" may not contain ' '`,
			`["-a"]`:                              `"-a" may not contain '-'`,
			`["a", "a"]`:                          `"a" is in the list twice`,
			`"*"`:                                 `"*" is not a list (try ["*"])`,
			`["` + strings.Repeat("a", 65) + `"]`: `"` + strings.Repeat("a", 60) + `…" is not a name: 65 bytes, at most 64`,
			`["a", "*"]`:                          `names companions beside "*", which already stands for all of them`,
		}},
		{"room.NAME.policy", map[string]any{
			`"vote"`: "vote", `"pool"`: "pool", `"vote+pool"`: "vote+pool",
		}, map[string]string{
			`"votes"`: `"votes" is unknown, have: ` + strings.Join(turn.Names(), ", ") + ` (did you mean "vote"?)`,
			`1`:       `1 is unknown, have: ` + strings.Join(turn.Names(), ", "),
		}},
		{"room.NAME.pool_pricing", map[string]any{`"free"`: "free"}, map[string]string{
			`"fair"`: `"fair" is unknown, have: strict, free`,
		}},
		{"room.NAME.pool_prices", map[string]any{`["1:0", "2:100"]`: []string{"1:0", "2:100"}}, map[string]string{
			`"10:5"`: `"10:5" is not a list (try ["10:5"])`, `["10"]`: `"10" is not CHARACTERS:COST (try "10:5")`,
		}},
		{"room.NAME.pool_size", map[string]any{`80`: int64(80)}, map[string]string{`0`: `0 is outside 1..2147483647`}},
		{"room.NAME.pool_recovery", map[string]any{`"1ms"`: ms(1)}, map[string]string{`"0s"`: `"0s" is outside 1ms..24h`}},
		{"room.NAME.pool_reserve", map[string]any{`40`: int64(40)}, map[string]string{`-1`: `-1 is outside 0..2147483647`}},
		{"room.NAME.pool_share", map[string]any{`60`: int64(60)}, map[string]string{`-1`: `-1 is outside 0..2147483647`}},
		{"room.NAME.patience", map[string]any{
			`"1ms"`: ms(1),
			`"1m"`:  time.Minute,
		}, map[string]string{
			`"0s"`:  `"0s" is outside 1ms..1m`,
			`"61s"`: `"61s" is outside 1ms..1m`,
		}},
		{"room.NAME.floor", map[string]any{
			`"1ms"`: ms(1),
			`"10m"`: 10 * time.Minute,
		}, map[string]string{
			`"0s"`: `"0s" is outside 1ms..10m`,
			`"1h"`: `"1h" is outside 1ms..10m`,
		}},
		{"room.NAME.max_turns", map[string]any{
			`0`:       int64(0),
			`1000000`: int64(1_000_000),
		}, map[string]string{
			`-1`:     `-1 is outside 0..1000000`,
			`"none"`: `"none" is not a whole number`,
		}},
		{"room.NAME.silence", map[string]any{
			`"0s"`:  ms(0),
			`"0"`:   ms(0),
			`"24h"`: day,
		}, map[string]string{
			`"-1ms"`: `"-1ms" is outside 0s..24h`,
			`0`:      `0 is not a duration (try "0s")`,
		}},
		{"room.NAME.stale", map[string]any{
			`"reask"`:  "reask",
			`"refuse"`: "refuse",
			`"accept"`: "accept",
		}, map[string]string{
			`"acept"`: `"acept" is unknown, have: reask, refuse, accept (did you mean "accept"?)`,
		}},
		{"room.NAME.pace", map[string]any{
			`"auto"`: "auto",
			`"0s"`:   "0s",
			`"60s"`:  "1m",
		}, map[string]string{
			`"2m"`:    `"2m" is neither "auto" nor a duration of 0s to 1m (try "auto" or "700ms")`,
			`"1.5ms"`: `"1.5ms" is finer than a millisecond`,
			`"500us"`: `"500us" is finer than a millisecond`,
			`700`:     `700 is not a text (try "700")`,
		}},
		{"room.NAME.interrupt", map[string]any{
			`"sentence"`: "sentence",
			`"now"`:      "now",
			`"never"`:    "never",
		}, map[string]string{
			`"nowt"`: `"nowt" is unknown, have: sentence, now, never (did you mean "now"?)`,
		}},
		{"room.NAME.companion", map[string]any{`""`: "", `"kyoko"`: "kyoko", `"居間"`: "居間"}, map[string]string{
			`"a/b"`: `"a/b" may not contain '/'`, `["kyoko"]`: `a list is not a text`,
		}},
		{"room.NAME.interrupters", map[string]any{
			`["*"]`:            []string{"*"},
			`["taro", "mika"]`: []string{"taro", "mika"},
			`[]`:               []string{},
		}, map[string]string{
			`"*"`: `"*" is not a list (try ["*"])`,
		}},
		{"room.NAME.ahead", map[string]any{
			`0`:    int64(0),
			`1000`: int64(1000),
		}, map[string]string{
			`1001`: `1001 is outside 0..1000`,
		}},
		{"room.NAME.perceived", map[string]any{
			`0`:    int64(0),
			`1000`: int64(1000),
		}, map[string]string{
			`-1`: `-1 is outside 0..1000`,
		}},
		{"room.NAME.compress", map[string]any{`"ask"`: "ask", `"auto"`: "auto", `"off"`: "off"}, map[string]string{
			`"atuo"`: `"atuo" is unknown, have: ask, auto, off (did you mean "auto"?)`, `""`: `"" is unknown, have: ask, auto, off`, `true`: `true is unknown, have: ask, auto, off`,
		}},
		{"room.NAME.compress_policy", map[string]any{`""`: "", `"決めたことは残す。\nKeep it."`: "決めたことは残す。\nKeep it."}, map[string]string{
			`" "`: `has spaces alone (say what must stay, or leave it out)`, `'` + strings.Repeat("あ", 4001) + `'`: `4001 characters, at most 4000`, `"a\u200bb"`: `character 2 is U+200B, which shows as nothing; leave it out`, `7`: `7 is not a text (try "7")`,
		}},
		{"room.NAME.compress_at", map[string]any{`0.3`: .3, `0.7`: .7, `0.95`: .95}, map[string]string{
			`0.29`: `0.29 is outside 0.3..0.95`, `1`: `1 is outside 0.3..0.95`, `70`: `70 is outside 0.3..0.95`, `"70%"`: `"70%" is not a number`,
		}},
		{"room.NAME.compress_by", map[string]any{`""`: "", `"model"`: "model", `"書記"`: "書記"}, map[string]string{`"a b"`: `"a b" may not contain ' '`}},
		{"room.NAME.compress_verify", map[string]any{`""`: "", `"extract"`: "extract"}, map[string]string{`["aya"]`: `a list is not a text`}},
		{"room.NAME.seed", map[string]any{
			`"dice"`:          "dice",
			`"\t\"\\\u0000あ"`: "\t\"\\\x00あ",
		}, map[string]string{
			`42`: `42 is not a text (try "42")`, `"` + strings.Repeat("a", 257) + `"`: `257 bytes, at most 256`,
		}},
		{"log.level", map[string]any{
			`"debug"`: "debug",
			`"info"`:  "info",
			`"warn"`:  "warn",
			`"error"`: "error",
		}, map[string]string{
			`"trace"`: `"trace" is unknown, have: debug, info, warn, error`,
		}},
		{"log.format", map[string]any{
			`"auto"`: "auto",
			`"text"`: "text",
			`"json"`: "json",
		}, map[string]string{
			`"jsn"`: `"jsn" is unknown, have: auto, text, json (did you mean "json"?)`,
		}},
	}, append(modelRows(), agentRows()...)...)
}

// fileWith gives a file whose second line sets a key, and which lacks nothing.
func fileWith(key, literal string) string {
	table, name := key[:strings.LastIndex(key, ".")], key[strings.LastIndex(key, ".")+1:]
	src := "[" + table + "]\n" + name + " = " + literal + "\n"
	switch {
	case table == "model.NAME" && name != "model":
		src += "model = \"m\"\n"
		switch name { // that what is good needs
		case "cost_day":
			src += "price_in = 1\n"
		case "max_tokens":
			src += "context = 2_000_000\n"
		}
	case name == "compress": // "auto" needs it
		src += "compress_policy = \"Keep decisions.\"\n"
	case table == "agent.NAME":
		src += "[project.p]\nagents = [\"main\", \"b\"]\n"
	}
	return strings.Replace(src, "NAME", "main", 1)
}

// TestKeys takes every key through its rows, and every row of the table has one.
func TestKeys(t *testing.T) {
	tested := make(map[string]bool)
	for _, row := range rows() {
		tested[row.key] = true
		t.Run(row.key, func(t *testing.T) {
			for literal, want := range row.takes {
				c := good(t, fileWith(row.key, literal))
				for _, cell := range c.cells() {
					if got := cell.value(); cell.key().String() == strings.Replace(row.key, "NAME", "main", 1) && !reflect.DeepEqual(got, want) {
						t.Errorf("%s: got %#v, want %#v", literal, got, want)
					}
				}
			}
			for literal, want := range row.refuse {
				got := bad(t, fileWith(row.key, literal))
				for line := range strings.Lines(got) {
					place, said, _ := strings.Cut(line, " ")
					_, said, _ = strings.Cut(said, ": ")
					if !strings.HasPrefix(place, "c:2:") || !strings.Contains(want, strings.TrimSpace(said)) {
						t.Errorf("%s\ngot  %s %s\nwant %s", literal, place, said, want)
					}
				}
				if g, w := strings.Count(got, "\n"), strings.Count(want, "\n"); g != w {
					t.Errorf("%s: %d lines, want %d", literal, g+1, w+1)
				}
			}
		})
	}
	for _, k := range Keys() {
		if !tested[k.Name] {
			t.Errorf("%s has no row", k.Name)
		}
	}
}
