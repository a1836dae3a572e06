package board

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/memory/dram"
	"nictwin/models/memory/gpu"
	"nictwin/models/memory/mem"
	"nictwin/models/memory/mem/memtest"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/host"
	"nictwin/models/server/host/dsa"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/models/sim/simcore"
)

// A card's memory must follow the protocol of package mem, as software and as the roots see it:
// with caches, with machines, across the border to a GPU, and where Arm cores reach host memory.
func TestMemoryKeepsTheProtocol(t *testing.T) {
	host := mem.Bus(nicspec.EndpointHost, 0)
	gpu := "name: Lab\nservers:\n- preset: bf3\n  cards:\n  - {preset: bf3, switch: {preset: bf3, host: {gpus: " +
		"[{preset: gen5, base: 0x100000040000000, bytes: 4096}]}}}"
	for _, x := range []struct {
		name, board string
		target      func(l *lab) mem.Target
		base        uint64
	}{
		{"software, caches", "preset: bf3", func(l *lab) mem.Target { return l.memory() }, 0},
		{"host root, caches", "preset: bf3",
			func(l *lab) mem.Target { return l.memory().rootMemory(nicspec.EndpointHost) }, host},
		{"host root, machine", "preset: bf2-cores",
			func(l *lab) mem.Target { return l.memory().rootMemory(nicspec.EndpointHost) }, host},
		{"host root, half a GPU", gpu, func(l *lab) mem.Target { return l.memory().rootMemory(nicspec.EndpointHost) },
			host + 1<<30 - 500},
		{"Arm core, host memory", "preset: bf2-cores", func(l *lab) mem.Target {
			c, err := l.memory().Host(nicspec.EndpointArm).Core(0, 0)
			require.NoError(t, err)
			return c.TLB
		}, host},
	} {
		memtest.RunContract(t, x.name, func() (*memtest.Bench, error) {
			l := newLab(t, x.board)
			return &memtest.Bench{Target: x.target(l), Peek: l.memory().Read, Base: x.base, Size: 1000, Window: 1000,
				Nowhere: []uint64{mem.Bus(2, 0), host + 1<<40}, Step: func() (bool, error) {
					err := l.RunUntil(l.Now() + 30*ns)
					return l.Next() != nil, err
				}}, nil
		})
	}
}

func (l *lab) memory() *Memory { return l.rack.Cards()[0].Memory }

// GPUs must be reachable through the root also where no cache lies before the DRAM. While the DRAM is
// full, or a write waits for an earlier write to another memory, TLPs must stay on the link; every
// write must arrive, however writes to GPUs and DRAM are mixed.
func TestGPUsBesideDRAMAlone(t *testing.T) {
	const writes, every = 5000, 16
	space, err := mem.NewSpace(1<<20, 1<<24)
	require.NoError(t, err)
	g, err := gpu.Preset("gen5")
	require.NoError(t, err)
	d, err := dram.Preset("bf3")
	require.NoError(t, err)
	g.Base, g.Bytes = mem.Bus(nicspec.EndpointHost, 1<<30), 1<<24
	m, e := newMemory(space), simcore.NewEngine()
	require.NoError(t, m.build(e, "Host", nicspec.EndpointHost, &MemorySpec{GPUs: []gpu.Spec{g}, DRAM: &d}))
	h := m.rootMemory(nicspec.EndpointHost).(mem.Holder)
	issued, done, most := 0, 0, 0
	issue := func() {
		for !h.Full() && issued < writes {
			addr := mem.Bus(nicspec.EndpointHost, uint64(issued)<<6)
			if issued%every == every-1 {
				addr = g.Base + uint64(issued)<<6
			}
			issued++
			most = max(most, issued-done)
			h.Access(&mem.Access{Op: mem.Write, Addr: addr, Data: []byte{byte(issued)}, Done: func(a *mem.Access) {
				require.NoError(t, a.Err)
				done++
			}})
		}
	}
	h.OnRoom(issue)
	issue()
	require.NoError(t, e.Run())
	require.Equal(t, [2]int{writes, writes}, [2]int{issued, done})
	require.LessOrEqual(t, most, d.Channels*d.Buffer+1)
	require.Zero(t, m.Stray())
}

// A core of a server whose board file gives it copy engines must have them copy host memory to a
// GPU's; a run without a copy has the events of one without engines.
func TestCopyEngines(t *testing.T) {
	const head = "servers:\n- preset: bf3\n  cards:\n  - preset: bf3-cores\n    switch: {host: {host: {"
	const gpus = "}, gpus: [{preset: gen5, base: 0x100000040000000, bytes: 0x100000}]}}"
	play := func(engines string, work func(c *Card)) simcore.Ps {
		s, err := ParseRack("f.yaml", []byte(head+engines+gpus))
		require.NoError(t, err)
		e, closed := simcore.NewEngine(), 0
		r, err := NewRack(e, new(Pools), s, factory(&closed))
		require.NoError(t, err)
		c := r.Cards()[0]
		work(c)
		require.NoError(t, e.Run())
		require.NoError(t, c.Err())
		require.True(t, c.Idle())
		require.NoError(t, r.Close())
		return e.Now()
	}
	at, to := mem.Bus(nicspec.EndpointHost, 1<<20), mem.Bus(nicspec.EndpointHost, 1<<30)
	store := func(c *Card) *host.Core {
		core, err := c.Memory.Host(nicspec.EndpointHost).Core(0, 0)
		require.NoError(t, err)
		require.NoError(t, core.Store(at, []byte("copied by the engine")))
		return core
	}
	var ended *Card
	play("dsa: {preset: host-fn}", func(c *Card) {
		b := dsa.EncodeDescriptor(at, to, 20, at+64)
		store(c).Post(c.Memory.Host(nicspec.EndpointHost).DSA[0].Portal(), 0, b[:])
		ended = c
	})
	b := make([]byte, 20)
	require.NoError(t, ended.Memory.Read(to, b))
	require.Equal(t, "copied by the engine", string(b))
	require.Equal(t, play("", func(c *Card) { store(c) }),
		play("dsa: {preset: host-fn}", func(c *Card) { store(c) }))
}
