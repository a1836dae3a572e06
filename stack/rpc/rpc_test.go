package rpc

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// wire is one direction of a network: packets arrive after a delay, or never.
type wire struct {
	at      []Ps
	headers []Header
}

func (w *wire) send(at Ps, h Header) { w.at, w.headers = append(w.at, at), append(w.headers, h) }

// take returns a header that has arrived by now.
func (w *wire) take(now Ps) (h Header, ok bool) {
	for i := range w.at {
		if w.at[i] <= now {
			h = w.headers[i]
			w.at, w.headers = append(w.at[:i], w.at[i+1:]...), append(w.headers[:i], w.headers[i+1:]...)
			return h, true
		}
	}
	return h, false
}

type faults struct{ loss, twice, late, mark int } // of a thousand packets

// run sends messages of drawn lengths, and checks that every byte arrives once. disorder is the number of packets that
// arrived after a later one without being retransmissions.
func run(t *testing.T, seed uint64, f faults) (s *Sender, r *Receiver, disorder int) {
	const step, latency, count = 100_000, 5_000_000, 300
	rnd := rand.New(rand.NewPCG(seed, 1))
	spec := DefaultSpec(1024)
	spec.Outstanding = 1 + rnd.IntN(Window)
	s, err := NewSender(spec)
	require.NoError(t, err)
	s.base, s.next = ^uint32(0)-100, ^uint32(0)-100 // numbers wrap
	r = &Receiver{next: s.base, first: s.base}
	var there, back wire
	put := func(w *wire, now Ps, h Header) {
		for range 1 + btoi(rnd.IntN(1000) < f.twice) {
			if rnd.IntN(1000) >= f.loss {
				w.send(now+latency+Ps(btoi(rnd.IntN(1000) < f.late))*4_000_000, h)
			}
		}
	}
	lengths, taken, queued := make([]int, count), make([]int, count), 0
	for now := Ps(0); s.stats.Messages < count; now += step {
		require.Less(t, now, Ps(1e12), "seed %d: %d messages ended", seed, s.stats.Messages)
		for queued < count && s.Room() {
			lengths[queued] = rnd.IntN(8000)
			require.NoError(t, s.Queue(uint32(queued), lengths[queued]))
			queued++
		}
		if now >= s.Deadline() {
			s.Expire(now)
		}
		if p, ok := s.Next(now); ok {
			put(&there, now, p.Header)
		}
		for h, ok := there.take(now); ok; h, ok = there.take(now) {
			require.Equal(t, (int(h.Index)+1)*spec.Segment >= int(h.Bytes), h.Last, "%+v", h)
			fresh, err := r.Take(&h, rnd.IntN(1000) < f.mark)
			if errors.As(err, new(*OrderError)) {
				disorder++
			} else {
				require.NoError(t, err)
			}
			if fresh {
				taken[h.Message] += spec.payload(int(h.Bytes), int(h.Index))
			}
			put(&back, now, r.Ack())
		}
		for h, ok := back.take(now); ok; h, ok = back.take(now) {
			require.NoError(t, s.Acked(now, &h))
		}
	}
	require.Equal(t, lengths, taken, "seed %d: every byte once", seed)
	require.True(t, s.Idle())
	require.Zero(t, s.inFlight)
	return s, r, disorder
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestNoFaults(t *testing.T) {
	for seed := range uint64(20) {
		s, r, disorder := run(t, seed, faults{})
		require.Zero(t, s.stats.Again, "seed %d", seed)
		require.Zero(t, s.stats.Timeouts)
		require.Zero(t, r.stats.Again)
		require.Zero(t, disorder)
	}
}

// TestFaults checks that every byte of every message arrives once under loss, duplication, disorder and marks.
func TestFaults(t *testing.T) {
	again, marked, late := uint64(0), uint64(0), 0
	for seed := range uint64(60) {
		f := faults{loss: 30, twice: 20, mark: 100}
		s, r, disorder := run(t, seed, f)
		require.Zero(t, disorder, "seed %d: loss and duplication do not change the order", seed)
		again, marked = again+s.stats.Again, marked+r.stats.Marked
		f.late = 50
		_, _, disorder = run(t, seed, f)
		late += disorder
	}
	require.NotZero(t, late)
	require.NotZero(t, again)
	require.NotZero(t, marked)
}

// TestMarks checks that marked packets shrink the window: DCTCP's first mark halves it.
func TestMarks(t *testing.T) {
	spec := DefaultSpec(1000)
	s, err := NewSender(spec)
	require.NoError(t, err)
	require.NoError(t, s.Queue(0, 5000))
	for range 5 {
		_, ok := s.Next(0)
		require.True(t, ok)
	}
	before := s.Window()
	require.NoError(t, s.Acked(1, &Header{Kind: Ack, Number: 1, Marked: 1}))
	require.Equal(t, before/2, s.Window())
	require.NoError(t, s.Acked(2, &Header{Kind: Ack, Number: 2, Marked: 1}))
	require.Equal(t, before/2, s.Window(), "no further mark, and no growth above a window of data")
}

// TestLostAreFoundOnce checks that a sender looks for the next lost packet where it found the one before, and that
// packets lost again come first.
func TestLostAreFoundOnce(t *testing.T) {
	spec := DefaultSpec(1)
	s, err := NewSender(spec)
	require.NoError(t, err)
	require.NoError(t, s.Queue(0, Window))
	for range Window {
		_, ok := s.Next(0)
		require.True(t, ok)
		s.inFlight = 0 // the window is open
	}
	s.Expire(s.Deadline())
	require.Equal(t, Window, s.lost)
	again := func(number uint32) {
		p, ok := s.Next(1e9)
		require.True(t, ok)
		require.Equal(t, number, p.Number)
		require.Equal(t, number, s.firstLost)
		s.inFlight = 0
	}
	for n := range uint32(100) {
		again(n)
	}
	require.NoError(t, s.Acked(1e9, &Header{Kind: Ack, Number: 50, Map: [4]uint64{1<<63 | 1<<62}}))
	again(100)
	s.lose(60)
	again(60)
	again(101)
}

func TestBadInput(t *testing.T) {
	s, err := NewSender(DefaultSpec(1024))
	require.NoError(t, err)
	require.ErrorContains(t, s.Acked(0, &Header{Kind: Ack, Number: 1}), "up to packet 0: want at most 4294967295")
	require.ErrorContains(t, s.Queue(0, 1<<25), "want 0 to 16777216")
	for range 64 {
		require.NoError(t, s.Queue(0, 1))
	}
	require.ErrorContains(t, s.Queue(0, 1), "64 messages are unacknowledged")
	_, err = NewSender(Spec{})
	for _, name := range []string{"segment 0", "outstanding 0", "messages 0", "timeout_ps 0", "dctcp.segment 0"} {
		require.ErrorContains(t, err, name)
	}
	r := Receiver{}
	_, err = r.Take(&Header{Kind: Ack}, false)
	require.ErrorContains(t, err, "want data")
	_, err = r.Take(&Header{Kind: Data, Number: 1024}, false)
	require.ErrorContains(t, err, "want 1024 packets from 0 on")
}

func FuzzDecode(f *testing.F) {
	for _, h := range []Header{{Kind: Data, Again: true, Index: 1, Number: 2, Message: 3, Bytes: 4},
		{Kind: Data, Last: true, Bytes: 4},
		{Kind: Ack, Number: 9, Marked: 8, Map: [4]uint64{1, 2, 3, 4}}} {
		b := make([]byte, AckBytes)
		f.Add(b[:h.Encode(b)])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := Decode(b)
		if err != nil {
			return
		}
		out := make([]byte, AckBytes)
		require.Equal(t, b[:h.Len()], out[:h.Encode(out)])
	})
}

func TestNothingAllocates(t *testing.T) {
	s, err := NewSender(DefaultSpec(1024))
	require.NoError(t, err)
	var r Receiver
	id := uint32(0)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_ = s.Queue(id, 3000)
		id++
		for p, ok := s.Next(0); ok; p, ok = s.Next(0) {
			_, _ = r.Take(&p.Header, false)
		}
		a := r.Ack()
		_ = s.Acked(1, &a)
	}))
}
