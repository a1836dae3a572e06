package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// CheckWrite returns an error if --write would replace a file that is no baseline, or one of the runs' artifacts.
func CheckWrite(path string, dirs []string) error {
	return replaceable(path, "", dirs, "baseline", func(text []byte) bool {
		var b struct {
			Schema int               `json:"schema"`
			Runs   []json.RawMessage `json:"runs"`
		}
		return json.Unmarshal(text, &b) == nil && b.Schema > 0 && b.Runs != nil
	})
}

// CheckJUnit returns an error if --junit would replace a file that is no JUnit XML, the baseline, or one of the runs'
// artifacts.
func CheckJUnit(path, baseline string, dirs []string) error {
	return replaceable(path, baseline, dirs, "JUnit XML", func(text []byte) bool {
		return bytes.Contains(text[:min(len(text), 1<<10)], []byte("<testsuites"))
	})
}

// replaceable returns an error if the path names an existing file that must not be replaced: the baseline, an artifact
// of a run, or a file of another kind.
func replaceable(path, baseline string, dirs []string, kind string, is func(text []byte) bool) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return nil // the later write of the file fails, and says why
	case sameFile(path, baseline):
		return fmt.Errorf("%s: is the baseline: want another file", path)
	}
	for _, d := range dirs {
		if sameFile(filepath.Dir(path), d) {
			return fmt.Errorf("%s: is one of the artifacts in %s: want a file elsewhere", path, d)
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	const most = 64 << 20
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err = errors.Join(err, f.Close()); err == nil && !is(text) && len(text) > 0 {
		err = fmt.Errorf("%s: is no %s: want a new file, or one that gate wrote", path, kind)
	}
	return err
}

func sameFile(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return b != "" && errA == nil && errB == nil && os.SameFile(x, y)
}
