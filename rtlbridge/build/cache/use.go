package cache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"nictwin/rtlbridge/lockfile"
)

// uses lists the parts of the cache that this process uses, each with a file that has a shared lock until the
// process ends: a device may be launched at any time after it was found. Nothing in use is cleaned up.
var uses = struct {
	sync.Mutex
	files map[string]*os.File
}{files: map[string]*os.File{}}

// Use marks the part of the cache that a file represents as used by this process, now. It fails if the file does
// not exist, or is being removed.
func Use(path string) error {
	uses.Lock()
	defer uses.Unlock()
	now := time.Now()
	_ = os.Chtimes(path, now, now) // this fails if the file belongs to another user; cleaning checks the lock
	if f := uses.files[path]; f != nil {
		if lockfile.IsAt(f, path) {
			return nil
		}
		delete(uses.files, path)
		_ = f.Close() // f was only read: errors do not matter
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	// Any other error means that the file system has no flock: continue without a lock.
	if errors.Is(err, syscall.EWOULDBLOCK) || !lockfile.IsAt(f, path) {
		_ = f.Close() // f was only read: errors do not matter
		return fmt.Errorf("%s: %w: it is being removed", path, os.ErrNotExist)
	}
	uses.files[path] = f
	return nil
}

// UseFolder marks a folder of the cache as used by this process, and creates it if necessary.
func UseFolder(dir string) error {
	const tries, pause = 600, 50 * time.Millisecond
	file := filepath.Join(dir, UsedFile)
	var err error
	for range tries {
		if err = os.MkdirAll(dir, 0o755); err != nil {
			break
		}
		var f *os.File
		if f, err = os.OpenFile(file, os.O_CREATE|os.O_RDONLY, 0o644); err == nil {
			_ = f.Close() // nothing was written
			err = Use(file)
		}
		if !errors.Is(err, os.ErrNotExist) {
			break
		}
		time.Sleep(pause) // another process is removing the folder
	}
	if err != nil {
		return fmt.Errorf("build cache: %w", err)
	}
	return nil
}

// UsedFile has the time of the last use of a folder of shared objects, and is locked during a use.
const UsedFile = "used"
