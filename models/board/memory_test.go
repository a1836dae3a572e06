package board

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/dram"
	_ "nictwin/models/fixedseed"
	"nictwin/models/gpu"
	"nictwin/models/mem"
	"nictwin/models/mem/memtest"
	"nictwin/models/nicspec"
	"nictwin/models/simcore"
)

// A card's memory keeps the protocol, as software sees it and as the roots do: with caches, with machines, over the border to a
// GPU, and where cores of the Arm reach the host's.
func TestMemoryKeepsTheProtocol(t *testing.T) {
	host := mem.Bus(nicspec.EndpointHost, 0)
	gpu := "name: Lab\nservers:\n- preset: bf3\n  cards:\n  - {preset: bf3, switch: {preset: bf3, host: {gpus: [{preset: gen5, base: 0x100000040000000, bytes: 4096}]}}}"
	for _, x := range []struct {
		name, board string
		target      func(l *lab) mem.Target
		base        uint64
	}{
		{"software, caches", "preset: bf3", func(l *lab) mem.Target { return l.memory() }, 0},
		{"host root, caches", "preset: bf3", func(l *lab) mem.Target { return l.memory().behind(nicspec.EndpointHost) }, host},
		{"host root, machine", "preset: bf2-cores", func(l *lab) mem.Target { return l.memory().behind(nicspec.EndpointHost) }, host},
		{"host root, half a GPU", gpu, func(l *lab) mem.Target { return l.memory().behind(nicspec.EndpointHost) }, host + 1<<30 - 500},
		{"Arm core, host memory", "preset: bf2-cores", func(l *lab) mem.Target {
			c, err := l.memory().Host(nicspec.EndpointArm).Core(0, 0)
			require.NoError(t, err)
			return c.TLB
		}, host},
	} {
		memtest.RunContract(t, x.name, func() (*memtest.Bench, error) {
			l := newLab(t, x.board)
			return &memtest.Bench{Target: x.target(l), Peek: l.memory().Read, Base: x.base, Size: 1000, Window: 1000, Nowhere: []uint64{mem.Bus(2, 0), host + 1<<40}, Step: func() (bool, error) {
				err := l.RunUntil(l.Now() + 30*ns)
				return l.Next() != nil, err
			}}, nil
		})
	}
}

func (l *lab) memory() *Memory { return l.rack.Cards()[0].Memory }

// GPUs are reached through the root beside DRAM, too, where no cache stands before that.
func TestGPUsBesideDRAMAlone(t *testing.T) {
	space, err := mem.NewSpace(1<<20, 1<<20)
	require.NoError(t, err)
	g, err := gpu.Preset("gen5")
	require.NoError(t, err)
	d, err := dram.Preset("bf3")
	require.NoError(t, err)
	g.Base, g.Bytes = mem.Bus(nicspec.EndpointHost, 1<<30), 1<<20
	m, e := newMemory(space), simcore.NewEngine()
	require.NoError(t, m.put(e, "Host", nicspec.EndpointHost, &MemorySpec{GPUs: []gpu.Spec{g}, DRAM: &d}))
	require.Implements(t, (*mem.Holder)(nil), m.behind(nicspec.EndpointHost), "DRAM can be full")
	for _, addr := range []uint64{g.Base, mem.Bus(nicspec.EndpointHost, 0)} {
		done := false
		m.behind(nicspec.EndpointHost).Access(&mem.Access{Op: mem.Write, Addr: addr, Data: make([]byte, 64), Done: func(a *mem.Access) {
			done = true
			require.NoError(t, a.Err)
		}})
		require.NoError(t, e.Run())
		require.True(t, done)
	}
	require.Zero(t, m.Stray())
}
