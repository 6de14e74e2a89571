package overlay_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// feed is what a test plays: say gives the page's pure part an entry at a time, in seconds, and
// see prints what is to be seen then: the page, who, what was said and in () what is coming, and when
// that changes. A page has room for twelve letters.
const feed = `
let seq = 0, linger = 2000, s = nobody("");
const when = at => new Date(1767225600000 + at * 1000).toISOString(), fits = text => [...text].length <= 12;
const say = (at, kind, body, more) => take(s, { seq: ++seq, at: when(at), kind, id: "e" + seq, body, ...more });
const voice = (...beats) => beats.map(([text, ms]) => ({ bytes: Buffer.byteLength(text), ms }));
const piece = (at, n, ...beats) => say(at, "segment", { grant: "g", who: "aya", n, text: beats.map(b => b[0]).join(""), voice: voice(...beats) });
const whole = (at, more) => say(at, "said", { from: "aya", by: "companion", kind: "turn", text: "all of it", grant: "g", ...more });
const one = (at, from, text, ms, more) => say(at, "said", { from, by: "companion", kind: "turn", text, voice: voice([text, ms]), ...more });
const see = (...all) => all.forEach(at => {
  const f = frame(s, Date.parse(when(at)), linger, fits), v = f.view, next = f.next === Infinity ? "-" : (f.next - Date.parse(when(0))) / 1000;
  console.log(at + ": " + (v ? v.page + "/" + v.pages + " " + v.name + " " + v.said + (v.coming ? " (" + v.coming + ")" : "") + (v.end ? " [" + v.end + "]" : "") : "nothing") + " until " + next);
});
`

