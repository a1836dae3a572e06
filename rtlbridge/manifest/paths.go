package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// pathMarks are the characters, besides letters and digits, of a path that tools may get. Blanks and quotes
// break the lists that Verilator writes; others have a meaning for a shell.
const pathMarks = "/_-.+=,@%:~#^!()[]{}"

// BadInPath returns the first character of a path that tools cannot be given, "" if there is none.
func BadInPath(path string) string {
	for _, r := range path {
		if !unicode.In(r, unicode.L, unicode.M, unicode.Nd) && !strings.ContainsRune(pathMarks, r) ||
			r == unicode.ReplacementChar {
			return string(r)
		}
	}
	return ""
}

// CheckHit refuses a file or folder that was found but whose name, relative to the manifest, tools cannot be
// given.
func CheckHit(rel string) error {
	if bad := BadInPath(rel); bad != "" {
		return fmt.Errorf("%q: a name with %q cannot be given to the tools; rename the file or its folder", rel, bad)
	}
	return nil
}

// patternMarks are the characters that patterns and variables in paths of a manifest have in addition to pathMarks.
const patternMarks = "*?$"

// CheckPath refuses entries of a manifest that cannot be a file or a folder.
func CheckPath(p string) error {
	plain := strings.Map(func(r rune) rune {
		if strings.ContainsRune(patternMarks, r) {
			return '_'
		}
		return r
	}, p)
	switch {
	case p == "":
		return fmt.Errorf("%q: needs a path", p)
	case p[0] == '-' || p[0] == '+':
		return fmt.Errorf("%q is an option and not a path; a file of that name is given as ./%s", p, p)
	case strings.Contains(p, "$("):
		return fmt.Errorf("%q: no commands run in a manifest; a path has letters, digits, patterns, variables "+
			"($NAME, ${NAME}) and %s", p, pathMarks)
	case BadInPath(plain) != "":
		return fmt.Errorf("%q cannot be a path here: it has %q; allowed are letters, digits, patterns, variables "+
			"($NAME, ${NAME}) and %s",
			p, BadInPath(plain), pathMarks)
	}
	return nil
}

// notVerilog are the extensions that Verilator takes for C++ or objects.
var notVerilog = []string{".c", ".cc", ".cpp", ".cxx", ".sp", ".o", ".a", ".so"}

// CheckSource refuses a source that Verilator would not read as part of the design.
func CheckSource(p string) error {
	for _, ext := range notVerilog {
		if strings.EqualFold(filepath.Ext(p), ext) {
			return fmt.Errorf("%q is C++ or an object: a device is made of SystemVerilog alone", p)
		}
	}
	return nil
}

// checkPaths checks the names of files and folders, before any is looked up.
func (m *Manifest) checkPaths(add func(string, string, ...any)) {
	for i, p := range m.Sources {
		err := CheckPath(p)
		if err == nil {
			err = CheckSource(p)
		}
		if err != nil {
			add(fmt.Sprintf("sources[%d]", i), "sources: %v", err)
		}
	}
	for i, p := range m.IncludeDirs {
		if err := CheckPath(p); err != nil {
			add(fmt.Sprintf("include_dirs[%d]", i), "include_dirs: %v", err)
		}
	}
}

// Rel returns a path relative to the manifest, so that a hash does not depend on where the tree is.
func (m *Manifest) Rel(path string) string {
	base, err := filepath.Abs(m.Dir())
	if err != nil {
		return path
	}
	if r, err := filepath.Rel(base, path); err == nil {
		return r
	}
	return path
}

func (m *Manifest) Abs(p string) string {
	p = os.ExpandEnv(p)
	if !filepath.IsAbs(p) {
		p = filepath.Join(m.Dir(), p)
	}
	if a, err := filepath.Abs(p); err == nil {
		return a
	}
	return p
}
