package folder_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
	"github.com/companiond/companiond/host/module/moduletest"
)

func TestStop(t *testing.T) {
	var let chan struct{}
	bubble(t, func(r *rig, c *folder.Config) {
		let = make(chan struct{})
		r.engine.OnLoad = func(context.Context, module.Source) (module.Module, error) { return moduletest.Held("late", let), nil }
	}, func(t *testing.T, r *rig) {
		write(t, r.path("aya.fake"), "x")
		r.begin()
		c := r.companion("aya")
		answer := make(chan string)
		go func() { s, _ := moduletest.Vote(c); answer <- s }()
		synctest.Wait()
		r.cancel()
		synctest.Wait()
		if _, err := moduletest.Vote(c); abi.CodeOf(err) != abi.CodeUnavailable || !strings.Contains(err.Error(), "stops") {
			t.Errorf("a call during the stop gives %v", err)
		}
		time.Sleep(4 * time.Second)
		close(let)
		if s := <-answer; s != "late" {
			t.Errorf("the call that ran is answered %q", s)
		}
		r.checkTold("joined aya") // a stop is no leaving
	})
}

func TestStopWhileLoading(t *testing.T) {
	for _, stubborn := range []bool{false, true} {
		var let chan struct{}
		bubble(t, func(r *rig, c *folder.Config) {
			let = make(chan struct{})
			c.LoadTimeout = time.Hour
			slowly(let, stubborn)(r, c)
		}, func(t *testing.T, r *rig) {
			r.begin()
			r.save("aya.fake", saying("slow"))
			r.settle()
			r.cancel()
			synctest.Wait()
			close(let)
			<-r.over
			if _, ok := r.folder.Companion("aya"); ok {
				t.Error("it joined after the end")
			}
			r.checkTold("")
		})
	}
}
