package files

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
)

// begun is how a file begins that is being written. Nobody loads it, for it begins with a dot and ends as it does.
const (
	begun  = ".companiond-"
	ending = ".tmp"
)

// forgotten is how old a begun file is that a daemon left that was killed.
const forgotten = time.Hour

// errNoExchange says that two files cannot be exchanged here in one step.
var errNoExchange = errors.New("files cannot be exchanged here")

// read reads a regular file of the folder, of at most Max bytes.
func read(root *os.Root, name string) ([]byte, fs.FileInfo, error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, abi.Field("file", abi.CodeNotFound, "%s is not there", name)
	case err != nil:
		return nil, nil, failed("look at "+name, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, nil, abi.Field("file", abi.CodeInvalid, "%s is a link; change what it leads to with an editor", name)
	case !info.Mode().IsRegular():
		return nil, nil, abi.Field("file", abi.CodeInvalid, "%s is no regular file", name)
	case info.Size() > Max:
		return nil, nil, abi.Field("file", abi.CodeTooLarge, "%s has %d bytes; up to %d can be changed here", name, info.Size(), Max)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, nil, failed("open "+name, err)
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		return nil, nil, abi.Field("file", abi.CodeConflict, "%s is being changed by somebody else; look at it again", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, Max+1))
	if err != nil {
		return nil, nil, failed("read "+name, err)
	}
	if len(data) > Max {
		return nil, nil, abi.Field("file", abi.CodeTooLarge, "%s has more than %d bytes, which can be changed here", name, Max)
	}
	return data, info, nil
}

// begin writes a file beside the others, and gives its name. It is on the disk by then.
func begin(root *os.Root, data []byte, mode fs.FileMode, replaces bool) (name string, err error) {
	sweep(root)
	var chance [8]byte
	_, _ = rand.Read(chance[:]) // it never fails, but ends the program instead
	name = begun + hex.EncodeToString(chance[:]) + ending
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil && replaces {
		err = f.Chmod(mode) // whatever new files get here
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, root.Remove(name))
	}
	return name, nil
}

// sweep removes what daemons left that were killed while they wrote.
func sweep(root *os.Root) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), begun) || !strings.HasSuffix(e.Name(), ending) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > forgotten {
			_ = root.Remove(e.Name()) // it takes little room
		}
	}
}

// create writes a file that is not there yet.
func create(root *os.Root, name string, data []byte) error {
	temp, err := begin(root, data, 0o664, false)
	if err != nil {
		return err
	}
	err = root.Link(temp, name) // which never replaces anything
	switch {
	case errors.Is(err, fs.ErrExist):
		err = abi.Field("file", abi.CodeConflict, "%s is there already", name)
	case err != nil: // the file system has no second names
		if _, there := root.Lstat(name); errors.Is(there, fs.ErrNotExist) {
			err = root.Rename(temp, name)
		}
	}
	return errors.Join(err, gone(root, temp), settle(root))
}

// replace writes a file in the place of one that has the bytes of a hash. What an editor saves at this very moment is not lost:
// where files can be exchanged in one step it is looked at what came out, and put back if it was another.
func replace(root *os.Root, name string, data []byte, hash string) error {
	was, info, err := read(root, name)
	if abi.CodeOf(err) == abi.CodeNotFound {
		return abi.Field("file", abi.CodeConflict, "%s is not there any more", name)
	}
	if err != nil {
		return err
	}
	if hashOf(was) != hash {
		return moved(name)
	}
	if bytes.Equal(was, data) {
		return nil
	}
	temp, err := begin(root, data, info.Mode().Perm(), true)
	if err != nil {
		return err
	}
	err = exchange(root, temp, name)
	if errors.Is(err, errNoExchange) {
		return errors.Join(replaceByName(root, temp, name, hash), gone(root, temp), settle(root))
	}
	if err != nil {
		return errors.Join(err, gone(root, temp))
	}
	// What had the name is in temp now.
	if out, _, err := read(root, temp); err != nil || hashOf(out) != hash {
		return errors.Join(moved(name), putBack(root, temp, name, data), settle(root))
	}
	return errors.Join(root.Rename(temp, name+before), settle(root))
}

// putBack gives a name back to what had it, or to what somebody saved there meanwhile: the newest that is not ours.
func putBack(root *os.Root, temp, name string, ours []byte) error {
	for placed := ours; ; {
		theirs, _, err := read(root, temp)
		if err == nil {
			err = exchange(root, temp, name)
		}
		if err != nil {
			return err
		}
		out, _, err := read(root, temp)
		switch {
		case err != nil:
			return err
		case !bytes.Equal(out, placed):
			placed = theirs // out is newer
		case bytes.Equal(out, ours):
			return gone(root, temp)
		default:
			return root.Rename(temp, name+before)
		}
	}
}

// replaceByName does the same where files cannot be exchanged: between the last look and the rename there is a moment.
func replaceByName(root *os.Root, temp, name, hash string) error {
	keep := strings.TrimSuffix(temp, ending) + ".was" + ending
	if err := root.Link(name, keep); err != nil {
		was, info, err := read(root, name)
		if err != nil {
			return err
		}
		if err := root.WriteFile(keep, was, info.Mode().Perm()); err != nil {
			return err
		}
	}
	out, _, err := read(root, keep)
	if err != nil || hashOf(out) != hash {
		return errors.Join(moved(name), gone(root, keep))
	}
	if err := root.Rename(temp, name); err != nil {
		return errors.Join(err, gone(root, keep))
	}
	return root.Rename(keep, name+before)
}

// remove takes a file away that has the bytes of a hash.
func remove(root *os.Root, name, hash string) error {
	was, _, err := read(root, name)
	if err != nil {
		return err
	}
	if hashOf(was) != hash {
		return moved(name)
	}
	if err := root.Rename(name, name+before); err != nil {
		return err
	}
	if out, _, err := read(root, name+before); err == nil && hashOf(out) != hash { // somebody saved it this moment
		return errors.Join(moved(name), root.Link(name+before, name), settle(root))
	}
	return settle(root)
}

func moved(name string) error {
	return abi.Field("file", abi.CodeConflict, "%s was changed by somebody else meanwhile; nothing was saved", name)
}

// gone removes a file that may be gone.
func gone(root *os.Root, name string) error {
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
