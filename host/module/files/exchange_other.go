//go:build !linux && !darwin

package files

import "os"

// exchange cannot be done here in one step.
func exchange(*os.Root, string, string) error { return errNoExchange }
