package bundle

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync"
)

// Names of entries.
const (
	InfoFile    = "bundle.json"
	SummaryFile = "summary.json"
	inputsDir   = "inputs/"
	rtlDir      = "rtl/"
)

// Limits of a bundle.
const (
	MaxBytes   = 256 << 20 // maximum size of the file, and of all unpacked entries together
	MaxWave    = 32 << 20  // maximum size of a waveform
	maxEntries = 64        // maximum number of entries outside of rtl/
	maxRTL     = 2048      // maximum number of entries in rtl/
	maxName    = 500       // maximum length of an entry's name
	maxInfo    = 1 << 20   // maximum size of bundle.json
)

const wantInput = "inputs/NAME with letters, digits, _, - and . in NAME"

var (
	inputForm = lazy(`^inputs/[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$`)
	waveForm  = lazy(`^wave-[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\.fst$`)
	rtlForm   = lazy(`^rtl(/[A-Za-z0-9_][A-Za-z0-9_.+-]*)+$`)
)

// lazy returns a function that compiles a pattern when it is first called, so that it does not delay the start of
// commands that read no bundle.
func lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// checkName refuses names that no bundle has; a name that passes stays below the folder it is unpacked into.
func checkName(name string) error {
	switch {
	case len(name) > maxName:
		return fmt.Errorf("a name of %d bytes: want at most %d", len(name), maxName)
	case name == InfoFile || name == SummaryFile || inputForm().MatchString(name) || waveForm().MatchString(name) ||
		rtlForm().MatchString(name):
		return nil
	case strings.Contains(name, `\`):
		return errors.New("a backslash in its name")
	case path.IsAbs(name):
		return errors.New("an absolute path")
	case name == ".." || strings.HasPrefix(name, "../") || strings.Contains(name, "/../") ||
		strings.HasSuffix(name, "/.."):
		return errors.New("leads out of the bundle (..)")
	case strings.HasSuffix(name, "/"):
		return errors.New("is a folder: want files only")
	}
	return fmt.Errorf("no bundle has it: want %s, %s, %s, wave-NAME.fst or rtl/PATH", InfoFile, SummaryFile, wantInput)
}

// Error reports the fault of a bundle.
type Error struct {
	Path  string // path of the bundle
	Entry string // entry at fault; empty: the archive as a whole
	Err   error
}

func (e *Error) Error() string {
	if e.Entry == "" {
		return fmt.Sprintf("bundle %s: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("bundle %s: entry %q: %v", e.Path, cut(e.Entry), e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

var _ error = (*Error)(nil)
