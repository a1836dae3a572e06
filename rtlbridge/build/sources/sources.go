package sources

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nictwin/rtlbridge/manifest"
)

// Set is the result of expanding a manifest's globs and file lists.
type Set struct {
	Files    []string // in the order of the manifest, each once
	IncDirs  []string
	Defines  []string // NAME or NAME=VALUE, from file lists
	listsUse []string // the file lists themselves: part of the build's hash

	field  string            // current field of the manifest
	fields map[string]string // by file or folder: the field that named it first
}

// Lists returns the file lists that were read.
func (s *Set) Lists() []string { return s.listsUse }

// Limits of file lists: nesting depth, number of lists, and length of one.
const (
	maxListDepth = 16
	maxLists     = 1000
	maxListBytes = 1 << 20
)

// Expand resolves globs and nested file lists; all faults are reported at once.
func Expand(m *manifest.Manifest) (*Set, error) {
	s := &Set{fields: map[string]string{}}
	var errs []error
	for i, pat := range m.Sources {
		s.field = fmt.Sprintf("sources[%d]", i)
		if strings.HasSuffix(pat, ".f") {
			for _, e := range s.readList(m, m.Abs(pat), nil) {
				errs = append(errs, m.Errorf(s.field, "%v", e))
			}
			continue
		}
		hits, err := globFiles(m.Abs("."), m.Abs(pat))
		if err != nil {
			errs = append(errs, m.Errorf(s.field, "sources: %v", err))
		}
		if err := checkHits(m, hits); err != nil {
			errs = append(errs, m.Errorf(s.field, "sources: %v", err))
		}
		s.addFiles(hits)
	}
	for i, d := range m.IncludeDirs {
		s.field = fmt.Sprintf("include_dirs[%d]", i)
		abs := m.Abs(d)
		if err := checkFolder(m, abs); err != nil {
			errs = append(errs, m.Errorf(s.field, "include_dirs: %v", err))
		}
		s.addFolder(abs)
	}
	return s, errors.Join(errs...)
}

// checkFolder refuses paths that are not include folders.
func checkFolder(m *manifest.Manifest, path string) error {
	if st, err := os.Stat(path); err != nil || !st.IsDir() {
		return fmt.Errorf("%s is not a folder", path)
	}
	if err := checkKernel(path); err != nil {
		return err
	}
	return manifest.CheckHit(m.Rel(path))
}

// checkHits refuses files whose names the tools cannot be given.
func checkHits(m *manifest.Manifest, files []string) error {
	for _, f := range files {
		if err := errors.Join(manifest.CheckHit(m.Rel(f)), manifest.CheckSource(f)); err != nil {
			return err
		}
	}
	return nil
}

// literal escapes the characters of a path that have a meaning in patterns.
var literal = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// globFiles finds the files of a pattern. Characters of base, the folder that it begins with, are not a pattern.
func globFiles(base, pat string) ([]string, error) {
	full := pat
	if in, ok := strings.CutPrefix(pat, base+string(filepath.Separator)); ok {
		full = filepath.Join(literal.Replace(base), in)
	}
	hits, err := filepath.Glob(full)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pat, err)
	}
	if len(hits) == 0 {
		return nil, fmt.Errorf("no file matches %s", pat)
	}
	for _, h := range hits {
		// Sources are hashed completely, and a pipe or a device may never end.
		if st, err := os.Stat(h); err != nil {
			return nil, err
		} else if !st.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is no regular file", h)
		} else if st.Size() > MaxSourceBytes {
			return nil, TooLarge(h)
		}
		if err := checkKernel(h); err != nil {
			return nil, err
		}
	}
	slices.Sort(hits)
	return hits, nil
}

// checkKernel refuses files and folders of the kernel: their content depends on who reads them, and when.
func checkKernel(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	for _, dir := range []string{"/proc/", "/sys/"} {
		if strings.HasPrefix(real+"/", dir) {
			return fmt.Errorf("%s is no regular file or folder: the kernel makes what is in %s", path, dir)
		}
	}
	return nil
}

func (s *Set) addFiles(files []string) {
	for _, f := range files {
		if s.claim(f) {
			s.Files = append(s.Files, f)
		}
	}
}

func (s *Set) addFolder(dir string) {
	s.claim(dir)
	s.IncDirs = append(s.IncDirs, dir)
}

// claim records the field that named a path, and reports whether it is the first.
func (s *Set) claim(path string) bool {
	_, known := s.fields[path]
	if !known {
		s.fields[path] = s.field
	}
	return !known
}

// Fault returns a fault of a file or folder, at the field that named it.
func (s *Set) Fault(m *manifest.Manifest, path string, err error) error {
	return m.Errorf(s.fields[path], "%s: %v", manifest.TopField(s.fields[path]), err)
}

