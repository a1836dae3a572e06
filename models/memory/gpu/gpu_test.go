package gpu_test

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/memory/gpu"
	"nictwin/models/memory/mem"
	"nictwin/models/memory/mem/memrig"
	"nictwin/models/memory/mem/memtest"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/models/sim/simcore"
)

const ns = simcore.Nanosecond

func build(t testing.TB, e sim.Engine) *gpu.Memory {
	s, err := gpu.Preset("gen4")
	require.NoError(t, err)
	s.Base, s.Bytes = mem.Bus(1, 1<<40), 1<<20
	m, err := gpu.Builder{Scheduler: e, Spec: s}.Build("GPU")
	require.NoError(t, err)
	return m
}

func rig(t testing.TB, e sim.Engine) *memrig.Rig {
	m := build(t, e)
	return &memrig.Rig{
		Bench: memtest.Bench{Target: m, Peek: m.Read, Base: mem.Bus(1, 1<<40), Size: 1 << 20, Ends: true,
			Nowhere: []uint64{0, mem.Bus(3, 0)}}, Idle: m.Idle,
		Flow: func() memrig.Flow {
			s := m.Stats()
			return memrig.Flow{Accepted: s.AcceptedBytes, Finished: s.FinishedBytes, Held: s.Held}
		},
	}
}

func TestKeepsTheProtocol(t *testing.T) { memrig.Contract(t, "gpu", rig) }

func TestConservation(t *testing.T) { memrig.Conserve(t, rig) }

func TestNoAllocation(t *testing.T) { memrig.NoAllocation(t, 96, 1000, rig) }

// TestMemory checks the times of accesses, the calls of watchers, and the backdoor.
func TestMemory(t *testing.T) {
	e := simcore.NewEngine()
	m := build(t, e)
	r := m.Region()
	require.Equal(t, mem.Bus(1, 1<<40), r.Base)
	var notified []simcore.Ps
	_, err := m.Watch(r.Base, 64, func(uint64, int) { notified = append(notified, e.Now()) })
	require.NoError(t, err)
	m.OnWrite(func(uint64, int) { notified = append(notified, -1) })
	var end simcore.Ps
	m.Access(&mem.Access{Op: mem.Write, Addr: r.Base, Data: make([]byte, 1000), Done: func(*mem.Access) {
		end = e.Now()
	}})
	require.NoError(t, e.Run())
	require.Equal(t, []simcore.Ps{-1, 32*ns + 300*ns + 400*ns}, notified) // 1,024 B at 32 B/ns
	require.Equal(t, notified[1]+750+300*ns, end)
	require.NoError(t, m.Write(r.Base+5, []byte{9}))
	b := make([]byte, 1)
	require.NoError(t, m.Read(r.Base+5, b))
	require.Equal(t, []byte{9}, b)
	require.ErrorIs(t, m.Read(5, b), mem.ErrNoMemory)
}

func TestSpec(t *testing.T) {
	err := gpu.Spec{Latency: -1}.Validate()
	require.ErrorContains(t, err, "bytes 0: want 1 to 2^56, from 0x0 (base) on")
	require.ErrorContains(t, err, "latency_ps -1")
	_, err = gpu.Preset("x")
	require.ErrorContains(t, err, "want gen4 or gen5")
	_, err = gpu.Builder{}.Build("GPU")
	require.ErrorContains(t, err, "no scheduler")
	_, err = gpu.Builder{Scheduler: simcore.NewEngine()}.Build("GPU")
	require.ErrorContains(t, err, "GPU: bytes 0")
	g, err := gpu.Preset("gen5")
	require.NoError(t, err)
	g.Bytes = 1
	require.NoError(t, g.Validate())
}
