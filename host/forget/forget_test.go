package forget_test

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/context/kept"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/forget"
	"github.com/companiond/companiond/host/forget/forgettest"
	"github.com/companiond/companiond/host/forget/ledger"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/reader"

	"github.com/companiond/companiond/host/waittest"
)

// TestForget talks, and has one who talked forgotten.
func TestForget(t *testing.T) {
	w := newWorld(t)
	w.start("main", "other")
	w.say("main", "taro", "今日は寒いね")
	w.settle("main")
	m := w.say("main", "mika", "うちの猫はタマっていうの")
	w.settle("main")
	w.say("other", "taro", "タマに会いたい")
	w.settle("other")
	if found := forgettest.Left(t, w.dir, "mika"); len(found) == 0 {
		t.Fatal("the search finds nothing of what is there")
	}
	if n := w.found("タマ"); n != 4 { // said, and repeated
		t.Fatalf("タマ is found %d times", n)
	}
	r := w.forget(forget.Order{Who: "mika"})
	if a, b := w.found("タマ"), w.found("寒い"); a != 0 || b != 2 {
		t.Errorf("タマ is found %d times, 寒い %d times", a, b)
	}
	if found := forgettest.Left(t, w.dir, "mika", "タマ", "っていうの"); len(found) > 0 {
		t.Error(strings.Join(found, "\n"))
	}
	w.sound()
	if r.Rooms != 2 || r.Entries < 5 {
		t.Errorf("%+v", r)
	}
	talk, err := w.rooms.Room(context.Background(), "main")
	if err != nil {
		t.Fatal(err)
	}
	msgs, _, err := talk.Messages(context.Background(), m.Seq-1, 1)
	if err != nil || len(msgs) != 1 || msgs[0].From != r.As || msgs[0].Text != "" || msgs[0].Cut != "erased" {
		t.Errorf("%+v %v", msgs, err)
	}
	w.say("main", "taro", "まだ寒い")
	w.settle("main")
	if msgs, _, _ := talk.Messages(context.Background(), 0, 100); !strings.Contains(msgs[len(msgs)-1].Text, "まだ寒い") || msgs[len(msgs)-1].From != "aya" {
		t.Errorf("the talk does not go on: %+v", msgs)
	}
	w.sound()
}

// words are planted, and must not be found.
var words = []string{"mika", "ｍｉｋａ", "みかりん", "タマ", "ﾀﾏ", "Whiskers", "銀の匙", "090-1234-5678", "ひみつの\"こと\"", "{\"secret\":1}", "来月から大阪の店で働く", "moving to the blue house near Nara", "z\u0301a\u030alg\u00f6", "Klaudiusz"}

