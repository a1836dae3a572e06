package root_test

import (
	"errors"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/fabric/root"
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

func TestSpecReportsEverything(t *testing.T) {
	err := root.Spec{Latency: -1, Split: 9, Ahead: -1}.Validate()
	for _, field := range []string{"latency_ps", "split", "ahead", "tags", "reg_timeout_ps", "limits.mps"} {
		require.ErrorContains(t, err, field)
	}
	require.NoError(t, root.DefaultSpec().Validate())
	_, err = root.Builder{Scheduler: simcore.NewEngine(), Spec: root.DefaultSpec()}.Build("Root")
	require.ErrorContains(t, err, "no memory")
}

// requester is a device that reads memory and checks the completions.
type requester struct {
	*sim.ComponentBase
	t       *testing.T
	port    *simcore.Port
	waiting map[uint8]int // by tag: bytes still to come
	data    map[uint8][]byte
	order   []uint8
	regs    map[uint32]uint32
	raw     bool // keep all completions in `got`, without checks
	got     []tlp.Header
	pool    msg.TLPs
	tag     uint8 // tag of the previous completion
	mixed   int   // completions that arrived between those of another read
}

func (q *requester) Handle(sim.Event) error                  { return nil }
func (q *requester) NotifyPortFree(sim.VTimeInSec, sim.Port) {}
func (q *requester) NotifyRecv(now sim.VTimeInSec, port sim.Port) {
	p := port.Retrieve(now).(*msg.TLP)
	h, err := p.Header()
	require.NoError(q.t, err)
	if q.raw {
		q.got = append(q.got, h)
		return
	}
	switch h.Kind {
	case tlp.CplD, tlp.Cpl:
		left := q.waiting[h.Tag]
		if h.Tag != q.tag && q.waiting[q.tag] > 0 && len(q.data[q.tag]) > 0 {
			q.mixed++
		}
		q.tag = h.Tag
		require.EqualValues(q.t, left, h.ByteCount)
		lead := int(h.LowerAddr & (tlp.DWBytes - 1))
		b := p.Data[lead:min(len(p.Data), lead+left)]
		q.data[h.Tag] = append(q.data[h.Tag], b...)
		if q.waiting[h.Tag] = left - len(b); len(b) == left {
			q.order = append(q.order, h.Tag)
		}
	case tlp.MWr:
		q.regs[uint32(h.Address-nicspec.BarBase)] = uint32(p.Data[0])
	case tlp.MRd:
		c, err := tlp.NewCompleter(nicspec.RequesterNic, tlp.DefaultLimits(), tlp.CplLongest, 0)
		require.NoError(q.t, err)
		r, err := c.Begin(&h)
		require.NoError(q.t, err)
		for r.More() {
			p := q.pool.Get()
			require.NoError(q.t, r.Fill(&p.Packet, func(addr uint64, dst []byte) error {
				dst[0] = byte(q.regs[uint32(addr-nicspec.BarBase)])
				return nil
			}))
			p.Depart = simcore.FromSec(now)
			require.Nil(q.t, q.port.Send(p))
		}
	}
}

// bench is a root over both endpoints' memories, connected to a requester.
type bench struct {
	*simcore.Engine
	root *root.Root
	mem  *mem.Space
	arm  *root.MMIO
	dev  *requester
}

func newBench(t *testing.T, s root.Spec) *bench { return delayed(t, s, inject.DelaySpec{}) }

// delayed returns a bench with a delay in front of the memories.
func delayed(t *testing.T, s root.Spec, d inject.DelaySpec) *bench {
	t.Helper()
	b := &bench{Engine: simcore.NewEngine()}
	var err error
	b.mem, err = mem.NewSpace(1<<30, 1<<30)
	require.NoError(t, err)
	slow, err := inject.NewDelay("Delay", b, d, b.mem)
	require.NoError(t, err)
	b.root, err = root.Builder{Scheduler: b, Spec: s, Memory: slow}.Build("Root")
	require.NoError(t, err)
	b.arm = b.root.MMIO(nicspec.RequesterArm)
	b.dev = &requester{ComponentBase: sim.NewComponentBase("NIC"), t: t, waiting: map[uint8]int{},
		data: map[uint8][]byte{}, regs: map[uint32]uint32{}}
	b.dev.port = simcore.NewPort(b.dev, 256, "NIC.PCIe")
	_, err = simcore.Connect("Link", b, simcore.LinkSpec{Latency: 100 * simcore.Nanosecond, Rate: simcore.Gbps(400)},
		b.root.PCIe(), b.dev.port)
	require.NoError(t, err)
	return b
}

func (q *requester) read(tag uint8, bus uint64, n int) {
	p := new(msg.TLP)
	require.NoError(q.t, p.SetMemRead(tlp.Origin{RequesterID: nicspec.RequesterNic}, tag, bus, n))
	q.waiting[tag] = n
	require.Nil(q.t, q.port.Send(p))
}

func TestReadsComeBack(t *testing.T) {
	for i, d := range []inject.DelaySpec{{}, {Latency: 70 * simcore.Nanosecond},
		{Jitter: 500 * simcore.Nanosecond, Seed: 7},
		{Jitter: 500 * simcore.Nanosecond, Seed: 7}} {
		s := root.DefaultSpec()
		s.Ahead = i / 2 * (i - 1) // Ahead is 0, 0, 1 and 2
		s.Split, s.Seed = tlp.CplRandom, 7
		b := delayed(t, s, d)
		want := make([]byte, 4096)
		for i := range want {
			want[i] = byte(i * 13)
		}
		require.NoError(t, b.mem.Write(mem.Bus(1, 0x1000), want))
		for tag := range uint8(32) {
			b.dev.read(tag, mem.Bus(1, 0x1000+uint64(tag)*37), 500)
		}
		require.NoError(t, b.RunUntil(150*simcore.Nanosecond))
		require.False(t, b.root.Idle())
		require.NoError(t, b.Run())
		inOrder := true
		for tag := range uint8(32) {
			require.Equal(t, want[int(tag)*37:int(tag)*37+500], b.dev.data[tag])
			inOrder = inOrder && b.dev.order[tag] == tag
		}
		require.Equal(t, d.Jitter == 0, inOrder, "jitter shuffles reads, nothing else does")
		require.Equal(t, d.Jitter > 0, b.dev.mixed > 0, "completions of a read came between those of another")
		require.True(t, b.root.Idle())
	}
}

// The error of a memory access must become the status of its completion, whatever happened to the
// read's other completions.
func TestStatusOfReads(t *testing.T) {
	const at = 0x1000
	for _, x := range []struct {
		name string
		err  error
		want []tlp.Status // statuses of the completions of a read of 500 B with MPS 128, whose second access fails
		ep   bool
	}{
		{"nothing there", mem.ErrNoMemory, []tlp.Status{tlp.StatusSC, tlp.StatusUR}, false},
		{"aborted", mem.ErrAborted, []tlp.Status{tlp.StatusSC, tlp.StatusCA}, false},
		{"poisoned", mem.ErrPoisoned, []tlp.Status{tlp.StatusSC, tlp.StatusSC, tlp.StatusSC, tlp.StatusSC}, true},
	} {
		for _, late := range []bool{false, true} {
			e := simcore.NewEngine()
			s := root.DefaultSpec()
			s.Limits.MPS = 128
			fails := &failing{at: at + 128, err: x.err}
			r, err := root.Builder{Scheduler: e, Spec: s, Memory: fails}.Build("Root")
			require.NoError(t, err)
			q := &requester{ComponentBase: sim.NewComponentBase("NIC"), t: t, raw: true, waiting: map[uint8]int{}}
			q.port = simcore.NewPort(q, 256, "NIC.PCIe")
			_, err = simcore.Connect("Link", e, simcore.LinkSpec{}, r.PCIe(), q.port)
			require.NoError(t, err)
			fails.late = late
			q.read(1, at, 500)
			require.NoError(t, e.Run())
			if late {
				require.False(t, r.Idle())
				require.Empty(t, q.got, "memory was not done")
				require.Len(t, fails.pending, 4, "all data of a read is requested at once")
				for _, i := range []int{2, 1, 3, 0} { // complete the accesses out of order
					fails.finish(fails.pending[i])
				}
				require.NoError(t, e.Run())
			}
			require.True(t, r.Idle())
			var got []tlp.Status
			for _, h := range q.got {
				got = append(got, h.Status)
			}
			require.Equal(t, x.want, got, "%s, late %v", x.name, late)
			require.Equal(t, x.ep, q.got[1].EP, x.name)
		}
	}
}

// failing is a memory in which reads of one address fail.
type failing struct {
	at      uint64
	err     error
	late    bool
	pending []*mem.Access
}

func (f *failing) Check(mem.Op, uint64, int) error { return nil }

func (f *failing) Access(a *mem.Access) {
	if f.pending = append(f.pending, a); !f.late {
		f.finish(a)
	}
}

func (f *failing) finish(a *mem.Access) {
	if a.Addr == f.at {
		a.Finish(f.err)
	} else {
		a.Finish(nil)
	}
}

func TestRegisters(t *testing.T) {
	s := root.DefaultSpec()
	s.Tags = 2
	b := newBench(t, s)
	var got []uint64
	keep := func(v uint64, err error) { require.NoError(t, err); got = append(got, v) }
	host := b.root.MMIO(nicspec.RequesterHost)
	require.Same(t, host, b.root.MMIO(nicspec.RequesterHost))
	require.NoError(t, b.arm.Write32(0x10, 42))
	require.NoError(t, host.Write32(0x14, 43))
	for range 2 {
		require.NoError(t, b.arm.Read(0x10, 4, keep))
		require.NoError(t, host.Read(0x14, 4, keep)) // takes the tag of the Arm's read, with another requester ID
	}
	require.ErrorIs(t, b.arm.Read(0x10, 4, nil), root.ErrNoTag)
	require.ErrorIs(t, host.Read(0x10, 4, nil), root.ErrNoTag)
	require.False(t, b.root.Idle())
	require.NoError(t, b.Run())
	require.Equal(t, []uint64{42, 43, 42, 43}, got)
	require.NoError(t, b.root.Overdue())
	require.True(t, b.root.Idle())
}

// Completions for requester IDs that no MMIO has must go to OnCompletion.
func TestRawRequests(t *testing.T) {
	b := newBench(t, root.DefaultSpec())
	var got []tlp.Header
	b.root.OnCompletion = func(h *tlp.Header, _ []byte) { got = append(got, *h) }
	p := new(msg.TLP)
	require.NoError(t, p.SetMemRead(tlp.Origin{RequesterID: 0x333}, 77, nicspec.BarBase, 4))
	b.root.Send(p)
	require.NoError(t, b.Run())
	require.NoError(t, b.root.Err())
	require.Len(t, got, 1)
	require.Equal(t, tlp.CplD, got[0].Kind)
	require.EqualValues(t, 77, got[0].Tag)
}

// A NIC that breaks the contract must end the run with an error that names the rule.
func TestBreachesNameTheRule(t *testing.T) {
	cpl := tlp.Header{Kind: tlp.Cpl, CompleterID: nicspec.RequesterNic, RequesterID: nicspec.RequesterArm, ByteCount: 4,
		Status: tlp.StatusUR}
	long := tlp.Header{Kind: tlp.CplD, CompleterID: nicspec.RequesterNic, RequesterID: nicspec.RequesterArm,
		ByteCount: 8, Length: 2}
	stray := cpl
	stray.Tag = 3
	for _, x := range []struct {
		name  string
		hdr   *tlp.Header // nil: a header that cannot be decoded
		data  []byte
		rule  string
		wants string
	}{
		{"unexpected completion", &stray, nil, "G2", "unexpected completion"},
		{"a register read refused", &cpl, nil, "G2", "NIC register 0x10: the NIC breaks [G2]: completed with status"},
		{"too much data", &long, make([]byte, 8), "G2", "completed with 8 bytes, want 4"},
		{"no TLP", nil, nil, "P2", "cannot read"},
	} {
		b := newBench(t, root.DefaultSpec())
		b.dev.raw = true // the test answers in the device's place
		var regErr error
		require.NoError(t, b.arm.Read(0x10, 4, func(_ uint64, err error) { regErr = err }))
		p := b.dev.pool.Get()
		if x.hdr != nil {
			require.NoError(t, p.SetHeader(x.hdr))
			copy(p.Own(len(x.data)), x.data)
		} else {
			p.Hdr[0] = 0xff
		}
		require.Nil(t, b.dev.port.Send(p), x.name)
		err := errors.Join(b.Run(), b.root.Err(), regErr)
		var breach *boundary.ContractError
		require.ErrorAs(t, err, &breach, x.name)
		require.Equal(t, x.rule, breach.Rule, x.name)
		require.ErrorContains(t, err, x.wants, x.name)
	}
}

// A register read that is not answered in time must be reported as a breach of a rule, too.
func TestOverdue(t *testing.T) {
	b := newBench(t, root.DefaultSpec())
	b.dev.raw = true
	require.NoError(t, b.arm.Read(0x10, 4, func(uint64, error) {}))
	require.NoError(t, b.RunUntil(root.DefaultSpec().Timeout+simcore.Microsecond))
	var breach *boundary.ContractError
	require.ErrorAs(t, b.root.Overdue(), &breach)
	require.Equal(t, "C3", breach.Rule)
	require.ErrorContains(t, b.root.Overdue(), "no completion within")
}

func TestMessagesAreShown(t *testing.T) {
	b := newBench(t, root.DefaultSpec())
	var seen []tlp.Header
	var data []byte
	send := func() {
		p := new(msg.TLP)
		p.Depart = b.Now()
		require.NoError(t, p.SetVendor(tlp.Origin{RequesterID: nicspec.RequesterNic},
			tlp.Vendor{Type: 1, Routing: tlp.RouteByID,
				TargetID: nicspec.RequesterArm, VendorID: nicspec.InvalidateVendor}, []byte{1, 2, 3, 4}))
		require.Nil(t, b.dev.port.Send(p))
		require.NoError(t, b.Run())
	}
	send() // without OnMessage
	b.root.OnMessage = func(h *tlp.Header, b []byte) {
		seen = append(seen, *h)
		data = append(data, b...)
	}
	send()
	require.Len(t, seen, 1)
	require.EqualValues(t, nicspec.InvalidateVendor, seen[0].VendorID)
	require.EqualValues(t, nicspec.InvalidateCode, seen[0].Code)
	require.Equal(t, []byte{1, 2, 3, 4}, data)
	require.NoError(t, b.root.Err())
}
