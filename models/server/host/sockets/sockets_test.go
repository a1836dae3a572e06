package sockets_test

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/memory/armcache"
	"nictwin/models/memory/armcache/core"
	"nictwin/models/memory/dram"
	"nictwin/models/memory/gpu"
	"nictwin/models/memory/mem"
	"nictwin/models/memory/mem/memrig"
	"nictwin/models/memory/mem/memtest"
	"nictwin/models/memory/memlink"
	"nictwin/models/memory/memmap"
	"nictwin/models/server/host/sockets"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/models/sim/simcore"
)

const (
	ns   = simcore.Nanosecond
	half = 1 << 20
)

// build makes two sockets, each with a last-level cache over DRAM over its half of a space, and a
// GPU.
func build(t testing.TB, e sim.Engine) *sockets.Sockets {
	space, err := mem.NewSpace(1<<20, 2*half)
	require.NoError(t, err)
	d, err := dram.Preset("host-op")
	require.NoError(t, err)
	var memories []mem.Target
	for _, name := range []string{"LLC[0]", "LLC[1]"} {
		ram, err := dram.Builder{Scheduler: e, Spec: d, Memory: space}.Build("DRAM")
		require.NoError(t, err)
		c, err := armcache.Builder{Scheduler: e, Memory: ram, Spec: armcache.Spec{
			Geometry: core.Geometry{SizeBytes: 1024, Ways: 4, DeviceWays: 3, Replacement: core.LRU,
				Index: core.Hashed},
			HitLatency: 10 * ns, Fetches: 3, WriteBacks: 2,
		}}.Build(name)
		require.NoError(t, err)
		memories = append(memories, c)
	}
	g, err := gpu.Preset("gen4")
	require.NoError(t, err)
	g.Base, g.Bytes = mem.Bus(2, 0), 1<<20
	card, err := gpu.Builder{Scheduler: e, Spec: g}.Build("GPU")
	require.NoError(t, err)
	link, err := sockets.LinkPreset("host-op")
	require.NoError(t, err)
	s, err := sockets.Builder{Scheduler: e, Memories: memories, Elsewhere: []memmap.Region{card.Region()},
		Spec: sockets.Spec{Base: mem.Bus(1, 0), SocketBytes: half, Link: link}}.Build("Sockets")
	require.NoError(t, err)
	return s
}

// rig is a memory as socket 1 accesses it, across the border of the sockets.
func rig(t testing.TB, e sim.Engine) *memrig.Rig {
	all := build(t, e)
	m, err := all.At(1)
	require.NoError(t, err)
	return &memrig.Rig{
		Bench: memtest.Bench{Target: m, Peek: m.Read, Base: mem.Bus(1, half-500), Size: 1000, Window: 1000,
			Nowhere: []uint64{0, mem.Bus(1, 2*half)}}, Idle: all.Idle,
		Flow: func() memrig.Flow {
			s := m.Stats()
			return memrig.Flow{Accepted: s.AcceptedBytes, Finished: s.FinishedBytes, Held: s.Held}
		},
	}
}

func TestKeepsTheProtocol(t *testing.T) { memrig.Contract(t, "over the border of the sockets", rig) }

func TestConservation(t *testing.T) { memrig.Conserve(t, rig) }

func TestNoAllocation(t *testing.T) { memrig.NoAllocation(t, 196, 100, rig) }

// An access to the remote socket must cross the link between the sockets in both directions, an
// access to the GPU the GPU's own link; both sockets must see the same bytes.
func TestWhereAnInitiatorHangs(t *testing.T) {
	e := simcore.NewEngine()
	s := build(t, e)
	var at [2]*memmap.Map
	for i := range at {
		var err error
		at[i], err = s.At(i)
		require.NoError(t, err)
	}
	b := make([]byte, 64)
	took := func(socket int, op mem.Op, addr uint64) simcore.Ps {
		began, end := e.Now(), simcore.Ps(0)
		at[socket].Access(&mem.Access{Op: op, Addr: addr, Data: b, Done: func(a *mem.Access) {
			require.NoError(t, a.Err)
			end = e.Now()
		}})
		require.NoError(t, e.Run())
		require.True(t, s.Idle())
		return end - began
	}
	own, remote, far := mem.Bus(1, 0), mem.Bus(1, half), mem.Bus(2, 64)
	b[0] = 7
	require.Equal(t, 10*ns, took(0, mem.Write, own))
	crossing := took(0, mem.Write, remote) - 10*ns
	require.Equal(t, 60*ns+(64+8+8)*8*1000/499, crossing)
	b[0] = 0
	require.Equal(t, 10*ns, took(1, mem.Read, remote))
	require.EqualValues(t, 7, b[0])
	require.Equal(t, crossing+10*ns, took(1, mem.Read, own))
	took(1, mem.Write, far)
	require.Greater(t, took(0, mem.Read, far), 1000*ns)
	require.Equal(t, []int{0, 1, -1, -1}, []int{s.Home(own), s.Home(remote), s.Home(far), s.Home(5)})
	links := s.Links()
	require.Len(t, links, 2)
	require.EqualValues(t, 64, links[0].Stats().FinishedBytes)
	_, err := s.At(2)
	require.ErrorContains(t, err, "want 0 to 1")
}

// Responses to one socket must share the bandwidth of requests from the other.
func TestTheLinkIsShared(t *testing.T) {
	load := func(both bool) simcore.Ps {
		e := simcore.NewEngine()
		space, err := mem.NewSpace(1, 2*half)
		require.NoError(t, err)
		s, err := sockets.Builder{Scheduler: e, Memories: []mem.Target{space, space},
			Spec: sockets.Spec{Base: mem.Bus(1, 0), SocketBytes: half,
				Link: memlink.Spec{Rate: simcore.Gbps(8)}}}.Build("Sockets")
		require.NoError(t, err)
		var end simcore.Ps
		issue := func(socket int, op mem.Op, addr uint64) {
			m, err := s.At(socket)
			require.NoError(t, err)
			m.Access(&mem.Access{Op: op, Addr: addr, Data: make([]byte, 1000), Done: func(*mem.Access) {
				end = e.Now()
			}})
		}
		issue(0, mem.Write, mem.Bus(1, half))
		if both {
			issue(1, mem.Read, mem.Bus(1, 0))
		}
		require.NoError(t, e.Run())
		return end
	}
	require.Equal(t, 1000*ns, load(false))
	require.Equal(t, 2000*ns, load(true))
}

func TestSpec(t *testing.T) {
	e := simcore.NewEngine()
	good := sockets.Spec{SocketBytes: 64}
	for _, x := range []struct {
		b       sockets.Builder
		wantErr string
	}{
		{sockets.Builder{Scheduler: e}, "socket_bytes 0"},
		{sockets.Builder{Scheduler: e, Spec: good}, "0 memories"},
		{sockets.Builder{Spec: good, Memories: []mem.Target{mem.NewSparse(1), mem.NewSparse(1)}}, "no scheduler"},
		{sockets.Builder{Scheduler: e, Spec: good, Memories: []mem.Target{nil}}, "has no memory"},
		{sockets.Builder{Scheduler: e, Spec: sockets.Spec{SocketBytes: 64, Link: memlink.Spec{Latency: -1}}},
			"link.latency_ps"},
	} {
		_, err := x.b.Build("Sockets")
		require.ErrorContains(t, err, x.wantErr)
	}
	_, err := sockets.LinkPreset("x")
	require.ErrorContains(t, err, "want one of [host-ce")
}
