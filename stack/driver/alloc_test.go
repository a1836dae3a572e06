package driver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
)

// steady is a driver that receives and transmits over a bus that allocates nothing, to measure the driver's own
// allocations.
type steady struct {
	t    testing.TB
	nic  *fakeNIC
	rx   *RxQueue
	tx   *TxQueue
	copy *Copier
	send Send
	segs [2]Span
	n    int

	posted int
	inline [70]byte
}

func newSteady(t testing.TB) *steady {
	nic, d := newFake(t, false)
	s := &steady{t: t, nic: nic}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	const log = 6
	key, err := d.SetKey(KeySpec{Index: 1, Len: fakeBytes, Rights: dma.Access{Read: true}})
	must(err)
	s.segs = [2]Span{{key, 0, 54}, {key, 4096, 1446}}
	s.rx, err = d.OpenRx(RxConfig{QueueConfig: QueueConfig{Queue: 0, LogSize: log}, PayBytes: 2048,
		OnFrame: func(q *RxQueue, f *RxFrame) {
			s.n += f.PayLen
			must(q.Post(f.Buffer))
			if q.Waiting() >= 8 {
				must(q.Ring())
			}
		}})
	must(err)
	s.copy, err = d.OpenCopier(RxConfig{QueueConfig: QueueConfig{Queue: 1, LogSize: log}, PayBytes: 2048},
		func(_ *Copier, _ nicspec.RxCqe, _, pay []byte) { s.n += len(pay) })
	must(err)
	s.tx, err = d.OpenTx(TxConfig{QueueConfig: QueueConfig{Queue: 0, LogSize: log},
		OnEnd: func(_ *TxQueue, e *TxEnd) { s.n += e.N }})
	must(err)
	for range 1 << log {
		must(s.rx.Post(Buffer{Pay: 1 << 19}))
		must(s.copy.Fill(Buffer{Pay: 1 << 19}))
	}
	must(s.rx.Ring())
	return s
}

// frame receives one frame as a view and one as a copy, and transmits one.
func (s *steady) frame() {
	if !s.nic.receive(0, 1500) || !s.nic.receive(1, 1500) {
		s.t.Fatal("no descriptor")
	}
	s.send = Send{Order: Order{Complete: s.posted%4 == 0}, Pieces: s.segs[:]}
	if s.posted++; s.posted%2 == 0 { // an entry of two blocks
		s.send.Inline, s.send.ICRC, s.send.Append = s.inline[:], true, true
	}
	if s.tx.Post(&s.send) != nil || s.tx.Ring() != nil {
		s.t.Fatal("no room")
	}
	if _, ok := s.nic.work(0); !ok {
		s.t.Fatal("no entry")
	}
}

// TestSteadyStateAllocatesNothing checks that receiving and transmitting allocate nothing over many laps of the rings.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	s := newSteady(t)
	const frames = 10_000 // each ring wraps around many times
	require.Zero(t, testing.AllocsPerRun(frames, s.frame))
	require.NoError(t, s.tx.d.Err())
	require.Greater(t, s.n, 2*1500*frames)
}

// BenchmarkFrame measures a frame received as a view, one received as a copy, and one transmitted from two pieces, by
// an entry of one or two blocks.
func BenchmarkFrame(b *testing.B) {
	s := newSteady(b)
	b.ReportAllocs()
	for b.Loop() {
		s.frame()
	}
}
