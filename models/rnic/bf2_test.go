package rnic

import (
	"fmt"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/fabric/nicswitch"
	"nictwin/models/fabric/pcielink"
	"nictwin/models/fabric/root"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
)

// newBF2 makes n cards of the off-path study. The NIC sits behind a switch with a shared NIC-side
// channel; the Arm is connected to it without PCIe, with an MPS of 128 B, the host by PCIe 4.0 x16,
// with 512 B.
func newBF2(t testing.TB, n int, specs ...Spec) *rig { return newEmptyRig(t).addBF2(n, specs...) }

func (r *rig) addBF2(n int, specs ...Spec) *rig {
	t := r.t
	for i := range n {
		spec := specs[min(i, len(specs)-1)]
		name := fmt.Sprintf("BF2[%d]", i)
		sw, err := nicswitch.Preset("bf2")
		require.NoError(t, err)
		s, err := nicswitch.Builder{Scheduler: r.any, Spec: sw, TLPs: &r.pools.TLPs}.Build(name + ".Switch")
		require.NoError(t, err)
		h := &host{}
		h.space, err = mem.NewSpace(1<<30, 1<<30)
		require.NoError(t, err)
		for ep, side := range []string{nicswitch.PortArm, nicswitch.PortHost} {
			rs := root.DefaultSpec()
			rs.Limits, rs.Latency = spec.Limits[ep], 80*simcore.Nanosecond
			id := []uint16{nicspec.RequesterArm, nicspec.RequesterHost}[ep]
			x, err := root.Builder{Scheduler: r.any, Spec: rs, Memory: h.space, TLPs: &r.pools.TLPs,
				Requesters: []uint16{id}}.Build(name + "." + side + "Root")
			require.NoError(t, err)
			h.roots = append(h.roots, x)
			if ep == nicspec.EndpointArm {
				fabric := simcore.LinkSpec{Latency: 50 * simcore.Nanosecond, Rate: sw.NICRate, Credits: 256,
					CreditLatency: 50 * simcore.Nanosecond}
				_, err = simcore.Connect(name+".ArmLink", r.any, fabric, s.Port(side), x.PCIe())
			} else {
				var ls pcielink.Spec
				ls, err = pcielink.Preset("bf2-host")
				require.NoError(t, err)
				var l *pcielink.Link
				l, err = pcielink.Builder{Scheduler: r.any, Spec: ls}.Build(name + ".HostLink")
				require.NoError(t, err)
				err = l.Connect(s.Port(side), x.PCIe())
			}
			require.NoError(t, err)
		}
		h.nic, err = Builder{Scheduler: r.any, Spec: spec, Frames: &r.pools.Frames, TLPs: &r.pools.TLPs}.Build(name +
			".NIC")
		require.NoError(t, err)
		_, err = simcore.Connect(name+".NICLink", r.any, board.NICLinkSpec(), s.Port(nicswitch.PortNIC), h.nic.PCIe())
		require.NoError(t, err)
		r.add(h)
		h.region(arm)
		h.region(hst)
	}
	r.cable()
	return r
}

// Table 3 of the off-path study: N bytes to or from an endpoint must take ⌈N/MPS⌉ PCIe packets with
// data.
func TestPacketCounts(t *testing.T) {
	spec, err := Preset("bluefield2")
	require.NoError(t, err)
	spec.Ports = 1
	for _, o := range []rnicspec.Opcode{rnicspec.Read, rnicspec.Write} {
		for _, ep := range []int{arm, hst} {
			for _, n := range []int{64, 512, 1000, 4096, 256 << 10} {
				r := newBF2(t, 2, spec)
				a, b := r.hosts[0].qp(rnicspec.RC, arm), r.hosts[1].qp(rnicspec.RC, arm)
				connect(a, b, 4096)
				local, remote := a.h.alloc(arm, 1<<20), b.h.alloc(ep, 1<<20)
				before := b.h.nic.Traffic()
				a.post(rnicspec.WQE{Opcode: o, Flags: sig, Length: uint32(n), LocalVA: local, LocalKey: keyA,
					RemoteVA: remote, RemoteKey: uint32(ep + 1)})
				r.run()
				require.Equal(t, rnicspec.OK, a.poll()[0].Status)
				after := b.h.nic.Traffic()
				d, was := after.Out, before.Out
				if o == rnicspec.Read {
					d, was = after.In, before.In
				}
				mps := spec.Limits[ep].MPS
				require.EqualValues(t, (n+mps-1)/mps, d.Data[ep]-was.Data[ep], "%v of %d B, endpoint %d", o, n, ep)
				require.EqualValues(t, (n+3)&^3, d.Bytes[ep]-was.Bytes[ep])
			}
		}
	}
}

