package host

import (
	"errors"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "nictwin/models/fixedseed"
	"nictwin/models/msg"
	"nictwin/models/nicspec"
	"nictwin/models/simcore"
	"nictwin/models/tlp"
)

func TestSpecReportsEverything(t *testing.T) {
	err := Spec{Latency: -1, Jitter: -1}.Validate()
	for _, field := range []string{"arm_bytes", "host_bytes", "latency_ps", "jitter_ps", "tags", "reg_timeout_ps", "MPS"} {
		require.ErrorContains(t, err, field)
	}
	require.NoError(t, DefaultSpec().Validate())
}

// Memory behaves as a plain slice does.
func TestMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size = 3*pageBytes + 17
		m, want := NewMemory(size), make([]byte, size)
		for range rapid.IntRange(1, 20).Draw(t, "ops") {
			n := rapid.IntRange(0, 2*pageBytes).Draw(t, "n")
			at := rapid.IntRange(0, size-n).Draw(t, "at")
			if rapid.Bool().Draw(t, "write") {
				b := make([]byte, n)
				for i := range b {
					b[i] = byte(at + i*7)
				}
				m.Write(uint64(at), b)
				copy(want[at:], b)
			}
			got := make([]byte, n)
			m.Read(uint64(at), got)
			require.Equal(t, want[at:at+n], got)
		}
	})
	m := NewMemory(100)
	require.True(t, m.Has(100, 0))
	require.False(t, m.Has(99, 2))
	require.False(t, m.Has(1<<63, 2))
}