func TestWhatIsShown(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node")
	}
	script, err := os.ReadFile("line.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, plays, want string }{
		{"a line that no body says goes by its length, sentence by sentence, and stays for a while", `
			say(0, "cast", { joined: [{ id: "aya", name: "アヤ" }] });
			const text = ["今日は。", "元気？"];
			say(1, "said", { from: "aya", by: "companion", kind: "turn", text: text.join(""), voice: [{ bytes: 12, ms: 1000 }, { bytes: 0, ms: 500 }, { bytes: 9, ms: 700 }] });
			see(0.9, 1, 2.4, 2.5, 3.1, 5.1, 5.2);`,
			`0.9: nothing until 1
1: 1/1 アヤ 今日は。 (元気？) until 2.5
2.4: 1/1 アヤ 今日は。 (元気？) until 2.5
2.5: 1/1 アヤ 今日は。元気？ until 5.2
3.1: 1/1 アヤ 今日は。元気？ until 5.2
5.1: 1/1 アヤ 今日は。元気？ until 5.2
5.2: nothing until -
`},
		{"a line grows while it is made, and goes on on the next page", `
			piece(0, 1, ["abcdef ", 1000]); see(0.5);
			piece(1.5, 2, ["ghi ", 1000]); see(2);
			piece(1.8, 3, ["jklmnop", 1000]); see(2.4, 2.5);
			whole(3, { segments: 3 }); see(3.5, 5.5);`,
			`0.5: 1/1 aya abcdef  until 64.15
2: 1/1 aya abcdef ghi  until 66.625
2.4: 1/2 aya abcdef ghi  until 2.5
2.5: 2/2 aya jklmnop until 68.475
3.5: 2/2 aya jklmnop until 5.5
5.5: nothing until -
`},
		{"what stands on a page does not move because more comes", `
			const even = at => console.log(frame(s, Date.parse(when(at)), linger, fits).view.whole);
			piece(0, 1, ["abcdef ", 1000]); even(0.5); piece(0.8, 2, ["ghijkl ", 1000]); even(0.9); even(1.1);
			say(1.4, "said", { from: "aya", by: "companion", kind: "turn", text: "all of it", grant: "g", segments: 2 }); even(1.5);
			one(2, "kyoko", "in one piece", 1000); even(2);
			say(3, "segment", { grant: "h", who: "aya", n: 1, text: "at once" }); even(3);
			say(3.1, "said", { from: "aya", by: "companion", kind: "turn", text: "at once", grant: "h", segments: 1 }); even(3.1);`, "false\nfalse\nfalse\nfalse\ntrue\nfalse\ntrue\n"},
		{"where a body plays its word counts, not the estimate", `
			say(0, "body", { joined: [{ id: "b1", who: "aya", plays: true }] });
			piece(0, 1, ["abcdef ", 1000]); piece(0, 2, ["ghijkl ", 1000]); whole(0, { segments: 2, played: true });
			see(0.5, 1.5);
			say(2, "played", { line: "g", who: "aya", body: "b1", part: 1 }); see(2, 3.5);
			say(4, "played", { line: "g", who: "aya", body: "b1", done: true }); see(4);
			say(4, "heard", { line: "g", who: "aya", of: 4, end: "said", why: "played", gap_ms: 100 }); see(5.9, 6);`,
			`0.5: 1/2 aya abcdef  until 11
1.5: 1/2 aya abcdef  until 11
2: 2/2 aya ghijkl  until 11
3.5: 2/2 aya ghijkl  until 11
4: 2/2 aya ghijkl  until 11
5.9: 2/2 aya ghijkl  [said] until 6
6: nothing until -
`},
		{"the slowest body counts, and one that has gone does not", `
			say(0, "body", { joined: [{ id: "b1", who: "aya", plays: true }, { id: "b2", who: "aya", plays: true }, { id: "b3", who: "aya" }, { id: "b4", who: "kyoko", plays: true }] });
			piece(0, 1, ["abcdef ", 1000]); piece(0, 2, ["ghijkl ", 1000]);
			say(1, "played", { line: "g", who: "aya", body: "b1", part: 1 }); see(1);
			say(2, "body", { left: [{ id: "b2", who: "aya" }] }); see(2);`,
			`1: 1/2 aya abcdef  until 66
2: 2/2 aya ghijkl  until 66.75
`},
		{"where this page says the line its words come with their sound", `
			s.mouth = new Map();
			say(0, "body", { joined: [{ id: "b1", who: "aya", plays: true }] });
			piece(0, 1, ["one. ", 1000], ["two. ", 1000]); piece(0, 2, ["x", 1000]); see(0, 2);
			starts(s, "g", 1, Date.parse(when(3))); see(3, 4, 5.5);
			say(6, "played", { line: "g", who: "aya", body: "b1", part: 1 }); see(6);
			starts(s, "g", 2, Date.parse(when(7))); see(7);
			starts(s, "h", 1, Date.parse(when(9))); whole(9, { segments: 2 }); say(9, "heard", { line: "g", who: "aya", of: 4, end: "said", why: "played", gap_ms: 0 });
			say(9, "segment", { grant: "h", who: "aya", n: 1, text: "next" }); see(9);
			s.mouth = null; say(10, "segment", { grant: "i", who: "aya", n: 1, text: "shown" }); see(10);
			s.mouth = new Map(); for (let i = 0; i < 99; i++) begun(s, "l" + i); console.log(s.mouth.size);`,
			`0: nothing until 67.25
2: nothing until 67.25
3: 1/1 aya one.  (two. x) until 4
4: 1/1 aya one. two.  (x) until 71
5.5: 1/1 aya one. two.  (x) until 71
6: 1/1 aya one. two.  (x) until 70.75
7: 1/1 aya one. two. x until 72
9: 1/1 aya next until 72.65
10: 1/1 aya shown until 73.8375
32
`},
		{"the length that a body tells is the line's", `
			say(0, "body", { joined: [{ id: "b1", who: "aya", plays: true }] });
			say(0, "said", { from: "aya", by: "companion", kind: "turn", text: "one. two.", grant: "g", played: true, voice: voice(["one.", 500], [" two.", 500]) });
			see(0.5);
			say(0.6, "played", { line: "g", who: "aya", body: "b1", seconds: 4 }); see(0.6, 2);`,
			`0.5: 1/1 aya one. two. until 9
0.6: 1/1 aya one. ( two.) until 2
2: 1/1 aya one. two. until 15
`},
		{"STOP ends it at once, and nothing brings it back", `
			piece(0, 1, ["abc", 1000]); see(0.5);
			say(0.6, "stop", { from: "taro" }); see(0.6);
			piece(0.7, 2, ["def", 1000]); see(0.7); whole(0.8, { segments: 2, ends: "stopped", broken: "STOP" });
			say(0.8, "heard", { line: "g", who: "aya", of: 4, end: "stopped", text: "abc", why: "STOP", gap_ms: 0 }); see(0.9);
			one(2, "kyoko", "hi", 1000); see(2);
			one(3, "kyoko", "no", 1000, { ends: "stopped", grant: "h" }); see(3);`,
			`0.5: 1/1 aya abc until 64.15
0.6: nothing until -
0.7: nothing until -
0.9: nothing until -
2: 1/1 kyoko hi until 5
3: 1/1 kyoko hi until 5
`},
		{"what was cut off is what was heard of it", `
			say(0, "said", { from: "aya", by: "companion", kind: "turn", text: "abcdefgh ijklmnop", grant: "g", played: true, voice: voice(["abcdefgh ", 1000], ["ijklmnop", 1000]) });
			say(1.5, "heard", { line: "g", who: "aya", of: 1, end: "cut", text: "abcdefgh ij", why: "taro spoke over it", gap_ms: 100 }); see(1.5, 3.5);
			say(4, "said", { from: "aya", by: "companion", kind: "turn", text: "x", grant: "h", played: true });
			say(4, "heard", { line: "h", who: "aya", of: 3, end: "cut", why: "taro spoke over it", gap_ms: 100 }); see(4);`,
			`1.5: 1/1 aya abcdefgh ij [cut] until 3.5
3.5: nothing until -
4: nothing until -
`},
		{"two speakers in turn, and the overlay of one of them", `
			for (const who of ["", "aya"]) {
				s = nobody(who);
				one(0, "aya", "first", 1000); see(0); one(1, "kyoko", "second", 1000); see(1); one(2, "aya", "third", 1000); see(2);
			}`,
			`0: 1/1 aya first until 3
1: 1/1 kyoko second until 4
2: 1/1 aya third until 5
0: 1/1 aya first until 3
1: nothing until -
2: 1/1 aya third until 5
`},
		{"a line of one stays in its own overlay, though another waits with a word of a listener, a person, or nothing at all", `
			one(0, "aya", "first", 1000);
			say(0.1, "said", { from: "taro", by: "human", kind: "turn", text: "hm" });
			one(0.2, "kyoko", "mhm", 100, { kind: "backchannel" });
			one(0.3, "kyoko", "", 0);
			say(0.4, "vote", { voter: "kyoko" }); say(0.5, "something new", null); see(1);`,
			"1: 1/1 aya first until 3\n"},
		{"the daemon was killed: what was being said has an end, told or not", `
			say(0, "body", { joined: [{ id: "b1", who: "aya", plays: true }] });
			piece(0, 1, ["abc ", 1000]); piece(0, 2, ["def", 1000]);
			say(5, "owner", { owner: "new" }); see(5);
			whole(5.1, { segments: 2, played: true, broken: "the daemon ended" }); see(5.2);
			say(6, "heard", { line: "g", who: "aya", of: 5, end: "failed", text: "abc ", why: "the daemon ended", gap_ms: 0 }); see(6, 8);`,
			`5: 1/1 aya abc def until 66
5.2: 1/1 aya abc def until 7.1
6: 1/1 aya abc  [failed] until 8
8: nothing until -
`},
		{"a line that began before what is known of it", `
			piece(0, 3, ["ghi", 1000]); whole(0.5, { segments: 3, text: "abcdefghi" }); see(0.5);
			s = nobody("");
			whole(1, { segments: 3, text: "abcdefghi" }); see(1);`,
			`0.5: 1/1 aya ghi until 3
1: 1/1 aya abcdefghi until 4.35
`},
		{"words that were erased are gone, and those of others stay", `
			one(0, "aya", "first", 9000);
			say(1, "forgotten", { order: "o", seqs: [[7, 9]] }); see(1);
			say(2, "forgotten", { order: "o", seqs: [[1, 1], [7, 9]] }); see(2);
			say(3, "said", { from: "aya", by: "companion", kind: "turn", text: "", erased: "o" }, { blank: true });
			say(3, "vote", null, { blank: true }); see(3);`,
			`1: 1/1 aya first until 11
2: nothing until -
3: nothing until -
`},
		{"a body that says it tells and does not is believed twice", `
			say(0, "body", { joined: [{ id: "b1", who: "aya", plays: true }] });
			for (const id of ["g1", "g2", "g3"]) {
				say(0, "said", { from: "aya", by: "companion", kind: "turn", text: "abc", grant: id, played: true, voice: voice(["abc", 1000]) });
				say(1, "heard", { line: id, who: "aya", of: seq, end: "said", why: "no word", missed: ["b1"], gap_ms: 0 });
				console.log(s.line.waits.size);
			}`, "1\n1\n0\n"},
		{"a line that is refused in the middle is over", `
			piece(0, 1, ["abc", 1000]); say(0.5, "refused", { who: "aya", grant: "g", again: true }); see(1);
			say(1, "refused", { who: "aya", grant: "g" }); see(1, 3);`,
			`1: 1/1 aya abc until 64.15
1: 1/1 aya abc [said] until 3
3: nothing until -
`},
	} {
		t.Run(c.name, func(t *testing.T) { run(t, node, string(script)+feed+c.plays, c.want) })
	}
}

