package build

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Coverage of the RTL. In Verilator's own scheme each process registers every point by name when it starts, and
// writes all of them as text when it ends: seconds per process for a large design. It also compares each bit
// separately, in code that takes minutes to compile and hours to play. A coverage build keeps only the counters
// in the program; what they count is in a file beside it, and the program adds its counters to a file of one
// byte per counter. Bits are compared by words, see verilator/harness/toggles.hpp.

// CoverPoint is a point that a coverage build counts: of a line, or the bits of a signal.
type CoverPoint struct {
	// Counter is the index of the point's counter. A signal has a counter for each bit, from the lowest on;
	// signals that are the same net share them.
	Counter  int
	File     string // source, relative to the manifest
	Line     int
	Kind     string // "line", "branch", "toggle" or "user"
	Module   string // as Verilator names it, with parameters
	What     string // toggle: the signal; branch: if or else; line: block, case, ...
	Msb, Lsb int    // toggle: the range of the signal's bits; -1 for a scalar signal
}

// Bits returns the number of counters.
func (p *CoverPoint) Bits() int { return max(p.Msb-p.Lsb, p.Lsb-p.Msb) + 1 }

// Bit returns the number of the bit that the i-th counter counts, -1 for a scalar signal.
func (p *CoverPoint) Bit(i int) int {
	if p.Msb < p.Lsb {
		return p.Lsb - i
	}
	if p.Lsb < 0 {
		return -1
	}
	return p.Lsb + i
}

const (
	pointsFile = "points.tsv"
	pointWords = 8 // per line: the fields of CoverPoint, in order
)

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
		if len(w) != pointWords {
			return nil, fmt.Errorf("%s:%d: %d words: want %d", path, len(all)+1, len(w), pointWords)
		}
		p := CoverPoint{File: w[1], Kind: w[3], Module: w[4], What: w[5]}
		var errs [4]error
		p.Counter, errs[0] = strconv.Atoi(w[0])
		p.Line, errs[1] = strconv.Atoi(w[2])
		p.Msb, errs[2] = strconv.Atoi(w[6])
		p.Lsb, errs[3] = strconv.Atoi(w[7])
		if err := errors.Join(errs[:]...); err != nil || p.Counter < 0 {
			return nil, fmt.Errorf("%s:%d: counter %q, line %q, bits %q to %q: want numbers", path, len(all)+1, w[0],
				w[2], w[6], w[7])
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
	OfExt     = ".of" // the hash of the sources, see SourcesHash
)

// CoverageFile prepares a folder for the coverage of this build and returns the file for LaunchOptions.Coverage,
// to which every process adds. The build must be VariantCoverage.
func (d *Device) CoverageFile(dir string) (string, error) {
	if d.Variant != VariantCoverage {
		return "", fmt.Errorf("coverage of a build for %s: want variant %s", d.Variant, VariantCoverage)
	}
	base := filepath.Join(dir, fmt.Sprintf("%s-%x", d.Manifest.Name, d.Hash[:10]))
	if _, err := os.Stat(base + OfExt); err == nil {
		return base + HitsExt, nil
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(d.Binary), pointsFile))
	if err == nil {
		err = place(dir, base+PointsExt, text)
	}
	sum := ""
	if err == nil {
		sum, err = SourcesHash(context.Background(), d.Manifest)
	}
	if err == nil {
		err = place(dir, base+OfExt, []byte(sum+"\n"))
	}
	if err != nil {
		return "", fmt.Errorf("coverage folder: %w", err)
	}
	return base + HitsExt, nil
}

// place writes a file of a build atomically: other processes may do the same.
func place(dir, to string, text []byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "build-*.tmp")
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

// Hits has the counts of a build's processes: for each counter the maximum over them, 255 at most.
type Hits struct {
	SinceReset  []byte
	FromPowerUp []byte // the events of the reset included
}

// ReadHits reads the counts of a build.
func ReadHits(path string) (*Hits, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("coverage: %w", err)
	}
	if len(b) < hitsHead || string(b[:len(hitsMagic)]) != hitsMagic ||
		2*binary.LittleEndian.Uint64(b[hitsHead-8:]) != uint64(len(b)-hitsHead) {
		return nil, fmt.Errorf("%s: %d bytes that are no coverage counts", path, len(b))
	}
	b = b[hitsHead:]
	return &Hits{b[:len(b)/2], b[len(b)/2:]}, nil
}

// MergeHits returns the file that holds the counts of several files of one build.
func MergeHits(paths ...string) (merged []byte, err error) {
	for _, path := range paths {
		if _, err := ReadHits(path); err != nil {
			return nil, err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("coverage: %w", err)
		}
		if merged == nil {
			merged = text
			continue
		}
		if len(text) != len(merged) || !bytes.Equal(text[:hitsHead], merged[:hitsHead]) {
			return nil, fmt.Errorf("%s and %s count different builds", paths[0], path)
		}
		for i := hitsHead; i < len(text); i++ {
			merged[i] = max(merged[i], text[i])
		}
	}
	return merged, nil
}
