package coverage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"nictwin/rtlbridge/build"
)

// Site is a point that a run can exercise: a bit or a line point of a module.
type Site struct {
	Module string // name of its file, without extension
	Line   int
	Toggle bool   // true: a bit; false: a line point
	What   string // the bit, or the part of the line: block, if, else, case
	Hit    bool
	Why    string // reason for exclusion; empty: not excluded
}

// bothWays is the number of changes from which on a bit has both risen and fallen.
const bothWays = 2

type siteKey struct {
	module string
	line   int
	toggle bool
	what   string
}

// Load merges the coverage in the folders.
func Load(dirs ...string) ([]*Site, error) {
	all := map[siteKey]*Site{}
	builds := 0
	for _, dir := range dirs {
		files, err := fs.Glob(os.DirFS(dir), "*"+build.HitsExt) // not filepath.Glob: dir may contain brackets
		if err != nil {
			return nil, fmt.Errorf("coverage folder %s: %w", dir, err)
		}
		builds += len(files)
		for _, f := range files {
			if err := merge(all, filepath.Join(dir, f)); err != nil {
				return nil, err
			}
		}
	}
	if builds == 0 {
		return nil, fmt.Errorf("no coverage in %s: want files *%s, left by runs with --rtl-coverage",
			strings.Join(dirs, ", "), build.HitsExt)
	}
	return ordered(all), nil
}

func merge(all map[siteKey]*Site, file string) error {
	hits, err := build.ReadHits(file)
	if err != nil {
		return err
	}
	base := strings.TrimSuffix(file, build.HitsExt)
	points, err := build.ReadCoverPoints(base + build.PointsExt)
	if err != nil {
		return err
	}
	for i := range points {
		p := &points[i]
		if p.Counter+p.Bits() > len(hits.SinceReset) {
			return fmt.Errorf("%s: point %d has counter %d of %d", base, i+1, p.Counter+p.Bits()-1,
				len(hits.SinceReset))
		}
		addPoint(all, p, hits)
	}
	return nil
}

// addPoint adds the counts of a point: a line point is one site, a signal one site per bit.
func addPoint(all map[siteKey]*Site, p *build.CoverPoint, hits *build.Hits) {
	k := siteKey{strings.TrimSuffix(filepath.Base(p.File), filepath.Ext(p.File)), p.Line, p.Kind == "toggle", p.What}
	name := lanes(p.What)
	for i := range p.Bits() {
		if k.toggle {
			k.what = name
			if bit := p.Bit(i); bit >= 0 {
				k.what = fmt.Sprintf("%s[%d]", name, bit)
			}
		}
		s := all[k]
		if s == nil {
			s = &Site{Module: k.module, Line: k.line, Toggle: k.toggle, What: k.what}
			all[k] = s
		}
		s.Hit = s.Hit || s.Toggle && hits.SinceReset[p.Counter+i] >= bothWays || !s.Toggle &&
			hits.FromPowerUp[p.Counter+i] > 0
	}
}

var index = regexp.MustCompile(`\[\d+\]`)

// lanes removes the numbers of lanes and entries from a signal's name.
func lanes(name string) string { return index.ReplaceAllString(name, "[]") }

func ordered(all map[siteKey]*Site) []*Site {
	list := make([]*Site, 0, len(all))
	for _, s := range all {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *Site) int {
		return cmpAll(strings.Compare(a.Module, b.Module), a.Line-b.Line, b2i(a.Toggle)-b2i(b.Toggle),
			natural(a.What, b.What))
	})
	return list
}

func cmpAll(by ...int) int {
	for _, c := range by {
		if c != 0 {
			return c
		}
	}
	return 0
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// natural compares names so that bit 9 comes before bit 10.
func natural(a, b string) int {
	i, j := strings.LastIndexByte(a, '['), strings.LastIndexByte(b, '[')
	if i > 0 && j > 0 && a[:i] == b[:j] {
		return cmpAll(len(a)-len(b), strings.Compare(a, b))
	}
	return strings.Compare(a, b)
}

var errNothing = errors.New("matches nothing")