// Long texts: Japanese is cut behind marks and between words, by the rules of its lines; a text
// without any place to cut it at is cut between letters; none of it is lost, and signs that turn text
// around or do what no letter does are taken out.
func TestLongAndHostile(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node")
	}
	script, err := os.ReadFile("line.js")
	if err != nil {
		t.Fatal(err)
	}
	run(t, node, string(script)+feed+`
		console.log(cut("むかしむかし、あるところに、おじいさんとおばあさんが「たのしく」暮らしていました。", fits).join("|"));
		console.log(cut("supercalifragilisticexpialidocious words go here", fits).join("|"));
		console.log(cut("あああああああああああ「」あ", fits).join("|"), cut("あああああああああああああッッ", fits).join("|"));
		const family = "👨‍👩‍👧‍👦";
		console.log(cut(family.repeat(9), text => [...text].length <= 12).join("|"));
		let calls = 0;
		for (const letter of ["a", "あ", "ｗ", "。", "\u0301", family]) {
			const text = letter.repeat(letter === family ? 500 : 10000), all = cut(text, text => (calls++, [...text].length <= 60));
			console.log(letter.length, all.join("") === text, Math.max(...all.map(x => [...x].length)) <= 60 || all.length);
		}
		console.log(calls < 20000);
		const nasty = "<img src=x onerror=alert(1)>\u202eevil\u202c\u2067\u0007\u0000\ttab\u2028";
		one(0, "aya", nasty, 1000); see(0);
		console.log(JSON.stringify(s.line.parts[0].beats[0].text).length, s.line.parts[0].beats[0].text.length === nasty.length, /[\u202a-\u202e\u2066-\u2069\u0000-\u0009]/.test(s.line.parts[0].beats[0].text));
		one(1, "aya", "ああ", 1000, { voice: [{ bytes: 1, ms: 5 }, { bytes: 5, ms: 5 }] }); see(1.1); // in the middle of a letter
		one(2, "aya", "ああ", 1000, { voice: [{ bytes: 900, ms: 5 }] }); see(2);
		one(3, "__proto__", "x", 1000); s.names.set("__proto__", "constructor"); see(3);
	`, `むかしむかし、|あるところに、|おじいさんとおばあさんが|「たのしく」暮らしてい|ました。
supercalifra|gilisticexpi|alidocious |words go |here
あああああああああああ|「」あ あああああああああああ|ああッッ
👨‍👩‍👧‍👦|👨‍👩‍👧‍👦|👨‍👩‍👧‍👦|👨‍👩‍👧‍👦|👨‍👩‍👧‍👦|👨‍👩‍👧‍👦|👨‍👩‍👧‍👦|👨‍👩‍👧‍👦|👨‍👩‍👧‍👦
1 true true
1 true true
1 true true
1 true true
1 true 1
11 true true
true
0: 1/5 aya <img src=x  until 0.26190478515625
44 true false
1.1: 1/1 aya ああ until 3.01
2: 1/1 aya ああ until 4.3
3: 1/1 constructor x until 6
`)
}

// run runs a script, and compares what it prints.
func run(t *testing.T, node, script, want string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "overlay.js")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(node, file).CombinedOutput(); err != nil || string(out) != want {
		t.Errorf("%v\ngot\n%s\nwant\n%s", err, out, want)
	}
}
