package folder_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
	"github.com/companiond/companiond/host/module/moduletest"
	"github.com/companiond/companiond/host/waittest"
)

// Two folders are seen as one, and a name is that of the first folder that has it.
func TestSet(t *testing.T) {
	var book logtest.Log
	dirs := [2]string{t.TempDir(), t.TempDir()}
	var cfgs []folder.Config
	for _, dir := range dirs {
		cfgs = append(cfgs, folder.Config{Dir: dir, Engines: []module.Engine{&moduletest.Engine{}}, Debounce: time.Millisecond, Rescan: 50 * time.Millisecond, Log: book.Logger()})
	}
	write(t, filepath.Join(dirs[0], "aya.fake"), `{"name":"Aya"}`)
	write(t, filepath.Join(dirs[1], "kyoko.fake"), `{"name":"Kyoko"}`)
	s, err := folder.NewSet(cfgs...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	<-s.Ready()
	names := func() (all []string) {
		for _, c := range s.Companions() {
			all = append(all, c.Describe().Name)
		}
		return all
	}
	if got := names(); !slices.Equal(got, []string{"Aya", "Kyoko"}) || !slices.Equal(s.IDs(), []string{"aya", "kyoko"}) || len(s.Status()) != 2 {
		t.Errorf("%q, %q, %+v", got, s.IDs(), s.Status())
	}
	write(t, filepath.Join(dirs[1], "AYA.fake"), `{"name":"Another"}`)
	waittest.Until(t, "the second Aya is refused", func() bool {
		return slices.ContainsFunc(s.Status(), func(st module.Status) bool {
			return st.ID == "AYA" && strings.Contains(st.Error, "reads or looks like aya, which is in "+dirs[0])
		})
	})
	if c, ok := s.Companion("aya"); !ok || c.Describe().Name != "Aya" || len(names()) != 2 {
		t.Errorf("%q", names())
	}
	s.Renew()
	waittest.Until(t, "all are loaded anew", func() bool {
		return !slices.ContainsFunc(s.Companions(), func(c *module.Companion) bool { return c.Generation() != 2 })
	})
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := folder.NewSet(folder.Config{}); err == nil {
		t.Error("a folder without a path")
	}
}
