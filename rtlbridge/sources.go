package rtlbridge

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sourceSet is what a manifest's sources come to once globs and file lists are expanded.
type sourceSet struct {
	files    []string // in order, each once
	incDirs  []string
	defines  []string // NAME or NAME=VALUE, from file lists
	listsUse []string // the file lists themselves: part of the build's hash
}

const maxListDepth = 16

// expandSources resolves globs and nested file lists; all faults are reported at once.
func (m *Manifest) expandSources() (*sourceSet, error) {
	s := &sourceSet{}
	var errs []error
	for i, pat := range m.Sources {
		path := fmt.Sprintf("sources[%d]", i)
		if strings.HasSuffix(pat, ".f") {
			for _, e := range s.readList(m.abs(pat), 0) {
				errs = append(errs, m.errorf(path, "%v", e))
			}
			continue
		}
		hits, err := globFiles(m.abs(pat))
		if err != nil {
			errs = append(errs, m.errorf(path, "sources: %v", err))
		}
		s.addFiles(hits)
	}
	for i, d := range m.IncludeDirs {
		abs := m.abs(d)
		if st, err := os.Stat(abs); err != nil || !st.IsDir() {
			errs = append(errs, m.errorf(fmt.Sprintf("include_dirs[%d]", i), "include_dirs: %s is not a folder", abs))
		}
		s.incDirs = append(s.incDirs, abs)
	}
	return s, errors.Join(errs...)
}

func (m *Manifest) abs(p string) string {
	p = os.ExpandEnv(p)
	if !filepath.IsAbs(p) {
		p = filepath.Join(m.Dir(), p)
	}
	if a, err := filepath.Abs(p); err == nil {
		return a
	}
	return p
}

func globFiles(pat string) ([]string, error) {
	hits, err := filepath.Glob(pat)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pat, err)
	}
	if len(hits) == 0 {
		return nil, fmt.Errorf("no file matches %s", pat)
	}
	for _, h := range hits {
		// Sources are hashed whole, and a pipe or a device may never end.
		if st, err := os.Stat(h); err != nil {
			return nil, err
		} else if !st.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is no regular file", h)
		}
	}
	slices.Sort(hits)
	return hits, nil
}

func (s *sourceSet) addFiles(files []string) {
	for _, f := range files {
		if !slices.Contains(s.files, f) {
			s.files = append(s.files, f)
		}
	}
}

// readList reads a file list. Each line is a path or glob relative to the list's folder, "-f LIST" or "-F LIST",
// "+incdir+DIR", "+define+NAME[=VALUE]" or a comment (// or #).
func (s *sourceSet) readList(path string, depth int) []error {
	if depth > maxListDepth {
		return []error{fmt.Errorf("%s: file lists nested deeper than %d: does it include itself?", path, maxListDepth)}
	}
	f, err := os.Open(path)
	if err != nil {
		return []error{fmt.Errorf("file list: %w", err)}
	}
	defer f.Close()
	s.listsUse = append(s.listsUse, path)
	var errs []error
	sc := bufio.NewScanner(f)
	for n := 1; sc.Scan(); n++ {
		text, _, _ := strings.Cut(sc.Text(), "//")
		text, _, _ = strings.Cut(text, "#")
		text = strings.TrimSpace(os.ExpandEnv(text))
		if text == "" {
			continue
		}
		for _, e := range s.listLine(filepath.Dir(path), text, depth) {
			errs = append(errs, fmt.Errorf("%s:%d: %w", path, n, e))
		}
	}
	if err := sc.Err(); err != nil {
		errs = append(errs, fmt.Errorf("%s: %w", path, err))
	}
	return errs
}

func (s *sourceSet) listLine(dir, text string, depth int) []error {
	rel := func(p string) string {
		if filepath.IsAbs(p) {
			return p
		}
		return filepath.Join(dir, p)
	}
	switch {
	case strings.HasPrefix(text, "-f ") || strings.HasPrefix(text, "-F "):
		return s.readList(rel(strings.TrimSpace(text[3:])), depth+1)
	case strings.HasPrefix(text, "+incdir+"):
		for _, d := range strings.Split(text[len("+incdir+"):], "+") {
			s.incDirs = append(s.incDirs, rel(d))
		}
	case strings.HasPrefix(text, "+define+"):
		s.defines = append(s.defines, strings.Split(text[len("+define+"):], "+")...)
	case text[0] == '-' || text[0] == '+':
		return []error{fmt.Errorf("option %q is not supported in a file list; use verilator_flags in the manifest", text)}
	default:
		hits, err := globFiles(rel(text))
		if err != nil {
			return []error{err}
		}
		s.addFiles(hits)
	}
	return nil
}
