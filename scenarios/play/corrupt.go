package play

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"nictwin/models/ref"
)

// spoiler corrupts outputs on their way to the reference, to see whether the reference notices.
type spoiler struct {
	rand    *rand.Rand
	outputs []string
}

// spoiledRuns limits the runs with corrupted outputs.
const spoiledRuns = 3

// noticesCorruption reports whether a reference notices corrupted outputs and corrupted samples of observed outputs:
// it then reports a failure of the device, or ends with an error of its own. A reference that does not notice compares
// none of them.
func (c *campaign) noticesCorruption(ctx context.Context, d *Device, run Run, outputs []string) (bool, error) {
	if c.Program != nil {
		defer c.Program.Mute()()
	}
	run.Trace = nil
	for i := range spoiledRuns {
		run.spoiler = &spoiler{rand.New(rand.NewPCG(run.Seed, uint64(i))), outputs}
		res, err := d.Play(ctx, run, nil)
		if _, mistaken := errors.AsType[*RefError](err); mistaken {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if res.Failure != nil {
			return true, nil
		}
	}
	return false, nil
}

// spoil returns the transactions that the reference gets instead of m: a corrupted one, m and a copy, or none.
func (s *spoiler) spoil(m *ref.Msg) []*ref.Msg {
	if s == nil || m.Of.In || !slices.Contains(s.outputs, m.Of.Name) {
		return []*ref.Msg{m}
	}
	x := *m
	x.Side, x.Data = slices.Clone(m.Side), slices.Clone(m.Data)
	switch s.rand.IntN(6) {
	case 0:
		return nil
	case 1:
		return []*ref.Msg{m, &x}
	case 2:
		x.Last += uint64(s.rand.IntN(1 << 20))
		x.First = x.Last
	case 3:
		unit := max(1, m.Of.Unit)
		if x.Data = append(x.Data, make([]byte, unit)...); len(m.Data) > unit {
			x.Data = x.Data[:unit*(1+s.rand.IntN(len(m.Data)/unit))]
		}
	default:
		s.noise(x.Data)
		s.noiseFields(&x)
	}
	return []*ref.Msg{&x}
}

func (s *spoiler) noise(b []byte) {
	for i := range b {
		b[i] = byte(s.rand.Uint32())
	}
}

// noiseFields randomizes fields within their widths.
func (s *spoiler) noiseFields(m *ref.Msg) {
	at := 0
	for _, f := range m.Of.Fields {
		n := (f.Bits + 7) / 8
		s.noise(m.Side[at : at+n])
		if rest := f.Bits % 8; rest != 0 {
			m.Side[at+n-1] &= 1<<rest - 1
		}
		at += n
	}
}

// sample corrupts a sample of observed outputs.
func (s *spoiler) sample(observed []uint64) {
	if s == nil {
		return
	}
	for i := range observed {
		observed[i] ^= 1 + s.rand.Uint64N(3)
	}
}
