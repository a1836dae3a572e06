package rnic

import (
	"math/rand/v2"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
)

// leak is a component in the middle of a cable that loses frames.
type leak struct {
	*sim.ComponentBase
	s     simcore.Scheduler
	ports [2]*simcore.Port
	pool  *msg.Frames
	rng   *rand.Rand // nil: nothing is lost
	lost  int
	mark  func(frame []byte) // changes frames on their way; nil: they stay as they are
}

func (l *leak) Handle(sim.Event) error                  { return nil }
func (l *leak) NotifyPortFree(sim.VTimeInSec, sim.Port) {}

func (l *leak) NotifyRecv(now sim.VTimeInSec, p sim.Port) {
	to := l.ports[0]
	if p == sim.Port(l.ports[0]) {
		to = l.ports[1]
	}
	for m := p.Retrieve(now); m != nil; m = p.Retrieve(now) {
		f := m.(*msg.Frame)
		if l.rng != nil && l.rng.IntN(100) < 4 || !to.CanSend() {
			l.lost++
			l.pool.Put(f)
			continue
		}
		if l.mark != nil {
			l.mark(f.Data)
		}
		to.SendAt(f, simcore.Now(l.s))
	}
}

// Over a cable that loses frames, everything must arrive once and complete, thanks to timers and
// NAKs.
func TestLossyCable(t *testing.T) {
	l := &leak{ComponentBase: sim.NewComponentBase("Leak"), rng: rand.New(rand.NewPCG(7, 7))}
	leaky := newRig(t, 2, testSpec(), l)
	for _, h := range leaky.hosts {
		h.region(arm)
		h.region(hst)
	}
	a, b := leaky.hosts[0].qp(rnicspec.RC, arm), leaky.hosts[1].qp(rnicspec.RC, arm)
	connect(a, b, 1024)
	const n, each = 30, 9000
	src, dst := a.h.alloc(arm, n*each), b.h.alloc(hst, n*each)
	into, buf := a.h.alloc(arm, n*each), b.h.alloc(arm, n*each)
	sent := a.h.fill(src, n*each, 1)
	for i := range uint64(n) / 2 {
		b.postRecv(rnicspec.RecvWQE{ID: i, VA: buf + i*each, Length: each, Key: keyA})
	}
	for i := range uint64(n) {
		w := rnicspec.WQE{Opcode: rnicspec.Write, ID: i, Flags: sig, Length: each, LocalVA: src + i*each,
			LocalKey: keyA, RemoteVA: dst + i*each, RemoteKey: keyH}
		if i%2 == 1 {
			w.Opcode = rnicspec.Send
		}
		a.put(w)
	}
	a.ring()
	leaky.run()
	for i := range uint64(n) / 2 {
		a.put(rnicspec.WQE{Opcode: rnicspec.Read, ID: n + i, Flags: sig, Length: each, LocalVA: into + 2*i*each,
			LocalKey: keyA, RemoteVA: dst + 2*i*each, RemoteKey: keyH})
	}
	a.ring()
	leaky.run()
	got := a.poll()
	require.Len(t, got, n+n/2)
	for i, c := range got {
		require.Equal(t, rnicspec.CQE{ID: uint64(i), QPN: 1, Opcode: c.Opcode, Bytes: c.Bytes, Phase: true}, c)
	}
	for i := range n / 2 {
		require.Equal(t, sent[2*i*each:][:each], b.h.bytes(dst+uint64(2*i*each), each))
		require.Equal(t, sent[(2*i+1)*each:][:each], b.h.bytes(buf+uint64(i*each), each))
		require.Equal(t, sent[2*i*each:][:each], a.h.bytes(into+uint64(2*i*each), each))
	}
	require.Len(t, b.poll(), n/2)
	t.Log(l.lost, "frames lost,", a.h.nic.Counter(rnicspec.CntRetries), "retries")
	require.Less(t, 10, l.lost)
	for _, h := range leaky.hosts {
		require.False(t, h.nic.Busy())
		require.Equal(t, h.nic.spec.Table, h.nic.table.free)
		require.Equal(t, [2]int{}, h.nic.contexts.used)
	}
}

