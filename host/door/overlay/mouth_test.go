package overlay_test

import (
	"os"
	"os/exec"
	"testing"
)

// stand is what a test plays on: a clock that it sets, sounds that are there when it says so, and all that
// the mouth does, printed. piece, sound and end are frames of the action socket; until lets time pass.
const stand = `
let now = 0, timers = [], sounds = {};
const say = (...words) => console.log(now + ": " + words.join(" "));
const after = (ms, f) => { const t = { at: now + ms, f }; timers.push(t); return () => { timers = timers.filter(x => x !== t); }; };
const until = async at => {
  for (;;) {
    await new Promise(setImmediate); // what was promised is told first
    const next = timers.filter(t => t.at <= at).sort((a, b) => a.at - b.at)[0];
    if (!next) break;
    timers = timers.filter(t => t !== next);
    now = next.at;
    next.f();
  }
  now = at;
};
const m = mouth({
  after,
  load: url => { say("loads", url); return new Promise((yes, no) => { sounds[url] = s => typeof s === "string" ? no(new Error(s)) : yes({ seconds: s, play(ended) { say("plays", url); const stop = after(s * 1000, ended); return () => { say("stops", url); stop(); }; } }); }); },
  takes: (line, n, text) => text.length * 100,
  begins: (line, n) => say("begins", line, n),
  tell: word => say("tells", JSON.stringify(word)),
  wrong: why => say("wrong:", why),
});
const piece = (line, part, text, last) => m.frame({ kind: "speech", line, part, last, parameters: { message: text } });
const sound = (line, part, seconds) => { m.frame({ kind: "sound", line, part, url: "/" + line + part, seconds }); sounds["/" + line + part]?.(seconds); };
const end = (line, how) => m.frame({ line, end: how, reason: "" });
(async () => {
`

// TestAMouth: a page says the parts of a line one after the other, tells how long each takes when it begins and that it was
// played when it ends, goes on where a sound is missing, and is silent at once when it is to be.
func TestAMouth(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node")
	}
	script, err := os.ReadFile("mouth.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, plays, want string }{
		{"two parts, the second loaded while the first sounds", `
			piece("g", 1, "one."); await until(500); sound("g", 1, 2); await until(1000); piece("g", 2, "two.", true); sound("g", 2, 1);
			m.frame({ line: "g", parts: 2, last: true }); await until(9000); end("g", "said"); await until(20000);`,
			`500: loads /g1
500: begins g 1
500: tells {"line":"g","part":1,"seconds":2}
500: plays /g1
1000: loads /g2
2500: tells {"line":"g","played":1}
2500: begins g 2
2500: tells {"line":"g","part":2,"seconds":1}
2500: plays /g2
3500: tells {"line":"g","played":2}
`},
		{"sounds that come in another order are played in that of the line", `
			piece("g", 1, "one."); piece("g", 2, "two."); sound("g", 2, 1); await until(100); sound("g", 1, 1); await until(5000);`,
			`0: loads /g2
100: loads /g1
100: begins g 1
100: tells {"line":"g","part":1,"seconds":1}
100: plays /g1
1100: tells {"line":"g","played":1}
1100: begins g 2
1100: tells {"line":"g","part":2,"seconds":1}
1100: plays /g2
2100: tells {"line":"g","played":2}
`},
		{"a part whose sound does not come, or fails, or cannot be loaded, is passed for as long as it takes to say", `
			piece("g", 1, "none"); piece("g", 2, "late"); piece("g", 3, "fails"); piece("g", 4, "broken");
			await until(6500); m.frame({ kind: "sound", line: "g", part: 3, failed: "no voice" });
			m.frame({ kind: "sound", line: "g", part: 4, url: "/g4" }); sounds["/g4"]("404"); await until(30000); sound("g", 1, 5); await until(40000);`,
			`6000: wrong: no sound came
6000: begins g 1
6400: tells {"line":"g","played":1}
6500: wrong: no voice
6500: loads /g4
6500: wrong: 404
7400: wrong: no sound came
7400: begins g 2
7800: tells {"line":"g","played":2}
7800: begins g 3
8300: tells {"line":"g","played":3}
8300: begins g 4
8900: tells {"line":"g","played":4}
`},
		{"a line that is over is silent at once, and so is one whose place another takes", `
			piece("g", 1, "one."); sound("g", 1, 5); await until(1000); end("g", "cut"); await until(9000);
			piece("h", 1, "one."); await until(9500); end("g", "said"); sound("h", 1, 5); await until(10000); piece("i", 1, "one."); sound("h", 1, 9); await until(10500); sound("i", 1, 1);
			await until(12000); m.hush(); m.hush(); say("line " + m.line());`,
			`0: loads /g1
0: begins g 1
0: tells {"line":"g","part":1,"seconds":5}
0: plays /g1
1000: stops /g1
9500: loads /h1
9500: begins h 1
9500: tells {"line":"h","part":1,"seconds":5}
9500: plays /h1
10000: stops /h1
10500: loads /i1
10500: begins i 1
10500: tells {"line":"i","part":1,"seconds":1}
10500: plays /i1
11500: tells {"line":"i","played":1}
12000: line undefined
`},
		{"a sound that is loaded when its line is over is not played", `
			piece("g", 1, "one."); m.frame({ kind: "sound", line: "g", part: 1, url: "/g1" }); await until(100); end("g", "stopped"); sounds["/g1"](3); await until(9000);
			piece("h", 1, "one."); await until(10000); m.hush(); await until(30000);`, "0: loads /g1\n"},
		{"what is said from the middle of a line on, and what is no line's", `
			m.frame({ kind: "speech", parameters: { message: "mhm" } }); m.frame({ action: "wave" }); m.frame({ line: "x", end: "said" }); m.frame({ kind: "sound", line: "x", part: 1, url: "/x1" });
			piece("g", 3, "three."); sound("g", 3, 1); piece("g", 3, "three."); await until(5000);`,
			`0: loads /g3
0: begins g 3
0: tells {"line":"g","part":3,"seconds":1}
0: plays /g3
1000: tells {"line":"g","played":3}
`},
	} {
		t.Run(c.name, func(t *testing.T) { run(t, node, string(script)+stand+c.plays+"})();", c.want) })
	}
}