// A transfer from the Arm to the host through the NIC must cross the NIC's port twice: in pieces of
// the Arm's MPS, and of the host's.
func TestLoopbackPacketCounts(t *testing.T) {
	spec, err := Preset("bluefield2")
	require.NoError(t, err)
	spec.Ports = 1
	r := newBF2(t, 1, spec)
	h := r.hosts[0]
	soc, host := h.qp(rnicspec.RC, arm), h.qp(rnicspec.RC, hst)
	connect(soc, host, 4096)
	const n = 256 << 10
	from, to := h.alloc(arm, n), h.alloc(hst, n)
	sent := h.fill(from, n, 6)
	before := h.nic.Traffic()
	soc.push(rnicspec.WQE{Opcode: rnicspec.Write, Flags: sig, Length: n, LocalVA: from, LocalKey: keyA, RemoteVA: to,
		RemoteKey: keyH})
	r.run()
	after := h.nic.Traffic()
	require.Equal(t, sent, h.bytes(to, n))
	require.EqualValues(t, n/128, after.In.Data[arm]-before.In.Data[arm])
	require.EqualValues(t, n/512, after.Out.Data[hst]-before.Out.Data[hst])
	require.EqualValues(t, n, after.In.Bytes[arm]-before.In.Bytes[arm])
	require.EqualValues(t, n, after.Out.Bytes[hst]-before.Out.Bytes[hst])
}

// stream posts requests of n bytes, w at a time, and returns their rate in bytes per nanosecond.
func stream(t testing.TB, spec Spec, ep int, o rnicspec.Opcode, n uint32, w int) float64 {
	r := newBF2(t, 2, spec)
	a, b := r.hosts[0].qp(rnicspec.RC, arm), r.hosts[1].qp(rnicspec.RC, arm)
	connect(a, b, 1024)
	local, remote := a.h.alloc(hst, uint64(n)), b.h.alloc(ep, uint64(n))
	for range w {
		a.put(rnicspec.WQE{Opcode: o, Flags: sig, Length: n, LocalVA: local, LocalKey: keyH, RemoteVA: remote,
			RemoteKey: uint32(ep + 1)})
	}
	from := r.e.Now()
	var at simcore.Ps
	_, err := a.h.space.Watch(a.cqAddr, 64*rnicspec.CQEBytes, func(uint64, int) { at = r.e.Now() })
	require.NoError(t, err)
	a.ring()
	r.run()
	require.Len(t, a.poll(), w)
	return float64(int(n)*w) * 1000 / float64(at-from)
}

// READs that fit the packet table must overlap. Longer ones own the table, which is filled and then
// drained, so their rate must fall towards that of one READ at a time. The host's packets are four
// times as long, so its rate must fall at four times the size. WRITEs must not be affected.
func TestPacketTable(t *testing.T) {
	spec, err := Preset("bluefield2")
	require.NoError(t, err)
	spec.Ports, spec.Line, spec.Table = 1, simcore.Gbps(200), 2048 // 256 KB for the Arm's packets, 1 MB for the host's
	fits := stream(t, spec, arm, rnicspec.Read, 192<<10, 8)
	over := stream(t, spec, arm, rnicspec.Read, 512<<10, 4)
	write := stream(t, spec, arm, rnicspec.Write, 512<<10, 4)
	t.Logf("B/ns: READ that fits %.2f, longer %.2f; WRITE %.2f", fits, over, write)
	require.Greater(t, fits, 0.85*25)
	pcie := 32.0 * 128 / (128 + 20)
	want := 1 / (1/pcie + 1/24.4)
	require.InDelta(t, want, over, 0.12*want)
	require.Greater(t, write, 0.85*25)
	host512, host2M := stream(t, spec, hst, rnicspec.Read, 512<<10, 4), stream(t, spec, hst, rnicspec.Read, 2<<20, 2)
	t.Logf("B/ns: READ from the host of 512 KB %.2f, of 2 MB %.2f", host512, host2M)
	require.Greater(t, host512, 0.85*25)
	require.Less(t, host2M, 0.7*25)
}

// One endpoint must get no more contexts than its limit, even while the other has none. The other must
// then still get the contexts reserved for it.
func TestContexts(t *testing.T) {
	var x contexts
	x.most, x.reserve = 10, 3
	grant := func(ep int) bool {
		if !x.free(ep) {
			return false
		}
		x.used[ep]++
		return true
	}
	n := 0
	for grant(0) {
		n++
	}
	require.Equal(t, 10, n)
	for grant(1) {
		n++
	}
	require.Equal(t, 13, n)
	x.used[0]--
	require.True(t, grant(1), "what is shared goes to who asks")
	require.False(t, grant(0))
}

