package rnic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
)

// told counts the packets whose acknowledgements report a mark.
type told struct {
	limiter
	marked *int
}

func (c *told) Acked(now int64, n int, marked bool) {
	c.limiter.Acked(now, n, marked)
	if marked {
		*c.marked += n / 1024
	}
}

// marking has two NICs with a connected queue pair each. ECN-capable packets reach the second one, and nobody marks
// them on their way.
type marking struct {
	a, b     *testQP
	from, to uint64
	marked   int  // packets that the first one's controller knows to be marked
	on       bool // RegMark of the second NIC
	while    int  // packets of requests that arrived at the second NIC while it was
	arrived  int  // and all of them
	at       func(arrived int)
}

// newMarking connects the queue pairs. Without control, packets are not ECN-capable.
func newMarking(t *testing.T, control bool) *marking {
	r, m := newRig(t, 2, testSpec()), &marking{at: func(int) {}}
	for _, h := range r.hosts {
		h.region(1)
		if control {
			h.nic.SetCongestion(Congestion{Windowed: true, New: func(int64, int) (Controller, Notifier, error) {
				return &told{limiter{t: t, rate: 1e15, window: int64(never)}, &m.marked}, nil, nil
			}})
		}
	}
	m.a, m.b = r.hosts[0].qp(rnicspec.RC, 1), r.hosts[1].qp(rnicspec.RC, 1)
	connect(m.a, m.b, 1024)
	m.from, m.to = r.hosts[0].alloc(1, 1<<20), r.hosts[1].alloc(1, 1<<20)
	r.hosts[1].nic.Observe(m.observe)
	return m
}

func (m *marking) observe(x boundary.Crossing) {
	switch x.Kind {
	case boundary.FrameIn:
		if m.arrived++; m.on {
			m.while++
		}
		m.at(m.arrived)
	case boundary.TLPIn:
		if h, err := x.TLP.Header(); err == nil && h.Kind == tlp.MWr && h.Address == nicspec.BarBase+rnicspec.RegMark {
			m.on = x.TLP.Data[0] == 1
		}
	}
}

func (m *marking) write(n int) {
	for range n {
		m.a.post(rnicspec.WQE{Opcode: rnicspec.Write, Flags: sig, Length: 4096, LocalVA: m.from, LocalKey: 2,
			RemoteVA: m.to, RemoteKey: 2})
	}
	m.a.h.rig.run()
}

func (m *marking) set(value uint32) {
	require.NoError(m.b.h.t, m.b.h.mmio.Write32(rnicspec.RegMark, value))
}

func (m *marking) counter(k rnicspec.Counter) int { return int(m.b.h.nic.Counter(k)) }

// While RegMark is set, packets count as marked from their arrival on, and acknowledgements say so; before and after,
// they do not. It changes twice while packets are under way.
func TestMarkRegister(t *testing.T) {
	m := newMarking(t, true)
	m.at = func(n int) {
		switch n {
		case 10:
			m.set(1)
		case 40:
			m.set(0)
		}
	}
	m.write(16)
	require.Equal(t, 64, m.arrived)
	require.Greater(t, m.while, 10)
	require.Less(t, m.while, 50)
	require.Equal(t, m.while, m.counter(rnicspec.CntSelfMarked))
	require.Equal(t, m.while, m.counter(rnicspec.CntMarked))
	require.Equal(t, m.while, m.marked, "each packet has an acknowledgement of its own")
	require.False(t, m.on)
	for _, c := range m.a.poll() {
		require.Equal(t, rnicspec.OK, c.Status)
	}
}

// Packets that have arrived before a write of RegMark stay as they are, though they wait in the pipeline.
func TestMarkSparesEarlierPackets(t *testing.T) {
	m := newMarking(t, true)
	spec := &m.b.h.nic.spec
	spec.Latency.Write = 100 * simcore.Microsecond
	m.at = func(n int) {
		if n == 4 {
			m.set(1)
		}
	}
	m.write(1)
	require.True(t, m.on)
	require.Zero(t, m.marked)
	m.write(1)
	require.Equal(t, 4, m.marked)
}

// Packets that are not ECN-capable are never marked.
func TestMarkNeedsCapablePackets(t *testing.T) {
	m := newMarking(t, false)
	m.set(1)
	m.write(4)
	require.Equal(t, 16, m.while)
	require.Zero(t, m.counter(rnicspec.CntMarked)+m.counter(rnicspec.CntSelfMarked))
}

// The register reads as it was written last. Writes of other values, or of other lengths, are counted and change
// nothing.
func TestMarkRegisterAccess(t *testing.T) {
	m := newMarking(t, true)
	read := func() (value uint64) {
		require.NoError(t, m.b.h.mmio.Read(rnicspec.RegMark, 8, func(v uint64, err error) {
			require.NoError(t, err)
			value = v
		}))
		m.b.h.rig.run()
		return value
	}
	require.Zero(t, read())
	m.set(1)
	m.set(2)
	require.NoError(t, m.b.h.mmio.Write(rnicspec.RegMark, make([]byte, 8)))
	require.NoError(t, m.b.h.mmio.Write32(rnicspec.RegMark+4, 0))
	require.EqualValues(t, 1, read())
	require.Equal(t, 3, m.counter(rnicspec.CntWrongAccess))
}
