package transport

import (
	"testing"

	"nictwin/models/format/wire"
	"nictwin/stack/verbs"
)

// nullEnv is an Env without memory. It collects the tokens of copies, which the test ends later.
type nullEnv struct {
	tokens  []Token
	atomics []Token
	grh     []Part
	done    int
	share   int // most requests, and most answers, that the nullEnv can hold, in packets; 0: no limit
	holding int // requests that it holds
	landing int // answers that it holds

	ordered bool // completions become visible behind copies
}

const keyNone = 0xbad // key of memory that must not be written

func (*nullEnv) Check(uint32, uint64, uint32, verbs.Access) bool { return true }
func (q *nullEnv) Place(_ Handle, _ []Part, t Token) bool {
	q.tokens = append(q.tokens, t)
	return q.ordered
}
func (q *nullEnv) Store(_ Span, _ uint64, t Token) { q.tokens = append(q.tokens, t) }
func (*nullEnv) Keep(Handle)                       {}
func (*nullEnv) Drop(Handle)                       {}
func (*nullEnv) CRC(Handle, int) uint32            { return 0 }
func (q *nullEnv) Atomic(_ verbs.Opcode, _ uint32, _, _, _ uint64, t Token) {
	q.atomics = append(q.atomics, t)
}
func (*nullEnv) CheckLocal(to Span) bool { return to.Key != keyNone }
func (q *nullEnv) Buffers() (share, requests, answers int) {
	return q.share, q.share - q.holding, q.share - q.landing
}
func (q *nullEnv) PlaceGRH(_ Handle, parts []Part, t Token) {
	q.tokens, q.grh = append(q.tokens, t), append(q.grh[:0], parts...)
}
func (*nullEnv) Invalidate(uint32) bool { return true }
func (q *nullEnv) Complete(*Completion) { q.done++ }
func (*nullEnv) Async(Event)            {}

// directPair is two connections without a network: each packet arrives at once, except those dropped.
type directPair struct {
	envs    [2]*nullEnv
	conns   [2]Conn
	out     Out
	p       Packet
	now     Ps
	packets int
	send    Send
	recv    Recv
	drop    int // one of this many packets is lost; 0: none
}