// plant puts words wherever they can be: what the person said, in every kind of entry, and what
// others made of it.
func plant(t *testing.T, w *world) {
	t.Helper()
	ctx := context.Background()
	for _, name := range []string{"main", "side", "conv-1"} {
		if _, err := w.j.Acquire(ctx, name, "test", time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	said := func(room, from, by, text string) {
		w.append(room, entry.KindSaid, entry.Said{From: from, By: abi.ParticipantKind(by), Text: text, Kind: abi.KindTurn, To: []string{"aya"}})
	}
	w.append("main", entry.KindCast, entry.Cast{Joined: []entry.Joined{{ID: "aya", Name: "アヤ", Kind: "companion"}, {ID: "ken", Kind: "agent"}, {ID: "mika", Name: "みかりん", Aliases: []string{"ミカミカ"}, Kind: "agent"}}})
	said("main", "taro", "human", "はじめまして")
	for _, text := range []string{"うちの猫はタマ。英語ではWhiskersなの", "本は「銀の匙」、電話は090-1234-5678だよ", `ひみつの"こと"と{"secret":1}`, "来月から大阪の店で働くんだ", "I am moving to the blue house near Nara soon", "z\u0301a\u030alg\u00f6 と言う"} {
		said("main", "mika", "human", text)
	}
	said("main", "ｍｉｋａ", "human", "ねむい")
	w.append("main", entry.KindSaid, entry.Said{From: "mika", By: abi.KindHuman, Text: "きて", Kind: abi.KindTurn, To: []string{"Klaudiusz", "ken"}})
	said("main", "aya", "companion", "タマは元気? mikaさん")
	said("main", "aya", "companion", "今日は寒い")
	w.append("main", entry.KindVote, entry.Voted{Round: 3, Voter: "aya", Vote: abi.Vote{State: "speak", Importance: 3, Reason: "銀の匙の話がしたい", Backchannel: "タマ!"}})
	w.append("main", entry.KindVote, entry.Voted{Round: 3, Voter: "mika", Vote: abi.Vote{State: "listen", Reason: "だまっていたい気分"}})
	w.append("main", entry.KindDecision, entry.Decision{Round: 3, Outcome: "superseded", Reason: "mika said something newer", Ranking: []entry.Candidate{{Who: "aya", Standing: "speak", Note: "銀の匙の話がしたい"}, {Who: "mika", Standing: "listen", Called: "mika"}}})
	w.append("main", entry.KindRefused, entry.Refused{Who: "mika", By: "human", Kind: "turn", Code: "stale", Why: "mika spoke", Text: "来月から大阪の店で働くって言った"})
	w.append("main", entry.KindPerceived, entry.Perceived{Who: "aya", Title: "gift", Format: "object", From: "mika", Body: json.RawMessage(`{"note":"タマに"}`), SHA256: "aa", Kept: true})
	b64 := base64.StdEncoding.EncodeToString([]byte("写真にタマが写る"))
	w.append("main", entry.KindPerceived, entry.Perceived{Who: "aya", Title: "vision", Format: "text", From: "ken", Body: json.RawMessage(`"` + b64 + `"`), SHA256: "bb"})
	w.append("main", entry.KindJudged, entry.Judged{Who: "aya", Perceptions: []uint64{4}, Reason: "Whiskersが見える"})
	w.append("main", entry.KindWish, entry.Wish{Who: "aya", Importance: 3, Reason: "mikaに", Text: "Whiskers!", To: []string{"mika"}, Due: time.Now().Add(time.Hour), Parameters: json.RawMessage(`{"message":"Whiskers!","x":["\\u30bf\\u30de"]}`)})
	w.append("main", entry.KindSegment, entry.Segment{Grant: "g1", Who: "aya", N: 1, Text: "タマは", Voice: []entry.Beat{{Bytes: 9, MS: 400}}})
	w.append("main", entry.KindHeard, entry.Heard{Line: "g1", Who: "aya", Of: 5, End: "cut", Text: "タマ", Why: "mika spoke over it"})
	w.append("main", entry.KindAction, entry.Action{ID: "a1", Who: "aya", Action: "wave", Parameters: json.RawMessage(`{"to":"mika","say":"タマ"}`)})
	w.append("main", entry.KindFailed, entry.Failed{Grant: "g1", Who: "aya", Error: "mika said no"})
	w.append("main", entry.KindStop, entry.Stop{From: "mika"})
	w.append("main", entry.KindSpeaking, entry.Speaking{From: "mika", On: true})
	w.append("main", entry.KindUsage, entry.Usage{Who: "aya", Model: "m", Op: "speak", Told: &entry.Told{Tail: "mikaの猫はタマ", Notes: []string{"mika"}, Parts: map[string]int{"タマ": 1}}})
	said("side", "taro", "human", "mikaはWhiskersが好き")
	said("side", "hana", "human", "大阪は遠い")
	terms := conversation.Terms{Project: "p", Purpose: "タマの世話", MaxTurns: 5, Members: []string{"ken", "mika"}, Pending: 1000, Idle: 1000}
	settings, _ := json.Marshal(map[string]any{"conversation": terms})
	if err := w.j.Register(ctx, "conv-1", journal.Listing{Key: "conversation\np\nken\nmika", By: "(conversations)", Settings: settings}); err != nil {
		t.Fatal(err)
	}
	if err := w.j.Register(ctx, "side", journal.Listing{Key: "side", By: "mika", Settings: []byte(`{"policy":"vote"}`)}); err != nil {
		t.Fatal(err)
	}
	w.append("conv-1", entry.KindConversation, conversation.Input{Kind: conversation.Start, Who: "ken", Terms: &terms})
	w.append("conv-1", entry.KindConversation, conversation.Input{Kind: "join", Who: "mika"})
	said("conv-1", "ken", "agent", "090-1234-5678に電話した?")
	w.append("conv-1", entry.KindConversation, conversation.Input{Kind: "end", Who: "mika", Why: "ねむいから"})
	for _, name := range []string{"main", "side", "conv-1"} {
		st, _, err := reader.Fold(ctx, w.j, name)
		if err == nil {
			err = reader.Keep(ctx, w.j, name, st)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for key, value := range map[string]string{"cat": "タマ", "of mika": "x", "json": `{"a":["\u30bf\u30de"]}`, "b64": base64.StdEncoding.EncodeToString([]byte("Whiskersの写真")), "keeps": "tea"} {
		if err := w.j.KVSet(ctx, "aya", key, value); err != nil {
			t.Fatal(err)
		}
	}
	w.memory.all = map[string][]abi.Memory{"aya": {
		{ID: "f1", Text: "mikaの猫はタマ", Quote: "猫はタマ", Keys: []string{"タマ"}, SaidBy: "mika", Room: "main"},
		{ID: "f2", Text: "kenはタマを知っている", SaidBy: "ken", Room: "main"},
		{ID: "f3", Text: "taroは寒がり", SaidBy: "taro", Room: "main"},
	}}
}

// TestNothingIsLeft plants words everywhere, and decodes every file afterwards.
func TestNothingIsLeft(t *testing.T) {
	w := newWorld(t)
	w.prepare()
	plant(t, w)
	found := strings.Join(forgettest.Left(t, w.dir, words...), "\n")
	for _, word := range words {
		if !strings.Contains(found, ": "+word) {
			t.Errorf("%q is not found where it is", word)
		}
	}
	copied := w.path() + ".v1-20260101T000000.000Z"
	if err := os.WriteFile(copied, []byte("タマ"), 0o600); err != nil {
		t.Fatal(err)
	}
	plan, err := w.service.Plan(t.Context(), forget.Order{By: admin, Who: "mika"})
	if err != nil || len(forgettest.Left(t, w.dir, "タマ")) == 0 || len(plan.Copies) != 1 {
		t.Errorf("%+v %v", plan, err)
	}
	if _, err := w.service.Forget(t.Context(), forget.Order{By: admin, Who: "mika", Copies: true}); err != nil {
		t.Fatal(err)
	}
	if err := w.service.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found := forgettest.Left(t, w.dir, words...); len(found) > 0 {
		t.Error(strings.Join(found, "\n"))
	}
	if _, err := os.Stat(copied); !errors.Is(err, os.ErrNotExist) {
		t.Error("a copy is left", err)
	}
	w.sound()
	r := w.service.Receipts()[0]
	if r.State != forget.Done || r.Keys != 4 || r.Memories != 2 || r.Rooms != 3 || len(w.memory.all["aya"]) != 1 {
		t.Errorf("%+v", r)
	}
	if plan.Rooms != r.Rooms || plan.Entries != r.Entries || plan.Keys != r.Keys || plan.Memories != r.Memories {
		t.Errorf("planned %+v, done %+v", plan, r)
	}
	for text, stays := range map[string]string{"今日は寒い": "words of others", "大阪は遠い": "a common word", "tea": "a key", `"outcome":"superseded"`: "a decision", r.As: "the name that stands for nobody"} {
		if len(forgettest.Left(t, w.dir, text)) == 0 {
			t.Errorf("%s, %q, is gone", stays, text)
		}
	}
	if row, _, _ := w.j.Room(t.Context(), "conv-1"); row.Key != "" {
		t.Errorf("the pair is known by %q", row.Key)
	}
	w.close(t)
}

func (w *world) close(t *testing.T) {
	t.Helper()
	if err := w.j.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestKilledAtEachStep kills a daemon that erases, at each step, and starts another.
func TestKilledAtEachStep(t *testing.T) {
	waittest.WithoutRaces(t)
	if dir := os.Getenv("FORGET_DIR"); dir != "" {
		w := &world{t: t, dir: dir, modules: &modules{}, memory: &remembers{}}
		w.prepare()
		n, at := 0, len(os.Getenv("FORGET_AT"))
		w.service.Stop(func(string) error {
			if n++; n == at {
				self, _ := os.FindProcess(os.Getpid())
				_ = self.Kill()
				select {}
			}
			return nil
		})
		if err := w.service.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		return
	}
	seed := newWorld(t)
	seed.prepare()
	plant(t, seed)
	if seed.found("タマ") == 0 || seed.found("寒い") == 0 {
		t.Fatal("the index has nothing")
	}
	if err := seed.words.Close(); err != nil {
		t.Fatal(err)
	}
	if len(inIndex(t, seed.dir, "タマ")) == 0 {
		t.Fatal("the search in the index finds nothing")
	}
	if _, err := seed.service.Forget(t.Context(), forget.Order{By: admin, Who: "mika"}); err != nil {
		t.Fatal(err)
	}
	seed.close(t)
	killed := 0
	for at := 1; ; at++ {
		dir := filepath.Join(t.TempDir(), fmt.Sprint(at))
		if err := os.CopyFS(dir, os.DirFS(seed.dir)); err != nil {
			t.Fatal(err)
		}
		child := exec.Command(os.Args[0], "-test.run", "^TestKilledAtEachStep$")
		child.Env = append(os.Environ(), "FORGET_DIR="+dir, "FORGET_AT="+strings.Repeat("x", at))
		out, err := child.CombinedOutput()
		if err != nil {
			killed++
		}
		if err != nil && !strings.Contains(err.Error(), "killed") {
			t.Fatalf("%v\n%s", err, out)
		}
		w := &world{t: t, dir: dir, modules: &modules{}, memory: &remembers{}}
		w.open()
		if found := forgettest.Left(t, dir, words...); len(found) > 0 {
			t.Errorf("killed at %d: %s", at, strings.Join(found, "\n"))
		}
		if found := inIndex(t, dir, "タマ", "銀の", "電話", "ki"); len(found) > 0 {
			t.Errorf("killed at %d: in the index: %q", at, found)
		}
		if w.found("寒い") == 0 || w.found("タマ") != 0 {
			t.Errorf("killed at %d: other words are found, or the same", at)
		}
		w.sound()
		if r := w.service.Receipts()[0]; r.State != forget.Done || r.Keys != 4 || r.Memories != 0 && r.Memories != 2 {
			t.Errorf("killed at %d: %+v", at, r)
		}
		for _, room := range []string{"main", "side", "conv-1"} {
			es, _ := w.j.Read(t.Context(), room, 0, 1000)
			n := len(slices.DeleteFunc(es, func(e entry.Entry) bool { return e.Kind != entry.KindForgotten }))
			if n < 1 || n > 2 {
				t.Errorf("killed at %d: %s was told %d times", at, room, n)
			}
		}
		w.close(t)
		if err == nil {
			break
		}
	}
	if killed < 10 {
		t.Errorf("it was killed %d times", killed)
	}
}

// TestBackupPutBack puts an older journal in place, with cp.
func TestBackupPutBack(t *testing.T) {
	w := newWorld(t)
	w.prepare()
	plant(t, w)
	backup := filepath.Join(t.TempDir(), "backup.db")
	db, err := sql.Open("sqlite", "file:"+w.path()) // as other programs copy it, with pieces of rows between the rows
	if err == nil {
		_, err = db.Exec("VACUUM INTO ?", backup)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	for _, who := range []string{"mika", "hana"} {
		if _, err := w.service.Forget(t.Context(), forget.Order{By: admin, Who: who}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.service.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.close(t)
	for _, f := range []string{"-wal", "-shm"} {
		_ = os.Remove(w.path() + f)
	}
	_ = os.Remove(filepath.Join(w.dir, "heads"))
	raw, err := os.ReadFile(backup)
	if err == nil {
		err = os.WriteFile(w.path(), raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(forgettest.Left(t, w.dir, "タマ")) == 0 {
		t.Fatal("the backup has nothing")
	}
	w.open()
	if found := forgettest.Left(t, w.dir, append(words, "hana")...); len(found) > 0 {
		t.Error(strings.Join(found, "\n"))
	}
	w.sound()
	es, _ := w.j.Read(t.Context(), "main", 0, 1000)
	b, err := entry.Decode[entry.Forgotten](es[len(es)-1])
	if err != nil || b.By != "ledger" {
		t.Errorf("%+v %v", b, err)
	}
	head := es[len(es)-1].Seq
	w.close(t)
	w.open() // and not a third time
	if es, _ := w.j.Read(t.Context(), "main", head, 10); len(es) != 0 {
		t.Errorf("it was erased once more: %v", es)
	}
	w.close(t)
}

// TestTwoAtOnce has two people forgotten while a third one talks.
func TestTwoAtOnce(t *testing.T) {
	w := newWorld(t)
	w.start("main", "other")
	for i := range 20 {
		w.say("main", []string{"mika", "hana", "taro"}[i%3], fmt.Sprintf("番号%dの話、%sから", i, []string{"タマ", "ポチ", "空"}[i%3]))
	}
	w.settle("main")
	ctx, stop := context.WithCancel(t.Context())
	var talk sync.WaitGroup
	n := 0
	for _, room := range []string{"main", "other"} {
		talk.Go(func() {
			for i := 0; ctx.Err() == nil && i < 1000; i++ { // more than an order takes, and not so much that a slow machine never gets through
				w.say(room, "taro", fmt.Sprint("天気の話 ", i))
				if room == "main" {
					n++
				}
			}
		})
	}
	var orders sync.WaitGroup
	for _, who := range []string{"mika", "hana"} {
		orders.Go(func() { w.forget(forget.Order{Who: who}) })
	}
	orders.Wait()
	stop()
	talk.Wait()
	w.settle("main")
	w.settle("other")
	if found := forgettest.Left(t, w.dir, "mika", "hana", "タマ", "ポチ"); len(found) > 0 {
		t.Error(strings.Join(found, "\n"))
	}
	w.sound()
	if n < 10 || w.modules.anew < 2 || len(w.modules.told) != 2 {
		t.Errorf("%d lines were said meanwhile; modules were told %v, made anew %d times", n, w.modules.told, w.modules.anew)
	}
}

// TestWhoMay lists whose word counts.
func TestWhoMay(t *testing.T) {
	w := newWorld(t)
	w.memory.all = map[string][]abi.Memory{"aya": {{ID: "f1", SaidBy: "mika", Text: "x"}, {ID: "f2", SaidBy: "taro", Text: "y"}}}
	w.prepare()
	defer w.close(t)
	token := func(name string, kind abi.ParticipantKind, scopes ...identity.Scope) identity.Caller {
		return identity.Caller{Name: name, Kind: kind, Scopes: scopes}
	}
	guest := identity.Guest(nil)
	guest.Address = identity.Local
	far := identity.Guest(nil)
	far.Address = "192.0.2.7"
	mika := token("mika", abi.KindHuman, identity.Read, identity.Talk)
	for name, c := range map[string]struct {
		o    forget.Order
		want abi.Code
	}{
		"an admin":                     {forget.Order{By: admin, Who: "mika"}, ""},
		"herself":                      {forget.Order{By: mika, Who: "Mika"}, ""},
		"somebody else":                {forget.Order{By: mika, Who: "taro"}, abi.CodeDenied},
		"an agent, of itself":          {forget.Order{By: token("ken", abi.KindAgent, identity.Talk), Who: "ken"}, abi.CodeDenied},
		"an agent that is an admin":    {forget.Order{By: token("ken", abi.KindAgent, identity.Scopes()...), Who: "mika"}, abi.CodeDenied},
		"one who may only read":        {forget.Order{By: token("mika", abi.KindHuman, identity.Read), Who: "mika"}, abi.CodeDenied},
		"a guest here, of himself":     {forget.Order{By: guest, Claimed: "jiro", Who: "jiro"}, ""},
		"a guest here, of another":     {forget.Order{By: guest, Claimed: "jiro", Who: "taro"}, abi.CodeDenied},
		"a guest without a name":       {forget.Order{By: guest, Who: "taro"}, abi.CodeInvalid},
		"a guest from elsewhere":       {forget.Order{By: far, Claimed: "jiro", Who: "jiro"}, abi.CodeDenied},
		"nobody":                       {forget.Order{Who: "mika"}, abi.CodeDenied},
		"nothing":                      {forget.Order{By: admin}, abi.CodeInvalid},
		"both":                         {forget.Order{By: admin, Who: "mika", Facts: []string{"f1"}, Companion: "aya"}, abi.CodeInvalid},
		"a fact of hers":               {forget.Order{By: mika, Facts: []string{"f1"}, Companion: "aya"}, ""},
		"a fact of another":            {forget.Order{By: mika, Facts: []string{"f2"}, Companion: "aya"}, abi.CodeDenied},
		"a fact that nobody remembers": {forget.Order{By: admin, Facts: []string{"f9"}, Companion: "aya"}, abi.CodeNotFound},
		"a fact of no companion":       {forget.Order{By: admin, Facts: []string{"f1"}}, abi.CodeInvalid},
		"copies, on a person's word":   {forget.Order{By: mika, Who: "mika", Copies: true}, abi.CodeDenied},
		"a companion, by an admin":     {forget.Order{By: admin, Who: "Aya"}, abi.CodeDenied},
		"a companion, by a guest":      {forget.Order{By: guest, Claimed: "aya", Who: "aya"}, abi.CodeDenied},
		"a name that is none":          {forget.Order{By: admin, Who: " mika"}, abi.CodeInvalid},
	} {
		r, err := w.service.Forget(t.Context(), c.o)
		if (err == nil) != (c.want == "") || err != nil && abi.CodeOf(err) != c.want || err == nil && r.State != forget.Running {
			t.Errorf("%s: %+v %v", name, r, err)
		}
	}
	raw, err := os.ReadFile(filepath.Join(w.dir, ledger.File))
	if err != nil || strings.Contains(strings.ToLower(string(raw)), "mika") || strings.Contains(string(raw), "jiro") {
		t.Errorf("%v: %s", err, raw)
	}
	if n := strings.Count(string(raw), "\n"); n != 3 { // the admin's and hers are one, for neither is done
		t.Errorf("%d orders", n)
	}
}

// TestSettingsStay has somebody forgotten whose words are those of a room's settings.
func TestSettingsStay(t *testing.T) {
	w := newWorld(t)
	w.prepare()
	defer w.close(t)
	if _, err := w.j.Acquire(t.Context(), "side", "test", time.Now()); err != nil {
		t.Fatal(err)
	}
	settings := `{"companions":["aya","Lulu"],"policy":"vote","policy_settings":{"Bidding":1},"interrupters":["mika","taro"]}`
	if err := w.j.Register(t.Context(), "side", journal.Listing{Key: "side", By: "mika", Settings: []byte(settings)}); err != nil {
		t.Fatal(err)
	}
	w.append("side", entry.KindSaid, entry.Said{From: "mika", By: abi.KindHuman, Kind: abi.KindTurn, Text: "Lulu Bidding Vote Aya Companions"})
	if _, err := w.service.Forget(t.Context(), forget.Order{By: admin, Who: "mika"}); err != nil {
		t.Fatal(err)
	}
	if err := w.service.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	row, _, err := w.j.Room(t.Context(), "side")
	if want := `{"companions":["aya","Lulu"],"interrupters":["taro"],"policy":"vote","policy_settings":{"Bidding":1}}`; err != nil || string(row.Settings) != want || row.By != w.service.Receipts()[0].As {
		t.Errorf("%s by %s %v", row.Settings, row.By, err)
	}
}

// TestPromptsStay has somebody forgotten whose words stand in the house's own ones.
func TestPromptsStay(t *testing.T) {
	w := newWorld(t)
	w.prepare()
	defer w.close(t)
	store := kept.New(w.j, "test")
	if err := store.Put(t.Context(), "h1", "You are Whiskers. Never say タマ."); err != nil {
		t.Fatal(err)
	}
	if _, err := w.j.Acquire(t.Context(), "main", "test", time.Now()); err != nil {
		t.Fatal(err)
	}
	w.append("main", entry.KindSaid, entry.Said{From: "mika", By: abi.KindHuman, Kind: abi.KindTurn, Text: "Whiskersとタマ"})
	if _, err := w.service.Forget(t.Context(), forget.Order{By: admin, Who: "mika"}); err != nil {
		t.Fatal(err)
	}
	if err := w.service.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	es, err := w.j.Read(t.Context(), kept.Stream, 0, 100)
	if err != nil || len(es) == 0 || !strings.Contains(string(es[len(es)-1].Body), "Whiskers") {
		t.Errorf("%v %v", es, err)
	}
}

// TestWhy says of a full disk that it is full, wherever that was met.
func TestWhy(t *testing.T) {
	for _, err := range []error{
		fmt.Errorf("note that an order is done: %w", &os.PathError{Op: "write", Path: "erasures", Err: syscall.ENOSPC}),
		fmt.Errorf("rooms: %w", journal.Coded(fmt.Errorf("erase: %w: disk is full", journal.ErrUnavailable))),
	} {
		if why := forget.Why(err); !strings.Contains(why, "disk is full") {
			t.Errorf("%v: %s", err, why)
		}
	}
}

// inIndex gives which of some pairs of letters the index of words has.
func inIndex(t *testing.T, dir string, pairs ...string) (found []string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "search.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE VIRTUAL TABLE temp.v USING fts5vocab(main, grams, 'row')"); err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		var n int
		if err := db.QueryRow("SELECT count(*) FROM temp.v WHERE term = ?", p).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			found = append(found, p)
		}
	}
	return found
}
