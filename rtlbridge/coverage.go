package rtlbridge

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Coverage of the RTL. Verilator's own way has each process tell it of every point by name when it starts, and write all of
// them as text when it ends: seconds a process for a large design. A coverage build keeps only the counters in the program;
// what they count stands in a file beside it, and the program adds its counters to a file of one byte a point.

// CoverPoint is a point of a design that a coverage build counts.
type CoverPoint struct {
	Counter int    // its index; points of signals that are one share it
	File    string // source, relative to the manifest
	Line    int
	Kind    string // "line", "branch", "toggle" or "user"
	Module  string // as Verilator names it, with parameters
	What    string // toggle: the bit; branch: if or else; line: block, case, ...
}

const pointsFile = "points.tsv"

var (
	insertMark  = []byte("__vlCoverInsert(&(")
	insertCall  = regexp.MustCompile(`__Vcoverage\[(\d+)\]\), first, "([^"]*)", (\d+), \d+, "[^"]*", "v_(\w+)/([^"]*)", "([^"]*)",`)
	lockedCount = []byte(".fetch_add(1, std::memory_order_relaxed);")
	plainCount  = []byte(".store(1 + %s.load(std::memory_order_relaxed), std::memory_order_relaxed);")
)

// takePoints moves the names of the points out of the verilated sources and returns the number of counters.
func (b *builder) takePoints() (int, error) {
	files, err := filepath.Glob(filepath.Join(b.objDir(), "*.cpp"))
	if err != nil {
		return 0, fmt.Errorf("verilated sources: %w", err)
	}
	out, err := os.Create(filepath.Join(b.work, pointsFile))
	if err != nil {
		return 0, fmt.Errorf("coverage points: %w", err)
	}
	t := pointTaker{w: bufio.NewWriterSize(out, 1<<20), seen: map[string]bool{}}
	for _, f := range files {
		if err == nil {
			err = t.file(f)
		}
	}
	return t.counters, errors.Join(err, t.w.Flush(), out.Close())
}

type pointTaker struct {
	w        *bufio.Writer
	seen     map[string]bool
	counters int
}

// file takes the points out of one source.
func (t *pointTaker) file(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("verilated source: %w", err)
	}
	var kept bytes.Buffer
	changed := false
	for line := range bytes.Lines(text) {
		switch {
		case bytes.Contains(line, insertMark):
			if err := t.point(line); err != nil {
				return fmt.Errorf("%s: %w", filepath.Base(path), err)
			}
			changed = true
		case bytes.Contains(line, lockedCount): // one thread counts
			name := bytes.TrimSpace(line[:bytes.Index(line, lockedCount)])
			kept.Write(bytes.Replace(line, lockedCount, bytes.Replace(plainCount, []byte("%s"), name, 1), 1))
			changed = true
		default:
			kept.Write(line)
		}
	}
	if !changed {
		return nil
	}
	return os.WriteFile(path, kept.Bytes(), 0o644)
}

// point notes the point of a line, once for all instances that share its counter.
func (t *pointTaker) point(line []byte) error {
	m := insertCall.FindSubmatch(line)
	if m == nil {
		return fmt.Errorf("a coverage point in a form that is not known: %s", bytes.TrimSpace(line))
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil {
		return fmt.Errorf("a coverage point's number: %w", err)
	}
	t.counters = max(t.counters, n+1)
	text := strings.Join([]string{string(m[1]), string(m[2]), string(m[3]), string(m[4]), string(m[5]), string(m[6])}, "\t") + "\n"
	if t.seen[text] {
		return nil
	}
	t.seen[text] = true
	_, err = t.w.WriteString(text)
	return err
}

// ReadCoverPoints reads the points of a coverage build.
func ReadCoverPoints(path string) ([]CoverPoint, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("coverage points: %w", err)
	}
	defer f.Close()
	var all []CoverPoint
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		w := strings.Split(sc.Text(), "\t")
		if len(w) != 6 {
			return nil, fmt.Errorf("%s:%d: %d words: want 6", path, len(all)+1, len(w))
		}
		p := CoverPoint{File: w[1], Kind: w[3], Module: w[4], What: w[5]}
		var errs [2]error
		p.Counter, errs[0] = strconv.Atoi(w[0])
		p.Line, errs[1] = strconv.Atoi(w[2])
		if err := errors.Join(errs[:]...); err != nil || p.Counter < 0 {
			return nil, fmt.Errorf("%s:%d: counter %q, line %q: want numbers", path, len(all)+1, w[0], w[2])
		}
		all = append(all, p)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return all, nil
}

// Extensions of the files of a build in a folder of coverage.
const (
	PointsExt = ".points"
	HitsExt   = ".hits"
)

// CoverageFile makes a folder ready for the coverage of this build and returns the file for LaunchOptions.Coverage, to
// which every process adds. The build must be VariantCoverage.
func (d *Device) CoverageFile(dir string) (string, error) {
	if d.Variant != VariantCoverage {
		return "", fmt.Errorf("coverage of a build for %s: want variant %s", d.Variant, VariantCoverage)
	}
	base := filepath.Join(dir, fmt.Sprintf("%s-%x", d.Manifest.Name, d.Hash[:10]))
	if _, err := os.Stat(base + PointsExt); err == nil {
		return base + HitsExt, nil
	}
	if err := d.leavePoints(dir, base+PointsExt); err != nil {
		return "", fmt.Errorf("coverage folder: %w", err)
	}
	return base + HitsExt, nil
}

// leavePoints copies the points of the build, whole or not at all: other processes may do the same.
func (d *Device) leavePoints(dir, to string) error {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(d.Binary), pointsFile))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "points-*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), to)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

const (
	hitsMagic = "NTHITS02"
	hitsHead  = len(hitsMagic) + 32 + 8
)

// Hits are what a build's processes have counted: for each counter the most that any of them saw, 255 at most.
type Hits struct {
	SinceReset  []byte
	FromPowerUp []byte // reset among it
}

// ReadHits reads what was counted.
func ReadHits(path string) (*Hits, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("coverage: %w", err)
	}
	if len(b) < hitsHead || string(b[:len(hitsMagic)]) != hitsMagic || 2*le.Uint64(b[hitsHead-8:]) != uint64(len(b)-hitsHead) {
		return nil, fmt.Errorf("%s: %d bytes that are no coverage counts", path, len(b))
	}
	b = b[hitsHead:]
	return &Hits{b[:len(b)/2], b[len(b)/2:]}, nil
}
