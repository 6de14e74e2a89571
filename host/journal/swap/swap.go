// Package swap puts files and folders in the place of others, all of them or none, also where the program is killed on the way: what
// is to be done is written down first, and whoever comes next does the rest.
//
// It never looks into what it moves, and deletes nothing that it was not told to.
package swap

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/companiond/companiond/host/journal/statedir"
)

// File is the name of the plan in a state directory, while it is carried out.
const File = "exchange"

// Step is one exchange, of absolute paths on one file system.
type Step struct {
	New   string `json:"new,omitempty"` // what comes to Place; empty: nothing does
	Place string `json:"place"`
	Old   string `json:"old,omitempty"` // where what is at Place goes; empty: it is deleted
}

// Commit carries steps out, one after the other. Whoever holds the lock of dir may call it. When the plan is written down they will be done:
// by this call, or, where that fails or is killed, by Finish.
func Commit(dir string, steps []Step) error {
	b, err := json.Marshal(steps)
	if err != nil {
		return err
	}
	plan := filepath.Join(dir, File)
	if err := write(plan+".new", b); err != nil {
		return fmt.Errorf("write down what is exchanged: %w", err)
	}
	if err := os.Rename(plan+".new", plan); err != nil {
		return fmt.Errorf("write down what is exchanged: %w", err)
	}
	if err := statedir.Sync(plan); err != nil {
		return err
	}
	return Finish(dir)
}

// Pending says whether a plan of dir was not carried out to its end.
func Pending(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, File))
	return err == nil
}

// Finish carries out what is left of the plan of dir, if there is any. Whoever holds the lock of dir may call it.
func Finish(dir string) error {
	plan := filepath.Join(dir, File)
	b, err := os.ReadFile(plan)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("finish an exchange: %w", err)
	}
	var steps []Step
	if err := json.Unmarshal(b, &steps); err != nil {
		return fmt.Errorf("finish an exchange: %s: %w", plan, err)
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			return fmt.Errorf("finish an exchange that %s tells of: %w", plan, err)
		}
	}
	if err := os.Remove(plan); err != nil {
		return fmt.Errorf("finish an exchange: %w", err)
	}
	return statedir.Sync(plan)
}

// do does a step, or what is left of it: one whose New is not there any more was done.
func (s Step) do() error {
	if s.New != "" {
		if _, err := os.Lstat(s.New); errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
	}
	if err := s.clear(); err != nil {
		return err
	}
	if s.New == "" {
		return nil
	}
	if err := os.Rename(s.New, s.Place); err != nil {
		return err
	}
	return errors.Join(statedir.Sync(s.Place), statedir.Sync(s.New))
}

// clear takes away what is at the place.
func (s Step) clear() error {
	if _, err := os.Lstat(s.Place); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if s.Old == "" {
		if err := os.RemoveAll(s.Place); err != nil {
			return err
		}
		return statedir.Sync(s.Place)
	}
	if err := made(filepath.Dir(s.Old)); err != nil {
		return err
	}
	if err := os.Rename(s.Place, s.Old); err != nil {
		return err
	}
	return errors.Join(statedir.Sync(s.Old), statedir.Sync(s.Place))
}

// made makes a folder that is not there, for the owner of that in which it lies.
func made(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return statedir.Inherit(dir)
}

// write makes and syncs a file of mode 0600.
func write(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(b); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, statedir.Inherit(path), f.Close()) // a daemon that is another user may have to finish it
}