// A SEND that finds no receive entry must get an RNR NAK, and be repeated after one has been
// posted.
func TestReceiverNotReady(t *testing.T) {
	r, a, b := connected(t, rnicspec.RC, testSpec())
	src, buf := a.h.alloc(arm, 4096), b.h.alloc(arm, 4096)
	sent := a.h.fill(src, 3000, 1)
	a.post(rnicspec.WQE{Opcode: rnicspec.Send, Flags: sig, Length: 3000, LocalVA: src, LocalKey: keyA})
	require.NoError(t, r.e.RunUntil(r.e.Now()+100*simcore.Microsecond))
	require.NotZero(t, b.h.nic.Counter(rnicspec.CntRNR))
	require.Empty(t, a.poll())
	b.postRecv(rnicspec.RecvWQE{VA: buf, Length: 4096, Key: keyA})
	r.run()
	require.Len(t, a.poll(), 1)
	require.Equal(t, sent, b.h.bytes(buf, 3000))
}

// Access to absent memory must fail the queue pair whose DMA made it, and no other.
func TestNoMemory(t *testing.T) {
	r, a, b := connected(t, rnicspec.RC, testSpec())
	x, y := a.h.qp(rnicspec.RC, arm), b.h.qp(rnicspec.RC, arm)
	connect(x, y, 1024)
	const key, nowhere = 99, 1 << 40
	a.h.do(&rnicspec.CreateMR{Key: key, Access: rnicspec.AllAccess, PageLog: 21, VA: 0, Bus: nowhere, Bytes: 1 << 20})
	remote := b.h.alloc(arm, 4096)
	a.post(rnicspec.WQE{Opcode: rnicspec.Write, ID: 5, Length: 64, LocalKey: key, RemoteVA: remote, RemoteKey: keyA})
	x.post(rnicspec.WQE{Opcode: rnicspec.Write, ID: 6, Flags: sig, Length: 64, LocalVA: remote, LocalKey: keyA,
		RemoteVA: remote, RemoteKey: keyA})
	r.run()
	require.Equal(t, rnicspec.LocalProtection, a.poll()[0].Status)
	require.Equal(t, rnicspec.OK, x.poll()[0].Status)
	require.EqualValues(t, rnicspec.Failed, a.h.do(&rnicspec.QueryQP{QPN: a.n}))
	require.EqualValues(t, 1, a.h.nic.Counter(rnicspec.CntReadErrors))
	require.False(t, a.h.nic.Busy())
}

// An atomic on absent memory must end with an error, not with a value that was never read.
func TestAtomicOnNoMemory(t *testing.T) {
	r, a, b := connected(t, rnicspec.RC, testSpec())
	const key = 99
	b.h.do(&rnicspec.CreateMR{Key: key, Access: rnicspec.AllAccess, PageLog: 21, Bus: 1 << 40, Bytes: 1 << 20})
	local := a.h.alloc(arm, 4096)
	a.put(rnicspec.WQE{Opcode: rnicspec.FetchAdd, ID: 1, Length: 8, LocalVA: local, LocalKey: keyA, RemoteKey: key})
	a.put(rnicspec.WQE{Opcode: rnicspec.Read, ID: 2, Length: 8, LocalVA: local, LocalKey: keyA, RemoteVA: local,
		RemoteKey: keyA})
	a.ring()
	r.run()
	_, states := a.sends()
	require.Equal(t, []rnicspec.Status{rnicspec.RemoteOperation, rnicspec.Flushed}, states)
	require.False(t, b.h.nic.Busy())
}

