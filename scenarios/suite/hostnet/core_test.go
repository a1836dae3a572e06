package hostnet

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/hostbed"
	"nictwin/stack/hostnet"
	"nictwin/stack/hostnet/apps"
)

// core returns the first core of the server.
func (d *duo) core() *cpu.Core {
	c, err := d.Rack.Servers[0].Cards[0].Memory.Host(nicspec.EndpointHost).Core(0, 0)
	require.NoError(d, err)
	return c.Core
}

// TestOneDoorbellForABurst checks that a core which is behind with chunks of one packet answers them in bursts: it
// rings a doorbell for many answers, besides one for Spec.Repost buffers.
func TestOneDoorbellForABurst(t *testing.T) {
	const chunks, outstanding, cycles = 2000, 64, int64(500) // of a packet, while the next ones come
	d := newDuo(t)
	spec := chunkSpec()
	spec.ChunkBytes, spec.Outstanding, spec.File = 512, outstanding, 2*outstanding
	d.chunks(0, spec, false, false, apps.Load{Requests: chunks})
	d.server.Flows[0].ReceiveCycles = new(cycles)
	d.open()
	before := d.core().Stats().Posts
	require.Zero(t, d.finish())
	require.EqualValues(t, chunks, d.Nodes[0].FlowStats(0).Server.Answers)
	posts := int(d.core().Stats().Posts - before)
	t.Logf("%d doorbells for %d answers, and for buffers", posts, chunks)
	require.Less(t, posts, chunks/8)
}

// TestLineCycles checks that a core is busy for line_cycles for each 64 B of the chunks that it copies, rounded up.
func TestLineCycles(t *testing.T) {
	const chunks, bytes, cycles = 40, 5000, 1000
	var period simcore.Ps
	busy := func(cycles int64) simcore.Ps {
		d := newDuo(t)
		spec := chunkSpec()
		spec.ChunkBytes, spec.Outstanding, spec.LineCycles = bytes, 1, cycles
		s := d.chunks(0, spec, false, true, apps.Load{Requests: chunks})
		d.open()
		before := d.core().BusyTime()
		require.Zero(t, d.finish())
		require.EqualValues(t, chunks, s.Stats().Runs, "a chunk is a run")
		period = d.core().Spec().Period
		return d.core().BusyTime() - before
	}
	const lines = (bytes + mem.LineBytes - 1) / mem.LineBytes
	more := busy(cycles) - busy(0)
	require.InEpsilon(t, chunks*lines*cycles*int64(period), int64(more), 0.005)
}

// beats is a source of datagrams that never meet, and their sink, which looks at nothing.
type beats struct{ sent, count, bytes int }

const beat = simcore.Microsecond

func (b *beats) Next(now hostnet.Ps, p []byte) (int, bool) {
	if b.Idle() || now < b.Wake() {
		return 0, false
	}
	b.sent++
	clear(p[:b.bytes])
	return b.bytes, true
}

func (b *beats) Longest() int { return b.bytes }
func (b *beats) Idle() bool   { return b.sent == b.count }
func (b *beats) Wake() hostnet.Ps {
	if b.Idle() {
		return hostnet.Never
	}
	return hostnet.Ps(simcore.Ps(200+b.sent) * beat) // 200: when both nodes are ready
}

func (*beats) Open(*hostnet.Flow) error                    { return nil }
func (*beats) HeaderBytes() int                            { return 0 }
func (*beats) Take(f *hostnet.Flow, _ []byte, _ int) error { return nil }

// TestPrefetchedLines checks that a core loads the first two lines of a packet at once, or its only one, and no more of
// it before it looks at the headers.
func TestPrefetchedLines(t *testing.T) {
	const packets = 100
	loads := func(frame int) int {
		d := newDuo(t)
		headers := hostbed.Ends(0, 1, 1, 1, false)
		b := &beats{count: packets, bytes: frame - headers.HeaderBytes()}
		d.server.Flows = []hostnet.FlowConfig{{Sink: b, Ends: hostbed.Ends(0, 1, 7000, 7000, false)}}
		d.client.Flows = []hostnet.FlowConfig{{Source: b, Ends: hostbed.Ends(1, 0, 7000, 7000, false)}}
		d.open()
		before := d.core().Stats().Loads
		require.Zero(t, d.finish())
		return int(d.core().Stats().Loads - before)
	}
	one := loads(64)
	for _, frame := range []int{65, 128, 129, 512, 1400} {
		require.Equal(t, one+packets, loads(frame), "frames of %d B", frame)
	}
}
