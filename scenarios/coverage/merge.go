package coverage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nictwin/rtlbridge/build"
)

// counted is a build whose counts are in a folder.
type counted struct {
	dir, name string // folder, and name of the files without extension
	of        string // hash of the sources
}

func (c *counted) path(ext string) string { return filepath.Join(c.dir, c.name+ext) }

// device returns the name of the device, which the hash of the build follows in the file's name.
func (c *counted) device() string { return c.name[:max(0, strings.LastIndexByte(c.name, '-'))] }

// Has reports whether a folder has counts of coverage builds.
func Has(dir string) bool {
	list, err := fs.Glob(os.DirFS(dir), "*"+build.HitsExt)
	return err == nil && len(list) > 0
}

// Merge merges the counts in several folders, the maximum of each counter, and returns the files of the result by name.
// It refuses builds of different sources, by name.
func Merge(dirs ...string) (map[string][]byte, error) {
	var all []*counted
	for _, dir := range dirs {
		list, err := countedIn(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	if err := sameSources(all); err != nil {
		return nil, err
	}
	merged := map[string][]byte{}
	for _, c := range all {
		if merged[c.name+build.HitsExt] != nil {
			continue
		}
		var parts []string
		for _, x := range all {
			if x.name == c.name {
				parts = append(parts, x.path(build.HitsExt))
			}
		}
		hits, err := build.MergeHits(parts...)
		if err != nil {
			return nil, err
		}
		points, err := os.ReadFile(c.path(build.PointsExt))
		if err != nil {
			return nil, err
		}
		merged[c.name+build.HitsExt], merged[c.name+build.PointsExt] = hits, points
		merged[c.name+build.OfExt] = []byte(c.of + "\n")
	}
	return merged, nil
}

// countedIn lists the builds whose counts are in a folder, in order of their names.
func countedIn(dir string) (list []*counted, err error) {
	files, err := fs.Glob(os.DirFS(dir), "*"+build.HitsExt)
	if err != nil {
		return nil, fmt.Errorf("coverage folder %s: %w", dir, err)
	}
	slices.Sort(files)
	for _, f := range files {
		c := &counted{dir: dir, name: strings.TrimSuffix(f, build.HitsExt)}
		of, err := os.ReadFile(c.path(build.OfExt))
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s: no %s beside it, which names its sources: want counts of this version's "+
				"--rtl-coverage", c.path(build.HitsExt), c.name+build.OfExt)
		}
		if err != nil {
			return nil, err
		}
		c.of = strings.TrimSpace(string(of))
		list = append(list, c)
	}
	return list, nil
}

// sameSources refuses two builds of one device with different sources: their lines differ.
func sameSources(all []*counted) error {
	first := map[string]*counted{}
	for _, c := range all {
		x := first[c.device()]
		if x == nil {
			first[c.device()] = c
		} else if x.of != c.of {
			return fmt.Errorf("%s and %s are builds of %s with different sources: want counts of one version of it",
				x.path(build.HitsExt), c.path(build.HitsExt), c.device())
		}
	}
	return nil
}
