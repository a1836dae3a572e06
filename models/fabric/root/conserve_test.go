package root_test

import (
	"math/rand/v2"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/fabric/root"
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	"nictwin/models/server/host/iio"
	"nictwin/models/sim/simcore"
)

// tally is a memory that can be full, and counts the bytes of the root's accesses.
type tally struct {
	*iio.Buffer
	written, requested, read int
}

func (m *tally) Access(a *mem.Access) {
	n, done := len(a.Data), a.Done
	if a.Op == mem.Write {
		m.written += n
	} else {
		m.requested += n
		a.Done = func(a *mem.Access) {
			m.read += n
			a.Done = done
			done(a)
		}
	}
	m.Buffer.Access(a)
}

// wiretap counts the TLPs that arrive at a root and leave it.
type wiretap struct {
	t                  testing.TB
	port               *simcore.Port // port of the root
	writes             []int         // bytes of each TLP received, 0 for a read
	written, requested int           // bytes of writes received, and bytes of reads requested
	sent               int           // bytes of completions
}

func (w *wiretap) Func(c sim.HookCtx) {
	p := c.Item.(*msg.TLP)
	h, err := p.Header()
	require.NoError(w.t, err)
	switch {
	case c.Pos == sim.HookPosConnDeliver && h.Kind == tlp.MWr:
		w.written += len(p.Data)
		w.writes = append(w.writes, len(p.Data))
	case c.Pos == sim.HookPosConnDeliver && h.Kind == tlp.MRd:
		_, n := h.Span()
		w.requested += n
		w.writes = append(w.writes, 0)
	case c.Pos == sim.HookPosConnStartSend && h.Kind == tlp.CplD:
		w.sent += len(p.Data)
	}
}

// waiting returns the bytes of writes in the root's port. The port reports a delivery after the
// root has handled it.
func (w *wiretap) waiting() (n int) {
	for _, bytes := range w.writes[len(w.writes)-w.port.Len():] {
		n += bytes
	}
	return n
}

// At every step of seeded traffic, each write received must be in memory or in the root's port, and no byte may be
// sent that memory has not delivered. The memory is full most of the time. Akita's engine must give the same result.
func TestConservation(t *testing.T) {
	play := func(e sim.Engine, wait func(simcore.Ps) error) (last simcore.Ps, held int) {
		space, err := mem.NewSpace(1<<20, 1<<20)
		require.NoError(t, err)
		slow, err := inject.NewDelay("Delay", e, inject.DelaySpec{Latency: 200 * ns, Jitter: 90 * ns, Seed: 5}, space)
		require.NoError(t, err)
		buffer, err := iio.Builder{Scheduler: e, Spec: iio.Spec{Bytes: 256}, Memory: slow}.Build("IIO")
		require.NoError(t, err)
		memory, pool := &tally{Buffer: buffer}, new(msg.TLPs)
		far, err := root.Builder{Scheduler: e, Spec: root.DefaultSpec(), Memory: memory, TLPs: pool}.Build("Far")
		require.NoError(t, err)
		near, err := root.Builder{Scheduler: e, Spec: root.DefaultSpec(), Memory: mem.NewSparse(1),
			TLPs: pool}.Build("Near")
		require.NoError(t, err)
		link, err := simcore.Connect("Link", e, simcore.LinkSpec{Latency: 50 * ns, Rate: simcore.Gbps(256), Credits: 8},
			near.PCIe(), far.PCIe())
		require.NoError(t, err)
		tap := &wiretap{t: t, port: far.PCIe()}
		link.AcceptHook(tap)
		out, err := near.NewOutbound(outID, root.DefaultOutboundSpec(), tlp.DefaultLimits(), space)
		require.NoError(t, err)
		rng := rand.New(rand.NewPCG(3, 9))
		issued := [2]int{}
		for range 1500 {
			a := &mem.Access{Op: mem.Op(rng.IntN(2)), Addr: uint64(rng.IntN(1<<12)) * 4,
				Data: make([]byte, 4*(1+rng.IntN(200)))}
			a.Done = func(a *mem.Access) {
				require.NoError(t, a.Err)
				last = simcore.Now(e)
			}
			issued[a.Op] += len(a.Data)
			out.Access(a)
			require.NoError(t, wait(simcore.Ps(rng.IntN(300))*ns))
			require.Equal(t, tap.written, memory.written+tap.waiting())
			require.LessOrEqual(t, tap.sent, memory.read)
			require.LessOrEqual(t, memory.read, memory.requested)
			require.LessOrEqual(t, memory.requested, tap.requested)
			held = max(held, tap.waiting())
		}
		require.NoError(t, e.(interface{ Run() error }).Run())
		require.Equal(t, []int{issued[mem.Write], issued[mem.Write]}, []int{tap.written, memory.written})
		read := issued[mem.Read]
		require.Equal(t, []int{read, read, read, read}, []int{tap.requested, memory.requested, memory.read, tap.sent})
		require.True(t, far.Idle() && near.Idle() && buffer.Idle())
		require.Zero(t, pool.Live())
		require.NoError(t, far.Err())
		return last, held
	}
	own := simcore.NewEngine()
	_, held := play(own, func(t simcore.Ps) error { return own.RunUntil(own.Now() + t) })
	require.Positive(t, held, "the memory was never full")
	atOnce := func(simcore.Ps) error { return nil }
	onOurs, _ := play(simcore.NewEngine(), atOnce)
	onAkita, _ := play(sim.NewSerialEngine(), atOnce)
	require.Equal(t, onOurs, onAkita)
}
