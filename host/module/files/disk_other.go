//go:build !unix

package files

import "os"

// writable is found out by saving.
func (s *Store) writable() error { return nil }

// readOnly: a folder that is only read says that it is denied.
func readOnly(error) bool { return false }

// settle is the system's own business here.
func settle(*os.Root) error { return nil }
