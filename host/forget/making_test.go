package forget_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/forget"
	"github.com/companiond/companiond/host/forget/forgettest"
	"github.com/companiond/companiond/host/forget/told"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/memory"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/waittest"
)

// TestWhileRemembering gives an order while a model goes through the talk: what it answers then is not remembered, though nothing
// had been when the memories were looked through.
func TestWhileRemembering(t *testing.T) {
	w := newWorld(t)
	w.prepare()
	defer w.close(t)
	if _, err := w.j.Acquire(t.Context(), "main", "test", time.Now()); err != nil {
		t.Fatal(err)
	}
	asked, goOn := make(chan string, 9), make(chan struct{})
	k := memory.New(memory.Config{
		Journal: w.j, Owner: w.newID(), NewID: w.newID, Log: slog.New(slog.DiscardHandler), Settings: func(string) memory.Settings { return memory.Settings{Model: true} },
		Model: func(_ context.Context, _ module.Caller, ask model.Request) (model.Answer, error) {
			asked <- ask.Messages[0].Text
			<-goOn
			text := `{"facts":[{"turn":2,"quote":"favourite food is Zqfoodxw","kind":"favourite","thing":"food","value":"Zqfoodxw","text":"favourite food is Zqfoodxw","importance":5}]}`
			return model.Answer{Text: text, JSON: json.RawMessage(text)}, nil
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	if err := k.Load(ctx); err != nil {
		t.Fatal(err)
	}
	running.Go(func() { _ = k.Run(ctx) })
	w.append("main", entry.KindCast, entry.Cast{Joined: []entry.Joined{{ID: "aya", Kind: abi.KindCompanion}}})
	for i := range memory.Turns + 1 {
		said := entry.Said{From: "bob", By: abi.KindHuman, Text: fmt.Sprint("yet ", i), Kind: abi.KindTurn}
		if i == 0 {
			said.From, said.Text = "mika", "My favourite food is Zqfoodxw."
		}
		e := w.append("main", entry.KindSaid, said)
		k.Heard("main", entry.Entry{Seq: e.Seq}, said, []string{"aya"})
	}
	if first := <-asked; !strings.Contains(first, "Zqfoodxw") {
		t.Fatalf("a model was asked of %s", first)
	}
	var err error
	w.service, err = forget.Open(forget.Config{Journal: w.j, Dir: w.dir, Owner: w.newID(), Memory: told.Memory{Keeper: k}, Log: slog.New(slog.DiscardHandler)})
	if err == nil {
		_, err = w.service.Forget(ctx, forget.Order{By: admin, Who: "mika"})
	}
	if err == nil {
		err = w.service.Resume(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	close(goOn)
	waittest.Until(t, "a model is asked again", func() bool { return len(asked) > 0 })
	if again := <-asked; strings.Contains(again, "Zqfoodxw") {
		t.Errorf("a model is asked again of %s", again)
	}
	waittest.Until(t, "the talk is gone through", func() bool {
		es, err := w.j.Read(ctx, journal.MemoryOf("aya"), 0, 100)
		return err != nil || len(es) > 0 && es[len(es)-1].Kind == entry.KindRead
	})
	if left := forgettest.Left(t, w.dir, "Zqfoodxw", "mika"); len(left) > 0 {
		t.Error(strings.Join(left, "\n"))
	}
}
