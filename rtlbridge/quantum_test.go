package rtlbridge

import (
	"fmt"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nictwin/models/format/msg"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/protocol"
)

func TestQuantumBound(t *testing.T) {
	for _, x := range []struct {
		mode    Mode
		in, out simcore.Ps
		want    uint32
	}{
		{Pipelined, 160_000, 160_000, 64},
		{Pipelined, 159_999, 160_000, 63},
		{Pipelined, 320_000, 100_000, 40},
		{Pipelined, 100_000, 320_000, 84},
		{Serial, 160_000, 160_000, 128},
		{Serial, 160_000, 0, 64},
		{Serial, 0, 160_000, 64},
		{Serial, 0, 0, 0},
		{Serial, simcore.MaxPs, simcore.MaxPs, protocol.MaxRunCycles},
	} {
		require.Equal(t, x.want, MaxQuantum(2500, x.mode, x.in, x.out), "%v %v %v", x.mode, x.in, x.out)
	}
	_, err := runLoop(t, fifo(t, build.VariantSpeed),
		loopOptions{latency: 159_999, first: 1, total: 1, comp: CompSpec{Quantum: 64}})
	require.ErrorContains(t, err, "quantum of 64 cycles")
	require.ErrorContains(t, err, "at most 63 in pipelined mode")
}

// TestShortLinks checks that a link over which something would arrive too early is refused before the run
// begins, whatever component is at its other end.
func TestShortLinks(t *testing.T) {
	d := fifo(t, build.VariantSpeed)
	for _, x := range []struct {
		two     bool
		in, out simcore.Ps
		least   simcore.Ps
	}{{false, 200_000, 160_000, 200_000}, {false, 160_000, 190_000, 190_000}, {true, 160_000, 170_000, 330_000}} {
		for _, latency := range []simcore.Ps{0, x.least - 1, x.least} {
			e, pool := simcore.NewEngine(), &msg.Frames{}
			ends := make([]*Comp, 2)
			far := simcore.NewPort(&peer{ComponentBase: sim.NewComponentBase("Peer"), s: e, pool: pool}, 64, "Peer.Eth")
			for i := range ends {
				var err error
				ends[i], err = NewComp(fmt.Sprintf("DUT%d", i), e, launch(t, d, LaunchOptions{}),
					CompSpec{InLatency: x.in, OutLatency: x.out, Quantum: 64},
					[]Binding{EtherBinding("Eth", "in", "out", 0, pool, true)})
				require.NoError(t, err)
			}
			if x.two {
				far = ends[1].Port(0)
			}
			_, err := simcore.Connect("Link", e, simcore.LinkSpec{Latency: latency, CreditLatency: simcore.Microsecond},
				ends[0].Port(0), far)
			require.NoError(t, err)
			err = ends[0].Begin(ends[0].conn.NewStart(1))
			if latency == x.least {
				require.NoError(t, err)
				continue
			}
			require.ErrorContains(t, err, fmt.Sprintf("port Eth: its link has a latency of %v: want %v or more",
				latency, x.least))
		}
	}
}

// TestEveryLegalQuantumAgrees checks that results agree for latencies that are no multiple of a cycle, up
// to the exact bound of the quantum.
func TestEveryLegalQuantumAgrees(t *testing.T) {
	d := fifo(t, build.VariantSpeed)
	rapid.Check(t, func(rt *rapid.T) {
		latency := simcore.Ps(rapid.IntRange(5_000, 300_000).Draw(rt, "latency"))
		base := loopOptions{latency: latency, stall: rapid.IntRange(0, 60).Draw(rt, "stall"), first: 10, total: 24}
		base.comp = CompSpec{Mode: Serial, Quantum: 1}
		want, err := runLoop(t, d, base)
		require.NoError(rt, err)
		for _, mode := range []Mode{Serial, Pipelined} {
			o := base
			o.comp = CompSpec{Mode: mode, Quantum: MaxQuantum(2500, mode, latency, latency)}
			r, err := runLoop(t, d, o)
			require.NoError(rt, err)
			require.Equal(rt, want.digest, r.digest, "%v", mode)
		}
		o := base
		o.comp.Mode = Pipelined
		o.comp.Quantum = uint32(rapid.IntRange(1, int(MaxQuantum(2500, Pipelined, latency, latency))).Draw(rt,
			"quantum"))
		q := simcore.Ps(o.comp.Quantum) * 2500
		o.comp.Ahead = rapid.SampledFrom([]int{0, 2, ahead(q, latency, latency)}).Draw(rt, "ahead")
		r, err := runLoop(t, d, o)
		require.NoError(rt, err)
		require.Equal(rt, want.digest, r.digest, "%d quanta of %d cycles", o.comp.Ahead, o.comp.Quantum)
	})
}
