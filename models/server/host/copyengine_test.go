package host_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/memory/mem"
	"nictwin/models/memory/memmap"
	"nictwin/models/server/cpu"
	"nictwin/models/server/cpu/tlb"
	"nictwin/models/server/host"
	"nictwin/models/server/host/dsa"
	"nictwin/models/sim/simcore"
)

// newEngines returns a server whose sockets have copy engines.
func newEngines(t *testing.T, e *simcore.Engine, d dsa.Spec) *rig {
	spec, err := host.Preset("host-fn", mem.Bus(1, 0), tlb.Page4K)
	require.NoError(t, err)
	spec.SocketBytes, spec.TLB.Covers = half, half*uint64(spec.Sockets)
	spec.TLB.Tables = mem.Bus(1, half/2)
	spec.DSA = &d
	require.NoError(t, spec.Validate())
	space, err := mem.NewSpace(1, 2*half)
	require.NoError(t, err)
	s, err := host.Builder{Scheduler: e, Spec: spec, Memory: space, Elsewhere: []memmap.Region(nil)}.Build("Host")
	require.NoError(t, err)
	return &rig{Engine: e, t: t, s: s}
}

// A core that stores bytes and posts descriptors must find the copies, in the memory of either
// socket, once their completion records are there; descriptors beyond the queue wait.
func TestCopyEngineServesCores(t *testing.T) {
	e := simcore.NewEngine()
	d, err := dsa.Preset("host-fn")
	require.NoError(t, err)
	d.Queue, d.Engines = 2, 1
	r := newEngines(t, e, d)
	c, portal := r.core(0, 0), r.s.DSA[1].Portal()
	const copies, n = 12, 5000
	records := mem.Bus(1, 1<<16)
	src := make([]byte, copies*n)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range src {
		src[i] = byte(rng.Uint32())
	}
	require.NoError(t, c.Store(mem.Bus(1, 1<<20), src))
	for i := range uint64(copies) {
		b := dsa.EncodeDescriptor(mem.Bus(1, 1<<20+i*n), mem.Bus(1, half-3000+i*n), n, records+i*dsa.RecordBytes)
		c.Post(portal, 0, b[:])
	}
	done := 0
	l, err := c.Add(cpu.LoopSpec{Name: "Records", Poll: 10}, func(core *cpu.Core) bool {
		var rec [dsa.RecordBytes]byte
		require.NoError(t, core.Load(records+uint64(done)*dsa.RecordBytes, rec[:]))
		if rec[0] == 0 {
			return false
		}
		require.EqualValues(t, dsa.RecordOK, rec[0])
		got := make([]byte, n)
		require.NoError(t, core.Load(mem.Bus(1, half-3000+uint64(done)*n), got))
		require.Equal(t, src[done*n:(done+1)*n], got, "copy %d", done)
		done++
		return true
	})
	require.NoError(t, err)
	_, err = l.Watch(records, copies*dsa.RecordBytes)
	require.NoError(t, err)
	require.NoError(t, e.RunUntil(3*simcore.Microsecond))
	require.True(t, portal.Full(), "the core waits")
	require.False(t, r.s.Idle())
	r.run()
	require.Equal(t, copies, done)
	require.EqualValues(t, copies*n, r.s.DSA[1].Stats().Written)
	require.Zero(t, r.s.DSA[0].Stats().Submitted)
	require.NoError(t, c.Err())
}

// A write to the portal that is no valid descriptor must end the run with an error that gives the reason.
func TestCopyEngineRefuses(t *testing.T) {
	d, err := dsa.Preset("host-fn")
	require.NoError(t, err)
	good := dsa.EncodeDescriptor(mem.Bus(1, 0), mem.Bus(1, 64), 64, mem.Bus(1, 128))
	noRecord, fill, nowhere := good, good, good
	clear(noRecord[8:16])
	fill[7] = 4
	nowhere[31] = 9
	for want, post := range map[string]struct {
		off uint32
		b   []byte
	}{
		"descriptor without a completion record":            {0, noRecord[:]},
		"descriptor with operation 4: want 3, a copy":       {0, fill[:]},
		"no memory there":                                   {0, nowhere[:]},
		"write of 8 B at 0x0: want a descriptor of 64 B":    {0, good[:8]},
		"write of 64 B at 0x40: want a descriptor of 64 B ": {64, good[:]},
	} {
		e := simcore.NewEngine()
		r := newEngines(t, e, d)
		c := r.core(0, 0)
		c.Post(r.s.DSA[0].Portal(), post.off, post.b)
		require.ErrorContains(t, errors.Join(e.Run(), r.s.Err()), want)
		require.Zero(t, r.s.DSA[0].Stats().Submitted)
	}
	require.ErrorContains(t, newEngines(t, simcore.NewEngine(), d).s.DSA[0].Portal().Read(8, 4, nil),
		"read of 4 B at 0x8: want writes only")
	spec := host.Spec{DSA: &dsa.Spec{}}
	require.ErrorContains(t, spec.Validate(), "dsa.engines 0: want 1 to 64")
}