// requester is a device that reads and checks what comes back.
type requester struct {
	*sim.ComponentBase
	t       *testing.T
	port    *simcore.Port
	waiting map[uint8]int // bytes to come
	data    map[uint8][]byte
	order   []uint8
	regs    map[uint32]uint32
	raw     bool // completions are kept in got, whatever they are
	got     []tlp.Header
	pool    msg.TLPs
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

func board(t *testing.T, s Spec) (*simcore.Engine, *Root, *requester) {
	t.Helper()
	e := simcore.NewEngine()
	r, err := Builder{Scheduler: e, Spec: s}.Build("Root")
	require.NoError(t, err)
	q := &requester{ComponentBase: sim.NewComponentBase("NIC"), t: t, waiting: map[uint8]int{}, data: map[uint8][]byte{}, regs: map[uint32]uint32{}}
	q.port = simcore.NewPort(q, 256, "NIC.PCIe")
	_, err = simcore.Connect("Link", e, simcore.LinkSpec{Latency: 100 * simcore.Nanosecond, Rate: simcore.Gbps(400)}, r.PCIe(), q.port)
	require.NoError(t, err)
	return e, r, q
}

func (q *requester) read(tag uint8, bus uint64, n int) {
	p := new(msg.TLP)
	require.NoError(q.t, p.SetMemRead(tlp.Origin{RequesterID: nicspec.RequesterNic}, tag, bus, n))
	q.waiting[tag] = n
	require.Nil(q.t, q.port.Send(p))
}

func TestReadsComeBack(t *testing.T) {
	for _, jitter := range []simcore.Ps{0, 500 * simcore.Nanosecond} {
		s := DefaultSpec()
		s.Jitter, s.RandomCpl, s.Seed = jitter, jitter > 0, 7
		e, r, q := board(t, s)
		want := make([]byte, 4096)
		for i := range want {
			want[i] = byte(i * 13)
		}
		require.NoError(t, r.Write(Bus(1, 0x1000), want))
		for tag := range uint8(32) {
			q.read(tag, Bus(1, 0x1000+uint64(tag)*37), 500)
		}
		require.NoError(t, e.Run())
		inOrder := true
		for tag := range uint8(32) {
			require.Equal(t, want[int(tag)*37:int(tag)*37+500], q.data[tag])
			inOrder = inOrder && q.order[tag] == tag
		}
		require.Equal(t, jitter == 0, inOrder, "jitter shuffles reads, nothing else does")
		require.True(t, r.Idle())
	}
}

func TestWritesAreStoredAndWatched(t *testing.T) {
	e, r, q := board(t, DefaultSpec())
	var seen []uint64
	require.NoError(t, r.Watch(0x2000, 64, func(addr uint64, n int) { seen = append(seen, addr, uint64(n)) }))
	require.Error(t, r.Watch(0x203f, 4, nil), "overlap")
	for _, a := range []uint64{0x2001, 0x3000, Bus(1, 1<<40), Bus(7, 0)} {
		p := new(msg.TLP)
		require.NoError(t, p.SetMemWrite(tlp.Origin{RequesterID: nicspec.RequesterNic}, a, []byte{1, 2, 3, 4, 5}))
		require.Nil(t, q.port.Send(p))
	}
	require.NoError(t, e.Run())
	got := make([]byte, 6)
	require.NoError(t, r.Read(0x2000, got))
	require.Equal(t, []byte{0, 1, 2, 3, 4, 5}, got)
	require.Equal(t, []uint64{0x2001, 5}, seen)
	require.Equal(t, 2, r.Stray)
}

func TestRegisters(t *testing.T) {
	s := DefaultSpec()
	s.Tags = 2
	e, r, q := board(t, s)
	var got []uint64
	require.NoError(t, r.WriteReg32(0x10, 42))
	for range 2 {
		require.NoError(t, r.ReadReg(0x10, 4, func(v uint64, err error) { require.NoError(t, err); got = append(got, v) }))
	}
	require.ErrorIs(t, r.ReadReg(0x10, 4, nil), ErrNoTag)
	require.NoError(t, e.Run())
	require.Equal(t, []uint64{42, 42}, got)
	require.NoError(t, r.Overdue())
	_ = q
}

// A NIC that breaks the contract ends the run, with the rule.
func TestBreachesNameTheRule(t *testing.T) {
	cpl := tlp.Header{Kind: tlp.Cpl, CompleterID: nicspec.RequesterNic, RequesterID: nicspec.RequesterArm, ByteCount: 4, Status: tlp.StatusUR}
	long := tlp.Header{Kind: tlp.CplD, CompleterID: nicspec.RequesterNic, RequesterID: nicspec.RequesterArm, ByteCount: 8, Length: 2}
	stray := cpl
	stray.Tag = 3
	for _, x := range []struct {
		name  string
		hdr   *tlp.Header // nil: a header that is no TLP
		data  []byte
		rule  string
		wants string
	}{
		{"a completion nobody waits for", &stray, nil, "G2", "nobody waits for"},
		{"a register read refused", &cpl, nil, "G2", "NIC register 0x10: the NIC breaks [G2]: completed with status"},
		{"too much data", &long, make([]byte, 8), "G2", "completed with 8 bytes, want 4"},
		{"no TLP", nil, nil, "P2", "cannot read"},
	} {
		e, r, q := board(t, DefaultSpec())
		q.raw = true // it answers nothing by itself
		var regErr error
		require.NoError(t, r.ReadReg(0x10, 4, func(_ uint64, err error) { regErr = err }))
		p := q.pool.Get()
		if x.hdr != nil {
			require.NoError(t, p.SetHeader(x.hdr))
			copy(p.Own(len(x.data)), x.data)
		} else {
			p.Hdr[0] = 0xff
		}
		require.Nil(t, q.port.Send(p), x.name)
		err := errors.Join(e.Run(), r.Err(), regErr)
		var breach *ContractError
		require.ErrorAs(t, err, &breach, x.name)
		require.Equal(t, x.rule, breach.Rule, x.name)
		require.ErrorContains(t, err, x.wants, x.name)
	}
}

// A read that is not answered in time breaks a rule, too.
func TestOverdue(t *testing.T) {
	e, r, q := board(t, DefaultSpec())
	q.raw = true
	require.NoError(t, r.ReadReg(0x10, 4, func(uint64, error) {}))
	require.NoError(t, e.RunUntil(DefaultSpec().Timeout+simcore.Microsecond))
	var breach *ContractError
	require.ErrorAs(t, r.Overdue(), &breach)
	require.Equal(t, "C3", breach.Rule)
	require.ErrorContains(t, r.Overdue(), "no completion within")
}

func TestMessagesAreShown(t *testing.T) {
	e, r, q := board(t, DefaultSpec())
	var seen []tlp.Header
	var data []byte
	send := func() {
		p := new(msg.TLP)
		p.Depart = e.Now()
		require.NoError(t, p.SetVendor(tlp.Origin{RequesterID: nicspec.RequesterNic}, tlp.Vendor{Type: 1, Routing: tlp.RouteByID,
			TargetID: nicspec.RequesterArm, VendorID: nicspec.InvalidateVendor}, []byte{1, 2, 3, 4}))
		require.Nil(t, q.port.Send(p))
		require.NoError(t, e.Run())
	}
	send() // nobody looks
	r.OnMessage = func(h *tlp.Header, b []byte) {
		seen = append(seen, *h)
		data = append(data, b...)
	}
	send()
	require.Len(t, seen, 1)
	require.EqualValues(t, nicspec.InvalidateVendor, seen[0].VendorID)
	require.EqualValues(t, nicspec.InvalidateCode, seen[0].Code)
	require.Equal(t, []byte{1, 2, 3, 4}, data)
	require.NoError(t, r.Err())
}
