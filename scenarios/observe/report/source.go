package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"nictwin/scenarios/shell/files"
)

// Source is a file that is responsible for a finding, with the lines that mention the finding's field.
type Source struct {
	Path  string
	Lines []int
}

// located is a finding that knows its sources.
type located interface{ sources() []Source }

// Bounds of the search in a source file.
const (
	maxSource  = 1 << 20 // bytes
	maxLines   = 8
	shortField = 2 // longest name, in characters, that is ignored because it would match almost any line
)

var reName = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

// sources returns the finding's files, RTL first. The page names lines but quotes none: people who must not see the RTL
// may get the page.
func (f *found) sources() (list []Source) {
	for _, path := range f.Files {
		s := Source{Path: path}
		if home := f.Run.Object.Home; home != nil && filepath.IsLocal(path) {
			s.Lines = f.Run.mentions(filepath.Join(home.Dir, path), f.Field)
		}
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b Source) int {
		return cmp.Compare(strings.Index(a.Path, ".go"), strings.Index(b.Path, ".go")) // -1 where it is RTL
	})
	return list
}

// mentions returns the first lines of a file that mention a field, or the words of its name.
func (r *Run) mentions(path, field string) []int {
	if r.lines == nil {
		r.lines = map[[2]string][]int{}
	}
	key := [2]string{path, field}
	if list, known := r.lines[key]; known {
		return list
	}
	text, _ := files.Read(path, maxSource) // a file that is missing has no lines
	var list []int
	for _, name := range reName.FindAllString(field, -1) {
		if len(list) > 0 || len(name) <= shortField {
			continue
		}
		whole := regexp.MustCompile(`(?i)(^|[^a-z0-9])` + name + `($|[^a-z0-9])`)
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			code, _, _ := strings.Cut(line, "//")
			if whole.MatchString(code) && len(list) < maxLines {
				list = append(list, n)
			}
		}
	}
	r.lines[key] = list
	return list
}

// lines formats line numbers.
func lines(list []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]")
}
