package logtest_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/companiond/companiond/host/logtest"
)

// Many write while one reads, and nothing is lost.
func TestLog(t *testing.T) {
	var l logtest.Log
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() { l.Logger().Debug("hello"); l.Logger().Warn("mind the step"); _ = l.String() })
	}
	all.Wait()
	if n := strings.Count(l.String(), "hello"); n != 10 {
		t.Errorf("%d of 10 lines", n)
	}
	if got := l.Warnings("step"); len(got) != 10 || len(l.Warnings("hello")) != 0 {
		t.Errorf("warnings %q", got)
	}
}
