package path

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/papers/study"
)

// beside returns the rates at which a design transmits and receives when 400 Gbps are offered to transmission and
// `offered` Gbps to reception.
func (d stagedDesign) beside(t *testing.T, s *study.Session, offered float64) (tx, rx float64) {
	t.Helper()
	list := []*chain{d.transmit(s), receive(s, offered)}
	e, _, err := chains(s, d.name, stagedSpec(s, d), 1, 1, list...)
	require.NoError(t, err)
	return e.Gbps(), e.Gbps() * float64(list[1].counted) / float64(list[0].counted)
}

// TestStagedTransmissionSharesLinks checks how transmission and reception share a BlueField-3 card's links. If both go
// over the Arm's link, its switch port serves them in turn, and each gets half. If copies loop through the NIC's
// channel, transmission gets what received frames leave of it. If payload bypasses Arm memory, neither loses anything.
func TestStagedTransmissionSharesLinks(t *testing.T) {
	s, err := study.NewSession(context.Background(), &Staged, 1)
	require.NoError(t, err)
	tx, rx := stagedDesign{gbps: 437.5}.beside(t, s, 400)
	require.InEpsilon(t, tx, rx, 0.02)
	require.InDelta(t, 195, tx, 5)
	tx, rx = stagedDesign{shared: true, gbps: 504}.beside(t, s, 400)
	require.InEpsilon(t, 400, rx, 0.01)
	require.Less(t, tx, 504-400.0)
	tx, rx = stagedDesign{direct: true, gbps: 504}.beside(t, s, 400)
	require.InEpsilon(t, 400, tx, 0.001)
	require.InEpsilon(t, 400, rx, 0.001)

	// The first lap of the rings, which fills the caches, is not measured.
	d := stagedDesign{gbps: 437.5}
	spec := stagedSpec(s, d)
	spec.timed = true
	e, _, err := chains(s, "alone", spec, study.MinRoundTrips, 1, d.transmit(s))
	require.NoError(t, err)
	require.True(t, e.Converged)
	require.Equal(t, study.MinRoundTrips, e.RoundTrips)
}

// TestEchoOverTheCard checks that each byte crosses DRAM four times if devices do not allocate in the cache. If they
// do, it crosses DRAM only as often as a ring larger than the cache evicts its line.
func TestEchoOverTheCard(t *testing.T) {
	s, err := study.NewSession(context.Background(), &Staged, 1)
	require.NoError(t, err)
	e, reads, writes, err := echoOnce(s, "off", 4, false)
	require.NoError(t, err)
	require.Equal(t, []float64{2, 2}, []float64{reads, writes})
	require.InEpsilon(t, 480/4, e.Gbps(), 0.02)
	below, reads, writes, err := echoOnce(s, "on", 4, true)
	require.NoError(t, err)
	require.Zero(t, reads)
	require.Less(t, writes, 1.0)
	above, _, more, err := echoOnce(s, "on", 12, true)
	require.NoError(t, err)
	require.Greater(t, more, 1.7)
	require.Greater(t, below.Gbps(), 1.3*above.Gbps())
}

func TestLeftFor(t *testing.T) {
	require.Equal(t, 20.0, leftFor([][2]float64{{400, 0}, {400, 20}}, 0.99))
	require.InDelta(t, 4, leftFor([][2]float64{{400, 0}, {390, 10}}, 0.99), 1e-9)
}

// TestChainChecksItsBytes checks that a packet with wrong bytes at the end of the chain fails the run.
func TestChainChecksItsBytes(t *testing.T) {
	s, err := study.NewSession(context.Background(), &Staged, 1)
	require.NoError(t, err)
	d := stagedDesign{gbps: 504}
	c := d.transmit(s)
	c.legs[1].from.Addr += uint64(c.size) // the second leg reads the wrong slot
	_, _, err = chains(s, "wrong", stagedSpec(s, d), 1, 1, c)
	require.ErrorContains(t, err, "packet 0, line 0: its bytes are those of")
}
