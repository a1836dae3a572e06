package sources

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"nictwin/rtlbridge/manifest"
)

// Verilator reads every included file to its end. Files that are included by a plain name are checked
// beforehand, since a pipe or a device has no end. Names hidden in macros are left to the limits of Verilator's
// runs.

var (
	includeMark = []byte("`include")
	includeName = regexp.MustCompile(`^\s*"([^"\n]+)"`)
)

// includeCheck follows the files that a design includes.
type includeCheck struct {
	ctx     context.Context // cancels the check
	m       *manifest.Manifest
	folders []string
	seen    map[string]bool
	room    int64 // bytes that may still be read
}

// CheckIncludes refuses included files that are pipes or devices, or too large.
func CheckIncludes(ctx context.Context, m *manifest.Manifest, src *Set) error {
	c := includeCheck{ctx, m, append([]string{m.Abs(".")}, src.IncDirs...), map[string]bool{}, MaxSourcesBytes}
	var errs []error
	_, _ = manifest.TakeFlags(m.VerilatorFlags, func(p string) (string, error) { // faults are reported later
		if p = m.Abs(p); isFolder(p) {
			c.folders = append(c.folders, p)
		} else if err := c.follow(p); err != nil {
			errs = append(errs, m.Errorf("verilator_flags", "verilator_flags: %v", err))
		}
		return p, nil
	})
	for _, f := range src.Files {
		if err := c.follow(f); err != nil {
			errs = append(errs, src.Fault(m, f, err))
		}
	}
	if ctx.Err() != nil {
		return fmt.Errorf("reading the sources of %s: %w", m.Name, context.Cause(ctx))
	}
	return errors.Join(errs...)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// follow checks a file and its includes. Missing files are left for Verilator to report.
func (c *includeCheck) follow(path string) error {
	info, err := os.Stat(path)
	if c.seen[path] || err != nil || info.IsDir() {
		return nil
	}
	c.seen[path] = true
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is a pipe or a device, which may never end: only files can be read", path)
	case info.Size() > MaxSourceBytes:
		return TooLarge(path)
	case info.Size() > c.room:
		return fmt.Errorf("%s: what is included has more than %d MB in all, the limit", path, MaxSourcesBytes>>20)
	}
	if err := checkKernel(path); err != nil {
		return err
	}
	c.room -= info.Size()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return c.within(path, text)
}

// within follows the includes in the text of a file.
func (c *includeCheck) within(path string, text []byte) error {
	for at := 0; c.ctx.Err() == nil; {
		next := bytes.Index(text[at:], includeMark)
		if next < 0 {
			break
		}
		begin := at + next
		at = begin + len(includeMark)
		line := text[bytes.LastIndexByte(text[:begin], '\n')+1 : begin]
		name := includeName.FindSubmatch(text[at:min(len(text), at+maxIncludeName)])
		if name == nil || bytes.Contains(line, []byte("//")) {
			continue
		}
		for _, found := range c.places(path, string(name[1])) {
			if err := c.follow(found); err != nil {
				return fmt.Errorf("%s:%d: `include %q: %w", c.m.Rel(path), 1+bytes.Count(text[:begin], []byte("\n")),
					name[1], err)
			}
		}
	}
	return nil
}

// maxIncludeName is the maximum length of the text after `include.
const maxIncludeName = 4200

// places returns the paths where Verilator may look for a file included at path.
func (c *includeCheck) places(path, name string) []string {
	if strings.HasPrefix(name, "/") {
		return []string{name}
	}
	found := []string{filepath.Join(filepath.Dir(path), name)}
	for _, dir := range c.folders {
		found = append(found, filepath.Join(dir, name))
	}
	return found
}
