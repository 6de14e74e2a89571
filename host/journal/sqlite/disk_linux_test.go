package sqlite

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// disk is an ext4 file system on a loop device, for what one does not do to
// the disk one stands on.
type disk struct {
	t          testing.TB
	image, dir string
}

func newDisk(t testing.TB, mib int64) *disk {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount a file system of its own")
	}
	for _, tool := range []string{"mkfs.ext4", "losetup", "mount", "umount"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs %s: %v", tool, err)
		}
	}
	tmp := t.TempDir()
	d := &disk{t: t, image: filepath.Join(tmp, "image"), dir: filepath.Join(tmp, "mnt")}
	if err := os.Mkdir(d.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(d.image, mib<<20); err != nil {
		t.Fatal(err)
	}
	d.run("mkfs.ext4", "-q", "-F", "-m", "0", d.image)
	if out, err := exec.Command("mount", "-o", "loop", d.image, d.dir).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a loop device here: %v: %s", err, out)
	}
	t.Cleanup(func() {
		for exec.Command("mountpoint", "-q", d.dir).Run() == nil {
			if exec.Command("umount", d.dir).Run() != nil {
				d.run("umount", "-l", d.dir)
			}
		}
	})
	return d
}

func (d *disk) run(name string, args ...string) {
	d.t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		d.t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
}

func (d *disk) path() string { return filepath.Join(d.dir, "state", "companion.db") }

func (d *disk) mount()             { d.t.Helper(); d.run("mount", "-o", "loop", d.image, d.dir) }
func (d *disk) umount()            { d.t.Helper(); d.run("umount", d.dir) }
func (d *disk) remount(how string) { d.t.Helper(); d.run("mount", "-o", "remount,"+how, d.dir) }

// mountElsewhere mounts the image on another loop device while the first is in
// use by a file system that was cut off.
func (d *disk) mountElsewhere() {
	d.t.Helper()
	out, err := exec.Command("losetup", "--find", "--show", d.image).Output()
	if err != nil {
		d.t.Fatalf("losetup: %v", err)
	}
	dev := strings.TrimSpace(string(out))
	d.run("mount", dev, d.dir)
	d.run("losetup", "--detach", dev) // once it is unmounted
}

// cut stops the file system at once, as a power cut would: what was not synced
// is gone.
func (d *disk) cut() {
	d.t.Helper()
	f, err := os.Open(d.dir)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	const ext4Shutdown = 0x8004587d // EXT4_IOC_SHUTDOWN
	how := uint32(2)                // NOLOGFLUSH
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), ext4Shutdown, uintptr(unsafe.Pointer(&how))); errno != 0 {
		d.t.Skipf("EXT4_IOC_SHUTDOWN: %v", errno)
	}
}

// fill writes until the disk is full, with less than a block left.
func (d *disk) fill() (filler string) {
	d.t.Helper()
	filler = filepath.Join(d.dir, "filler")
	f, err := os.OpenFile(filler, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int{1 << 20, 1 << 16, 1 << 12, 1} {
		chunk := make([]byte, size)
		for {
			if n, err := f.Write(chunk); err != nil || n < size {
				break
			}
		}
	}
	if err := f.Sync(); err != nil {
		d.t.Logf("sync filler: %v", err)
	}
	return filler
}
