package own

import (
	"fmt"
	"strings"
)

// FolderError reports a folder that cannot be used as a reference: it is missing, or does not compile.
type FolderError struct {
	Dir  string
	What string
}

func (e *FolderError) Error() string { return fmt.Sprintf("--ref %s: %s", e.Dir, e.What) }

// RefError reports a mistake of the user's reference.
type RefError struct {
	File string // file of the reference; empty: unknown
	Line int
	What string
}

func (e *RefError) Error() string {
	what := e.What
	if !strings.HasPrefix(what, "the reference ") {
		what = "reference: " + what
	}
	if e.File == "" {
		return what
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, what)
}

// LostError reports that a reference's process ended for an unknown reason.
type LostError struct {
	Dir   string
	What  string
	Words string // last lines on stderr; may be empty
}

func (e *LostError) Error() string {
	s := fmt.Sprintf("reference %s: %s", e.Dir, e.What)
	if e.Words != "" {
		s += "; its last words:\n  " + strings.ReplaceAll(e.Words, "\n", "\n  ")
	}
	return s
}

var _, _, _ error = (*FolderError)(nil), (*RefError)(nil), (*LostError)(nil)
