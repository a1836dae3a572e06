package flexins

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/simcore"
	"nictwin/stack/flexins/node"
	"nictwin/stack/verbs"
)

// arrivals holds the time from the post of a message until its last byte was seen in the buffer, and until its
// completion was seen.
type arrivals struct{ buffer, completion simcore.Ps }

// sendSmall sends messages of n bytes, one after the other, and returns the means of their times. `low` selects a
// low-latency queue pair. Loops on a core of the receiving host poll the buffer and the completion queue.
func sendSmall(t *testing.T, n int, low, inline bool) (mean arrivals) {
	s := node.DefaultSpec()
	s.DataCores, s.LowLatency = 1, 1
	b, _, e, rack := newNodesOn(t, s, false, func(*board.RackSpec) {})
	most := 0
	if low {
		most = 512
	}
	c := connectLow(t, b, most)
	core, err := rack.Cards()[1].Memory.Host(nicspec.EndpointHost).Core(0, 0)
	require.NoError(t, err)
	at := c.Sides[1].Base
	var posted simcore.Ps
	var seen arrivals
	last := make([]byte, 1)
	loop, err := core.Add(cpu.LoopSpec{Name: "application", Poll: 62}, func(*cpu.Core) bool {
		require.NoError(t, core.Load(at+uint64(n)-1, last))
		if last[0] == 0 || seen.buffer != 0 {
			return false
		}
		seen.buffer = e.Now() - posted
		return true
	})
	require.NoError(t, err)
	_, err = loop.Watch(at, n)
	require.NoError(t, err)
	_, err = c.cq[1].Follow(func() { seen.completion = e.Now() - posted })
	require.NoError(t, err)
	const messages = 16
	bytes := make([]byte, n)
	for i := range bytes {
		bytes[i] = 0x5a
	}
	require.NoError(t, c.Sides[0].Memory.Write(c.Sides[0].Base, bytes))
	for m := range messages {
		require.NoError(t, c.Sides[1].Memory.Write(at, make([]byte, n)))
		_, err := c.qp[1].PostRecv([]verbs.RecvWR{{ID: uint64(m),
			SGEs: []verbs.SGE{{Addr: at, Length: 512, LKey: c.mr[1].LKey}}}})
		require.NoError(t, err)
		require.NoError(t, c.Settle())
		w := verbs.SendWR{Opcode: verbs.WRSend,
			SGEs: []verbs.SGE{{Addr: c.Sides[0].Base, Length: uint32(n), LKey: c.mr[0].LKey}}}
		if inline {
			w.Flags, w.Inline = verbs.SendInline, bytes
		}
		posted, seen = e.Now(), arrivals{}
		_, err = c.qp[0].PostSend([]verbs.SendWR{w})
		require.NoError(t, err)
		require.NoError(t, c.Settle())
		require.Positive(t, seen.buffer)
		require.Positive(t, seen.completion)
		mean.buffer += seen.buffer / messages
		mean.completion += seen.completion / messages
		wcs := make([]verbs.WC, 2)
		k, err := c.cq[1].Poll(wcs)
		require.NoError(t, err)
		require.Equal(t, 1, k)
		require.Equal(t, verbs.WCSuccess, wcs[0].Status)
	}
	loop.Stop()
	return mean
}

// TestFlexinsLowLatencyTimes checks that a small message reaches the application earlier on a low-latency queue pair
// than on an ordinary one, even if that sends inline: the path through the Arm's cache, the copy and the completion
// take time. Only the order of the times is checked, which follows from the mechanisms, and no number of the paper.
func TestFlexinsLowLatencyTimes(t *testing.T) {
	us := func(p simcore.Ps) float64 { return float64(p) / float64(simcore.Microsecond) }
	for _, n := range []int{8, 64, 122, 200} {
		gathered, inline, low := sendSmall(t, n, false, false), sendSmall(t, n, false, true),
			sendSmall(t, n, true, false)
		t.Logf("SEND of %3d B from posting, us: ordinary %.2f to its completion, inline %.2f; low-latency %.2f in "+
			"the buffer, %.2f to its completion",
			n, us(gathered.completion), us(inline.completion), us(low.buffer), us(low.completion))
		require.Less(t, inline.completion, gathered.completion)
		require.Less(t, low.buffer, inline.buffer)
		require.Less(t, low.buffer, low.completion)
		require.Less(t, low.completion, inline.completion)
	}
}
