package told_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/forget"
	"github.com/companiond/companiond/host/forget/told"
	"github.com/companiond/companiond/host/journal/memory"
	keeper "github.com/companiond/companiond/host/memory"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
	"github.com/companiond/companiond/host/module/moduletest"
)

var (
	_ forget.Modules = told.Modules{}
	_ forget.Memory  = told.Memory{}
)

// Who answers events is told, also where another one fails; then all are made anew.
func TestModules(t *testing.T) {
	var mu sync.Mutex
	heard, where := map[string]abi.Event{}, map[string][]string{}
	engine := &moduletest.Engine{OnLoad: func(_ context.Context, s module.Source) (module.Module, error) {
		m := &moduletest.Module{Desc: abi.Description{ABI: "1", Name: s.ID, Ops: []string{abi.OpEvent}}}
		if s.ID == "deaf" {
			m.Desc.Ops = nil
		}
		m.OnCall = func(_ context.Context, req abi.Request) (json.RawMessage, error) {
			var e abi.Event
			err := json.Unmarshal(req.Data, &e)
			mu.Lock()
			defer mu.Unlock()
			heard[s.ID], where[s.ID] = e, append(where[s.ID], req.Room)
			if s.ID == "fails" {
				err = errors.New("タマ")
			}
			return json.RawMessage("{}"), err
		}
		return m, nil
	}}
	dir := t.TempDir()
	for _, n := range []string{"aya", "deaf", "fails"} {
		if err := os.WriteFile(filepath.Join(dir, n+".fake"), []byte(n), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := folder.NewSet(folder.Config{Dir: dir, Engines: []module.Engine{engine}, Debounce: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = f.Run(ctx) })
	defer running.Wait()
	defer stop()
	m := told.Modules{Folder: f, NewID: func() string { return "id" }, Log: slog.New(slog.DiscardHandler)}
	<-m.Ready()
	m.Tell(ctx, abi.Forget{Who: "mika", Words: []string{"タマ"}}, map[string][]string{"aya": {"f1", "f2"}, "deaf": {"f1"}})
	if len(heard) != 2 || heard["aya"].Kind != abi.EventForget || heard["aya"].Forget.Who != "mika" {
		t.Errorf("%+v", heard)
	}
	if got := fmt.Sprint(where); got != `map[aya:[ f1 f2] fails:[]]` {
		t.Errorf("told in %s", got)
	}
	m.Renew(ctx)
	if n := len(engine.Loads()); n != 6 {
		t.Errorf("%d loads when all are made anew", n)
	}
}

// All that is remembered is seen, page by page, and goes by its id.
func TestMemory(t *testing.T) {
	n := 0
	k := keeper.New(keeper.Config{Journal: memory.New(), NewID: func() string { n++; return string(rune('a' + n)) }})
	var ids []string
	for _, text := range []string{"ミカの猫はタマ", "タロウは寒がり"} {
		m, err := k.Write(t.Context(), "aya", abi.MemoryAdd{Text: text}, abi.VisibleAll, "boss")
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, m.ID)
	}
	m := told.Memory{Keeper: k}
	if n, err := m.Erase(t.Context(), "aya", ids[:1], "admin"); n != 1 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	var left []string
	if err := m.Each(t.Context(), func(c string, m abi.Memory) { left = append(left, c+" "+m.Text) }); err != nil || len(left) != 1 || left[0] != "aya タロウは寒がり" {
		t.Errorf("%q %v", left, err)
	}
}