func newDirectPair(tb testing.TB, kind Kind, r Recovery) *directPair {
	d := &directPair{}
	for i := range 2 {
		s := DefaultSpec(kind, uint32(100+i))
		s.Recovery = r
		if kind == Solar {
			s.Window = 64
		}
		d.envs[i] = &nullEnv{}
		var err error
		if d.conns[i], err = New(s, d.envs[i], nil, nil); err != nil {
			tb.Fatal(err)
		}
		a := DefaultAttr()
		a.Path, a.DestQP = testPath(i), uint32(101-i)
		for _, to := range []verbs.State{verbs.QPSInit, verbs.QPSRTR, verbs.QPSRTS} {
			if err := d.conns[i].Modify(0, to, &a); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return d
}

// exchange passes packets on and ends copies until nothing is left to do.
func (d *directPair) exchange() {
	for busy := true; busy; {
		busy = false
		for i := range 2 {
			d.now += us
			d.conns[i].Expire(d.now)
			for d.conns[i].Next(d.now, &d.out) {
				busy = true
				d.packets++
				if d.out.Token != 0 {
					d.conns[i].Sent(d.now, d.out.Token)
				}
				if d.drop == 0 || d.packets%d.drop != 0 {
					d.carry(1 - i)
				}
			}
		}
		for i, e := range d.envs {
			for _, t := range e.tokens {
				d.conns[i].Placed(d.now, t, verbs.WCSuccess)
				busy = true
			}
			e.tokens = e.tokens[:0]
			for k := 0; k < len(e.atomics); k++ { // ending one may start the next
				d.conns[i].AtomicDone(d.now, e.atomics[k], 0, verbs.WCSuccess)
				busy = true
			}
			e.atomics = e.atomics[:0]
		}
		if at := min(d.conns[0].Deadline(), d.conns[1].Deadline()); !busy && at != Never {
			d.now, busy = at, true
		}
	}
}

func (d *directPair) carry(to int) {
	o := &d.out
	l4 := ipSize(o.Head) + udpSize
	total := len(o.Head) - l4 + o.Payload + len(o.Tail) + wire.ICRCSize
	if err := d.p.Parse(o.Head[l4:], total); err != nil {
		panic(err)
	}
	if len(o.Tail) >= SolarTrailerSize {
		d.p.SolarTrailer(o.Tail[:SolarTrailerSize])
	}
	d.conns[to].Input(d.now, &d.p)
}

// round posts n requests of an operation and runs until they have ended.
func (d *directPair) round(tb testing.TB, op verbs.Opcode, length uint32, n int) {
	x, r := &d.send, &d.recv
	*x = Send{Op: op, Flags: verbs.SendSignaled, Spans: append(x.Spans[:0], Span{Addr: 1 << 20, Len: length, Key: 1}),
		RKey: 2, RemoteAddr: 1 << 30, RemoteQP: 101}
	if _, ok := d.conns[0].(*ud); ok {
		x.AH = benchAH
	}
	r.Spans = append(r.Spans[:0], Span{Addr: 1 << 22, Len: 1 << 20, Key: 1})
	for i := range n {
		x.ID = uint64(i)
		if op.IsSend() {
			if err := d.conns[1].PostRecv(r); err != nil {
				tb.Fatal(err)
			}
		}
		if err := d.conns[0].Post(d.now, x); err != nil {
			tb.Fatal(err)
		}
	}
	before := d.envs[0].done
	d.exchange()
	if got := d.envs[0].done - before; got != n {
		tb.Fatalf("%d of %d requests ended", got, n)
	}
}

var benchAH = NewAH(testPath(0))

// cases lists what the benchmark and the allocation test play. Field `drop` has the meaning of directPair.drop.
var cases = []struct {
	name     string
	kind     Kind
	recovery Recovery
	op       verbs.Opcode
	drop     int
}{
	{"RC_WRITE", RC, GoBackN, verbs.WRWrite, 0},
	{"RC_SEND", RC, GoBackN, verbs.WRSend, 0},
	{"RC_READ", RC, GoBackN, verbs.WRRead, 0},
	{"RC_FETCH_ADD", RC, GoBackN, verbs.WRFetchAdd, 0},
	{"RC_WRITE_lossy", RC, GoBackN, verbs.WRWrite, 101},
	{"RC_WRITE_selective", RC, SelectiveRepeat, verbs.WRWrite, 0},
	{"RC_WRITE_selective_lossy", RC, SelectiveRepeat, verbs.WRWrite, 101},
	{"RC_READ_selective_lossy", RC, SelectiveRepeat, verbs.WRRead, 101},
	{"UC_WRITE", UC, GoBackN, verbs.WRWrite, 0},
	{"UD_SEND", UD, GoBackN, verbs.WRSend, 0},
	{"Solar_WRITE", Solar, GoBackN, verbs.WRWrite, 0},
	{"Solar_READ_lossy", Solar, GoBackN, verbs.WRRead, 101},
}

func lengthOf(kind Kind, op verbs.Opcode) uint32 {
	switch {
	case op.IsAtomic():
		return 8
	case kind == UD:
		return 4096
	}
	return 64 << 10
}

// BenchmarkPackets measures the time per packet, which one end builds and the other handles.
func BenchmarkPackets(b *testing.B) {
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			d := newDirectPair(b, c.kind, c.recovery)
			d.drop = c.drop
			d.round(b, c.op, lengthOf(c.kind, c.op), 32)
			d.packets = 0
			b.ReportAllocs()
			b.ResetTimer()
			for d.packets < b.N {
				d.round(b, c.op, lengthOf(c.kind, c.op), 32)
			}
			b.ReportMetric(float64(d.packets)/b.Elapsed().Seconds()/1e6, "Mpackets/s")
		})
	}
}

// TestNoAllocations checks that in steady state nothing allocates, with losses or without.
func TestNoAllocations(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := newDirectPair(t, c.kind, c.recovery)
			d.drop = c.drop
			round := func() { d.round(t, c.op, lengthOf(c.kind, c.op), 32) }
			for range 20 {
				round()
			}
			if n := testing.AllocsPerRun(50, round); n != 0 {
				t.Errorf("%v allocations in 32 requests", n)
			}
		})
	}
}