// readList reads a file list. Each line is a path or glob relative to the list's folder, "-f LIST" or "-F LIST",
// "+incdir+DIR", "+define+NAME[=VALUE]" or a comment (// or #).
// `open` is the chain of lists being read, each named by the one before; the last names this list.
func (s *Set) readList(m *manifest.Manifest, path string, open []string) []error {
	if slices.Contains(open, path) || len(open) > maxListDepth {
		return []error{fmt.Errorf("%s: file lists nested deeper than %d: does it include itself?", path, maxListDepth)}
	}
	if len(s.listsUse) == maxLists {
		return []error{fmt.Errorf("%s: more than %d file lists: does one name another many times?", path, maxLists)}
	}
	// Opening a pipe may block for ever.
	if st, err := os.Stat(path); err != nil {
		return []error{fmt.Errorf("file list: %w", err)}
	} else if !st.Mode().IsRegular() || st.Size() > maxListBytes {
		return []error{fmt.Errorf("file list: %s is no regular file of at most %d bytes", path, maxListBytes)}
	}
	f, err := os.Open(path)
	if err != nil {
		return []error{fmt.Errorf("file list: %w", err)}
	}
	defer f.Close()
	s.listsUse = append(s.listsUse, path)
	var errs []error
	sc := bufio.NewScanner(f)
	for n := 1; sc.Scan() && len(errs) < maxListErrors; n++ {
		text, _, _ := strings.Cut(sc.Text(), "//")
		text, _, _ = strings.Cut(text, "#")
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		for _, e := range s.listLine(m, filepath.Dir(path), text, append(open[:len(open):len(open)], path)) {
			errs = append(errs, fmt.Errorf("%s:%d: %w", path, n, e))
		}
	}
	if err := sc.Err(); err != nil {
		errs = append(errs, fmt.Errorf("%s: %w", path, err))
	}
	return errs
}

// maxListErrors is the number of faults that are reported of a file list.
const maxListErrors = 20

// listLine evaluates a line of a file list in dir.
func (s *Set) listLine(m *manifest.Manifest, dir, text string, open []string) []error {
	list, isList := strings.CutPrefix(text, "-f ")
	if !isList {
		list, isList = strings.CutPrefix(text, "-F ")
	}
	dirs, isDirs := strings.CutPrefix(text, "+incdir+")
	defs, isDefs := strings.CutPrefix(text, "+define+")
	switch {
	case isList:
		path, err := listPath(dir, strings.TrimSpace(list))
		if err != nil {
			return []error{err}
		}
		return s.readList(m, path, open)
	case isDirs:
		return s.listDirs(m, dir, dirs)
	case isDefs:
		return s.listDefines(defs)
	case text[0] == '-' || text[0] == '+':
		return []error{fmt.Errorf("option %q is not supported in a file list; use verilator_flags in the manifest",
			text)}
	}
	path, err := listPath(dir, text)
	var hits []string
	if err == nil {
		hits, err = globFiles(dir, path)
	}
	if err == nil {
		err = checkHits(m, hits)
	}
	if err != nil {
		return []error{err}
	}
	s.addFiles(hits)
	return nil
}

// listDirs adds the folders of +incdir+ in a list in dir.
func (s *Set) listDirs(m *manifest.Manifest, dir, dirs string) (errs []error) {
	for _, d := range strings.Split(dirs, "+") {
		path, err := listPath(dir, d)
		if err == nil {
			err = checkFolder(m, path)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		s.addFolder(path)
	}
	return errs
}

// listDefines adds the macros of +define+.
func (s *Set) listDefines(defs string) (errs []error) {
	for _, d := range strings.Split(os.ExpandEnv(defs), "+") {
		if err := manifest.CheckMacroDef(d); err != nil {
			errs = append(errs, err)
			continue
		}
		s.Defines = append(s.Defines, d)
	}
	return errs
}

// listPath returns the path that p, an entry of a file list, stands for; dir is the list's folder.
func listPath(dir, p string) (string, error) {
	if err := manifest.CheckPath(p); err != nil {
		return "", err
	}
	p = os.ExpandEnv(p)
	if !filepath.IsAbs(p) {
		p = filepath.Join(dir, p)
	}
	return p, nil
}

// Limits on the files that are read to compute a design's hash.
const (
	MaxSourceBytes  = 256 << 20
	MaxSourcesBytes = 1 << 30
	MaxIncludeTree  = 20_000  // files under one include folder
	MaxIncludeWalk  = 200_000 // files and folders of any kind under one include folder
)

func TooLarge(path string) error {
	return fmt.Errorf("%s has more than %d MB, the limit of a source", path, MaxSourceBytes>>20)
}