// A cache miss must read context memory and delay the request by that; a hit must not.
func TestCacheMisses(t *testing.T) {
	spec := testSpec()
	r, a, b := connected(t, rnicspec.RC, spec)
	b.h.do(&rnicspec.SetContext{Addr: b.h.alloc(hst, 4096), Bytes: 4096})
	local, remote := a.h.alloc(arm, 4096), b.h.alloc(arm, 4096)
	took := func() simcore.Ps {
		from := r.e.Now()
		at := from
		stop, err := a.h.space.Watch(a.cqAddr, 64<<ringLog, func(uint64, int) { at = r.e.Now() })
		require.NoError(t, err)
		defer stop()
		a.push(rnicspec.WQE{Opcode: rnicspec.Read, Flags: sig, Length: 64, LocalVA: local, LocalKey: keyA,
			RemoteVA: remote, RemoteKey: keyA})
		r.run()
		return at - from
	}
	cold := took()
	reads := b.h.nic.Traffic().Out.Requests[hst]
	require.EqualValues(t, 2, reads, "the queue pair, and the page")
	warm := took()
	require.Equal(t, reads, b.h.nic.Traffic().Out.Requests[hst])
	require.Greater(t, cold, warm+500*simcore.Nanosecond, "a memory read is 300 ns and twice the link away")
	require.EqualValues(t, 1, b.h.nic.Counter(rnicspec.CntQPMisses))
	require.EqualValues(t, 1, b.h.nic.Counter(rnicspec.CntPageMisses))
}

func TestSpecNamesEveryField(t *testing.T) {
	for _, name := range PresetNames {
		s, err := Preset(name)
		require.NoError(t, err)
		require.NoError(t, s.Validate(), name)
	}
	_, err := Preset("connectx3")
	require.ErrorContains(t, err, `preset is "connectx3": want one of ["connectx4"`)
	var s Spec
	s.Latency.RC, s.Contexts.Reserve = -1, 5
	err = s.Validate()
	for _, field := range []string{"ports 0: want 1 to 2", "framing", "max_pmtu", "write_order", "limits[1].mps",
		"tags", "contexts.endpoint",
		"contexts.reserve", "packet_table", "latency.rc_ps -1: want", "caches.qps", "fetch", "prefetch", "tx_buffer",
		"rx_buffer", "tlp_buffer"} {
		require.ErrorContains(t, err, field)
	}
}

// The TLPs of one WRITE packet must be written in the order that the spec gives, ascending or
// descending; successive packets must be written in order in both cases.
func TestWriteOrder(t *testing.T) {
	order := func(o Order) (at []uint64) {
		spec := testSpec()
		spec.Place = o
		r, a, b := connected(t, rnicspec.RC, spec)
		src, dst := a.h.alloc(arm, 4096), b.h.alloc(hst, 4096)
		b.h.nic.Observe(func(x boundary.Crossing) {
			if x.Kind == boundary.TLPOut {
				if h := x.TLP.Parsed(); h.Kind == tlp.MWr {
					at = append(at, h.Address-dst)
				}
			}
		})
		sent := a.h.fill(src, 4096, 1)
		a.post(rnicspec.WQE{Opcode: rnicspec.Write, Length: 4096, LocalVA: src, LocalKey: keyA, RemoteVA: dst,
			RemoteKey: keyH})
		r.run()
		require.Equal(t, sent, b.h.bytes(dst, 4096))
		return at
	}
	require.Equal(t, []uint64{0, 512, 1024, 1536, 2048, 2560, 3072, 3584}, order(Ascending))
	require.Equal(t, []uint64{512, 0, 1536, 1024, 2560, 2048, 3584, 3072}, order(Descending))
}

// A spec must survive a round trip through YAML.
func TestSpecsAreYAML(t *testing.T) {
	for _, name := range PresetNames {
		s, err := Preset(name)
		require.NoError(t, err)
		text, err := yaml.Marshal(s)
		require.NoError(t, err)
		var back Spec
		require.NoError(t, yaml.Unmarshal(text, &back))
		require.Equal(t, s, back)
		require.Contains(t, string(text), "framing: infiniband")
	}
}
