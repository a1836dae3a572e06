package annotate

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"nictwin/scenarios/observe/result"
)

// place is a line of a source file.
type place struct {
	file string // relative to the repository
	line int    // line number, from 1
}

// Tree says where sources are.
type Tree struct {
	Root string // folder in which source files named by findings are looked for first; then in Here
	Here string // working folder; empty: none
	Repo string // root of the repository, to which places are relative
}

// placeOf returns where a finding is shown: in the RTL file responsible for it, else in the Go file; no place if it
// names none in the repository.
func (t Tree) placeOf(f *result.Finding) (p place, ok bool) {
	files := slices.Clone(f.Files)
	slices.SortStableFunc(files, func(a, b string) int { return rank(a) - rank(b) })
	for _, name := range files {
		if !filepath.IsLocal(name) {
			continue
		}
		for _, root := range []string{t.Root, t.Here} {
			path := filepath.Join(root, name)
			shown, err := filepath.Rel(t.Repo, path)
			if root == "" || err != nil || !filepath.IsLocal(shown) {
				continue
			}
			if line := find(path, f); line > 0 {
				return place{filepath.ToSlash(shown), line}, true
			}
		}
	}
	return place{}, false
}

// rank orders RTL before anything else.
func rank(name string) int {
	switch filepath.Ext(name) {
	case ".sv", ".v", ".svh", ".vh":
		return 0
	}
	return 1
}

var reModule = regexp.MustCompile(`^\s*(module|package)\s+\w`)

// find returns the line of the finding's stream, else of the first module or package, else 1; 0 if there is no such
// file.
func find(path string, f *result.Finding) int {
	file, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer file.Close() // the file is only read: errors on closing do not matter
	var port *regexp.Regexp
	if f.Stream != "" {
		port = regexp.MustCompile(`\b(input|output)\b.*\b` + regexp.QuoteMeta(f.Stream) + `(_?` +
			regexp.QuoteMeta(strings.ToLower(f.Field)) + `)?`)
	}
	module := 0
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		switch text := lines.Text(); {
		case port != nil && port.MatchString(text):
			return n
		case module == 0 && reModule.MatchString(text):
			module = n
		}
	}
	return max(module, 1)
}