// zeroByteRate returns the rate of zero-byte READs, in millions per second, that the second card
// answers. The requesting queue pairs belong to the given endpoints in turn.
func zeroByteRate(t *testing.T, endpoints ...int) float64 {
	spec := DefaultSpec()
	spec.Latency.RC = 200 * simcore.Nanosecond
	client := spec
	client.Contexts.Endpoint, client.Contexts.Reserve, client.PacketTime = 10_000, 0, 0 // stands for many machines
	r := newBF2(t, 2, client, spec)
	var qs []*testQP
	for i := range 128 {
		a, b := r.hosts[0].qp(rnicspec.RC, hst), r.hosts[1].qp(rnicspec.RC, endpoints[i%len(endpoints)])
		connect(a, b, 1024)
		for range 64 {
			a.put(rnicspec.WQE{Opcode: rnicspec.Read})
		}
		qs = append(qs, a)
	}
	for _, q := range qs {
		q.ring()
	}
	nic := r.hosts[1].nic
	const from, span = 10 * simcore.Microsecond, 20 * simcore.Microsecond
	require.NoError(t, r.e.RunUntil(r.e.Now()+from))
	before := nic.Counter(rnicspec.CntTxPackets)
	require.NoError(t, r.e.RunUntil(r.e.Now()+span))
	n := nic.Counter(rnicspec.CntTxPackets) - before
	r.run()
	return float64(n) / 20
}

// A zero-byte READ occupies its context for the time Contexts.Hold only. One endpoint must sustain 176 M
// requests/s; both together must reach the packet rate, not twice the rate of one.
func TestZeroByteRate(t *testing.T) {
	alone, host, both := zeroByteRate(t, arm), zeroByteRate(t, hst), zeroByteRate(t, arm, hst)
	t.Logf("M/s: Arm alone %.1f, host alone %.1f, both %.1f", alone, host, both)
	require.InDelta(t, 176, alone, 4)
	require.InDelta(t, 176, host, 4)
	require.InDelta(t, 195, both, 4)
}

// A small READ holds its context until its data has been read, so the nearer memory must sustain a
// higher rate than the host's, which is two links away.
func TestSmallReadsNearAndFar(t *testing.T) {
	rate := func(ep int) float64 {
		spec := DefaultSpec()
		client := spec
		client.Contexts.Endpoint, client.Contexts.Reserve, client.PacketTime = 10_000, 0, 0
		r := newBF2(t, 2, client, spec)
		var qs []*testQP
		for range 64 {
			a, b := r.hosts[0].qp(rnicspec.RC, hst), r.hosts[1].qp(rnicspec.RC, ep)
			connect(a, b, 1024)
			local, remote := a.h.alloc(hst, 64), b.h.alloc(ep, 64)
			for range 64 {
				a.put(rnicspec.WQE{Opcode: rnicspec.Read, Length: 64, LocalVA: local, LocalKey: keyH, RemoteVA: remote,
					RemoteKey: uint32(ep + 1)})
			}
			qs = append(qs, a)
		}
		for _, q := range qs {
			q.ring()
		}
		nic := r.hosts[1].nic
		require.NoError(t, r.e.RunUntil(r.e.Now()+10*simcore.Microsecond))
		before := nic.Counter(rnicspec.CntTxPackets)
		require.NoError(t, r.e.RunUntil(r.e.Now()+10*simcore.Microsecond))
		n := nic.Counter(rnicspec.CntTxPackets) - before
		r.run()
		return float64(n) / 10
	}
	near, far := rate(arm), rate(hst)
	t.Logf("M/s: Arm %.1f, host %.1f", near, far)
	require.Greater(t, near, 1.08*far)
	require.Less(t, near, 1.9*far)
}

// Akita's engine must give the same events at the same times.
func TestOnAkitasEngine(t *testing.T) {
	play := func(r *rig) (uint32, simcore.Ps) {
		spec := DefaultSpec()
		r.addBF2(2, spec)
		a, b := r.hosts[0].qp(rnicspec.RC, hst), r.hosts[1].qp(rnicspec.RC, arm)
		connect(a, b, 1024)
		src, dst := a.h.alloc(hst, 1<<16), b.h.alloc(arm, 1<<16)
		sent := a.h.fill(src, 1<<16, 5)
		a.push(rnicspec.WQE{Opcode: rnicspec.Write, Flags: sig, Length: 1 << 16, LocalVA: src, LocalKey: keyH,
			RemoteVA: dst, RemoteKey: keyA})
		r.run()
		require.Equal(t, sent, b.h.bytes(dst, 1<<16))
		require.Len(t, a.poll(), 1)
		return r.digest, simcore.Now(r.any)
	}
	ours, at := play(newEmptyRig(t))
	theirs, when := play(&rig{t: t, any: sim.NewSerialEngine(), pools: new(board.Pools)})
	require.Equal(t, ours, theirs)
	require.Equal(t, at, when)
}
