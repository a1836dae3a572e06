package generate

import (
	"io/fs"
	"sync"

	"nictwin/scenarios/captures"
	"nictwin/scenarios/fuzz/program"
	"nictwin/scenarios/traffic/capture"
)

const (
	mostCaptured  = 1600 // bytes of a captured frame that programs play
	perCapture    = 40   // frames of a capture
	leastCaptured = 14
)

// Captured returns frames of the captures that come with nictwin, in the order of the captures' names. If one of them
// cannot be read, programs play none; TestCaptured reports it.
var Captured = sync.OnceValues(func() (all [][]byte, err error) {
	err = fs.WalkDir(captures.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := captures.Files.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := capture.Parse(path, raw)
		if err != nil {
			return err
		}
		for i := range f.Packets[:min(len(f.Packets), perCapture)] {
			if b := f.Packets[i].Data; len(b) >= leastCaptured && len(b) <= mostCaptured {
				all = append(all, b)
			}
		}
		return nil
	})
	return all, err
})

// mutant returns a captured frame, unchanged or with some bits flipped.
func (g *generator) mutant() (program.Frame, bool) {
	var f program.Frame
	all, err := Captured()
	if err != nil || len(all) == 0 {
		return f, false
	}
	f.Raw = pick(g, all...)
	f.Seed = uint64(g.rng.Uint32())
	for g.maybe(60) && len(f.Flip) < 8 {
		f.Flip = append(f.Flip, g.intN(8*min(len(f.Raw), 80)))
	}
	if g.maybe(15) {
		f.Len = 60 + g.intN(len(f.Raw))
	}
	return f, true
}
