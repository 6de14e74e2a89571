package codecache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// prune removes the code that was not used for the longest time, until the rest is
// within the bound; what has just come stays whatever it weighs.
func (s *Store) prune(newest string) error {
	all, err := s.entries()
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b entry) int { return a.used.Compare(b.used) })
	var sum int64
	for _, e := range all {
		sum += e.Bytes
	}
	for _, e := range all {
		if sum <= s.max {
			break
		}
		if e.key != newest {
			s.drop(e.key, e.record)
			sum -= e.Bytes
		}
	}
	return nil
}

// old is the age of a private directory that nobody compiles into any more.
const old = time.Hour

// abandoned says whether the process is gone that made a private directory.
func abandoned(dir string) bool {
	if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > old {
		return true
	}
	var pid int
	if _, err := fmt.Sscanf(filepath.Base(dir), private+"%d-", &pid); err != nil {
		return false
	}
	p, err := os.FindProcess(pid)
	return err != nil || errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// sweep removes what no record knows: halves that a killed process left, and code of
// other versions, which is never used again.
func (s *Store) sweep() error {
	code, err := filepath.Glob(filepath.Join(s.dir, wazeroPrefix+"*", "*")) // before the records: code never comes first
	if err != nil {
		return fmt.Errorf("look through the cache directory: %w", err)
	}
	all, err := s.entries()
	if err != nil {
		return err
	}
	known := make(map[string]bool, len(all))
	for _, e := range all {
		known[filepath.Join(s.dir, e.File)] = true
	}
	var errs []error
	for _, f := range code {
		if !known[f] {
			errs = append(errs, os.RemoveAll(f))
			_ = os.Remove(filepath.Dir(f)) // where it was the last
		}
	}
	halves, _ := filepath.Glob(filepath.Join(s.dir, private+"*"))
	for _, dir := range halves {
		if abandoned(dir) {
			errs = append(errs, os.RemoveAll(dir))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("clear the cache directory up: %w", err)
	}
	return s.prune("")
}
