package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"nictwin/scenarios/files"
	"nictwin/scenarios/replay"
)

// Summary is the file in a folder of artifacts that holds the Object.
const Summary = "summary.json"

// folder is a folder of artifacts in use by one run. The zero value is none.
type folder struct {
	dir  string
	made []string // folders that did not exist before, innermost first
	lock *os.File
}

// openFolder makes the folder, or takes the one that is there for this run. A verdict of an earlier run is removed;
// other files stay, to be overwritten one by one or not at all.
func openFolder(dir string) (*folder, error) {
	f := &folder{dir: dir}
	if dir == "" {
		return f, nil
	}
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, os.ErrNotExist) {
			break
		}
		f.made = append(f.made, d)
	}
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		f.lock, err = os.Open(dir)
	}
	if err != nil {
		return nil, Usagef("--out: %w", err)
	}
	if err := f.take(); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *folder) take() error {
	if err := syscall.Flock(int(f.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return Usagef("--out %s: another run writes there (%w)", f.dir, err)
	}
	if err := f.writable(); err != nil {
		return Usagef("--out %s: %w; choose another folder", f.dir, err)
	}
	path := filepath.Join(f.dir, Summary)
	old, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = isSummary(old)
	}
	if err != nil {
		return Usagef("--out %s: %s %w; choose another folder", f.dir, Summary, err)
	}
	if err := os.Remove(path); err != nil {
		return Usagef("--out: %w", err)
	}
	return nil
}

// writable tells early that artifacts could not be written.
func (f *folder) writable() error {
	for _, name := range []string{Summary, summaryNew, CoverageFile, replay.EventsFile, replay.PcapngFile} {
		info, err := os.Stat(filepath.Join(f.dir, name))
		if err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("%s is there, and is no file", name)
		}
	}
	path := filepath.Join(f.dir, summaryNew)
	probe, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(path))
}

// summaryNew is what Summary is called until it is whole.
const summaryNew = Summary + files.Unfinished

// write leaves the verdict, whole or not at all.
func (f *folder) write(o *Object) error {
	if f.dir == "" {
		return nil
	}
	text, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return fmt.Errorf("artifacts: %w", err)
	}
	if err := files.Write(filepath.Join(f.dir, Summary), append(text, '\n')); err != nil {
		return fmt.Errorf("artifacts: %w", err)
	}
	return nil
}

// drop undoes openFolder for a run that did not take place.
func (f *folder) drop() {
	f.close()
	for _, d := range f.made {
		if os.Remove(d) != nil { // it is not empty
			return
		}
	}
}

func (f *folder) close() {
	if f.lock != nil {
		_ = f.lock.Close() // it was only read; the lock goes with it
		f.lock = nil
	}
}
