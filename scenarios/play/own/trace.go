package own

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nictwin/models/ref/remote"
)

// traced holds what a trace of Go's runtime says.
type traced struct {
	what string // the trace's line that names the cause
	file string // file and line in the reference's innermost function; empty: no stack frame is in the reference
	line int
}

// frameAt matches the file and the line of a stack frame.
var frameAt = regexp.MustCompile(`^\t(.+):([0-9]+)(?: .*)?$`)

// readTrace parses a trace. It takes the position from the goroutine whose heading begins with the given text, such as
// "goroutine 1 ", if that goroutine runs a function of the reference, else from the first goroutine that does, else
// from the first one that the reference started.
func readTrace(text, goroutine string) traced {
	lines := strings.Split(text, "\n")
	t := traced{what: summary(lines)}
	var first, started *traced
	for i, section := 0, ""; i+1 < len(lines); i++ {
		l := lines[i]
		if strings.HasPrefix(l, "goroutine ") || strings.HasPrefix(l, "runtime stack:") {
			section = l
			continue
		}
		creator, isCreator := strings.CutPrefix(l, "created by ")
		m := frameAt.FindStringSubmatch(lines[i+1])
		if !strings.HasPrefix(creator, remote.Prefix) || m == nil {
			continue
		}
		n, _ := strconv.Atoi(m[2])
		here := &traced{t.what, m[1], n}
		switch {
		case isCreator:
			if started == nil {
				started = here
			}
		case goroutine != "" && strings.HasPrefix(section, goroutine):
			return *here
		case first == nil:
			first = here
		}
	}
	for _, x := range []*traced{first, started} {
		if x != nil {
			return *x
		}
	}
	return t
}

// summary returns the line of a trace that names its cause, or the first line.
func summary(lines []string) string {
	for _, l := range lines {
		if strings.HasPrefix(l, "panic: ") || strings.HasPrefix(l, "fatal error: ") || strings.HasPrefix(l, "SIG") {
			return l
		}
	}
	return lines[0]
}

// outOfMemory reports whether the process was refused memory.
func (t *traced) outOfMemory() bool {
	return slices.ContainsFunc([]string{"out of memory", "cannot allocate memory", "cannot map pages"},
		func(text string) bool {
			return strings.Contains(t.what, text)
		})
}

// userFile names a file of the reference by its path in the user's folder.
func (p *Program) userFile(file string) string {
	if base, ok := strings.CutPrefix(file, remote.Package+"/"); ok {
		return filepath.Join(p.Dir, base)
	}
	return file
}
