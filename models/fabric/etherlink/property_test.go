package etherlink

import (
	"math/rand/v2"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/fabric/etherlink/core"
	"nictwin/models/format/ether"
	"nictwin/models/format/msg"
	"nictwin/models/sim/simcore"
)

type frameMsg = *msg.Frame

func pauseFrame(classes uint8, quanta uint16) []byte {
	p, f := ether.Pause{Priority: true, Classes: classes}, make([]byte, ether.MinLen)
	for c := range p.Quanta {
		p.Quanta[c] = quanta
	}
	p.Put(f, [6]byte{2, 0, 0, 0, 0, 0xaa})
	return f
}

// stop runs until a time, and requires that frames are conserved at that instant.
func (r *rig) stop(at simcore.Ps) {
	r.t.Helper()
	end := &stopper{r: r}
	r.e.Schedule(&simcore.Event{At: at, H: end, Secondary: true})
	require.ErrorIs(r.t, r.e.Run(), errEnd)
}

// storm sends random frames to random hosts, among them pause frames, group addresses and truncated
// ones, over links that lose frames. It checks the balance at each of its steps.
type storm struct {
	*rig
	rng   *rand.Rand
	steps int
}

func (x *storm) Handle(e sim.Event) error {
	x.balanced()
	for i := range x.hosts {
		for range x.rng.IntN(6) {
			f := frame(byte(i+1), byte(1+x.rng.IntN(len(x.hosts)+1)), 60+x.rng.IntN(3000), uint8(x.rng.IntN(8)),
				uint16(x.rng.IntN(9)))
			switch x.rng.IntN(20) {
			case 0:
				f = pauseFrame(uint8(x.rng.IntN(256)), uint16(x.rng.IntN(300)))
			case 1:
				f[0] |= 1
			case 2:
				f = f[:x.rng.IntN(40)]
			}
			x.send(i, f)
		}
	}
	if x.steps--; x.steps > 0 {
		ev := e.(*simcore.Event)
		x.e.Schedule(&simcore.Event{At: ev.At + simcore.Ps(x.rng.IntN(300_000)), H: x})
	}
	return nil
}

func playStorm(t *testing.T, e sim.Engine, seed uint64, mode Mode) uint64 {
	spec := Default(5)
	spec.Mode, spec.LAGs, spec.BufferBytes, spec.Quanta, spec.TableLen = mode, [][]int{{1, 3}}, 400_000, 40, 4
	spec.Classes[RoCEClass].PFC = core.PFC{XoffBytes: 20_000, XonBytes: 10_000, HeadroomBytes: 20_000}
	spec.Classes[RoCEClass].ECN = core.ECN{KminBytes: 2000, KmaxBytes: 9000, Pmax: 0.3}
	spec.Classes[5].Weight = 0
	fast := DefaultLink()
	fast.Loss, fast.Seed = 0.02, seed
	x := &storm{rig: newRig(t, e, spec, fast, mbps(fast, 25_000), mbps(fast, 100_000)),
		rng: rand.New(rand.NewPCG(seed, 1)), steps: 400}
	for i, h := range x.hosts {
		h.polite = i%2 == 0
	}
	sum := x.digest()
	e.Schedule(&simcore.Event{At: 1, H: x})
	x.run()
	if seed == 1 {
		require.NotZero(t, x.sw.Dropped(core.None))
		require.NotZero(t, x.links[0].Counters(0).Lost)
	}
	return sum()
}

// Random traffic must conserve bytes at every step: in = out + dropped + held. A second run, and
// one on Akita's engine, must deliver the same frames at the same times.
func TestRandomTraffic(t *testing.T) {
	for seed := range uint64(12) {
		mode := []Mode{CutThrough, StoreForward}[seed%2]
		want := playStorm(t, simcore.NewEngine(), seed, mode)
		require.Equal(t, want, playStorm(t, simcore.NewEngine(), seed, mode))
		require.Equal(t, want, playStorm(t, sim.NewSerialEngine(), seed, mode), "on Akita's engine")
	}
}
