package whole

import "os"

// ReadDisturbed is Read with something that happens before a byte is read.
func ReadDisturbed(name string, disturb func()) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readStable(&disturbed{f, disturb}, name, 1<<20)
}

type disturbed struct {
	*os.File
	disturb func()
}

func (d *disturbed) Read(p []byte) (int, error) {
	if d.disturb != nil {
		d.disturb()
		d.disturb = nil
	}
	return d.File.Read(p)
}
