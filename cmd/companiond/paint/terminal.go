package paint

import "os"

// Colourful says whether a file is a terminal that wants colours.
func Colourful(f *os.File) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && Terminal(f)
}

// Terminal says whether a file is one, or another device of characters.
func Terminal(f *os.File) bool {
	fi, err := f.Stat()
	return err == nil && fi.Mode()&os.ModeCharDevice != 0
}
