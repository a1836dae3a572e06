package rb2

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nictwin/models/sim/field"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/stack/verbs"
)

// TestWorkedExample follows the worked example of RB² section 4-B: 8 slots, alpha 4, beta 2, gamma 2.
func TestWorkedExample(t *testing.T) {
	s := Spec{Alpha: 4, Beta: 2, Gamma: 2, Head: HeadPush, Tail: TailWrite, Elastic: true, Slots: 8, SlotBytes: 64}
	require.NoError(t, s.Validate())
	p := SendPointers{}
	require.False(t, p.Wrote(&s))
	require.Zero(t, p.Esc, "one slot waits")
	require.False(t, p.Wrote(&s))
	require.Equal(t, SendPointers{Tail: 2, Esc: 2}, p, "one more message: two slots leave, and the tail is not told")
	require.False(t, p.Wrote(&s))
	require.True(t, p.Wrote(&s), "alpha messages: the tail is written")
	require.Equal(t, SendPointers{Tail: 4, Esc: 4, Synced: 4, published: 4, tailsInFlight: 1}, p)

	r := RecvPointers{Head: 1, Tail: 4}
	require.True(t, r.Took(&s), "of two reads the first tells of the head, as one was read before")
	require.False(t, r.Took(&s), "the second only moves it")
	require.Equal(t, RecvPointers{Head: 3, Synced: 2, Tail: 4}, r)
}

// TestElasticThreshold checks that a tail is skipped while the previous one is in flight, and only then, and that Flush
// announces the skipped messages.
func TestElasticThreshold(t *testing.T) {
	s := DefaultSpec()
	p, tails := SendPointers{}, 0
	for range 96 {
		if p.Wrote(&s) {
			tails++
		}
	}
	require.Equal(t, 1, tails, "at 32; at 64 and 96 the first is still under way")
	require.Equal(t, uint64(96), p.Synced)
	require.False(t, p.Flush(&s))
	p.TailWritten()
	require.True(t, p.Flush(&s))
	require.Equal(t, uint64(96), p.published)
	require.False(t, p.Flush(&s), "there is nothing new")
	s.Elastic = false
	p, tails = SendPointers{}, 0
	for range 96 {
		if p.Wrote(&s) {
			tails++
		}
	}
	require.Equal(t, 3, tails)
}

// TestPointersOfThePeerAreChecked checks that a pointer written by the peer must lie between its previous value and
// what the ring holds.
func TestPointersOfThePeerAreChecked(t *testing.T) {
	s := DefaultSpec()
	p := SendPointers{Tail: 40, Head: 10, published: 32}
	require.NoError(t, p.SetHead(32))
	require.ErrorContains(t, p.SetHead(31), "the receiver's head is 31: want 32 to 32")
	require.ErrorContains(t, p.SetHead(33), "want 32 to 32")
	r := RecvPointers{Head: 5, Tail: 7}
	require.ErrorContains(t, r.SetTail(&s, 6), "the sender's tail is 6: want 7 to 132")
	require.ErrorContains(t, r.SetTail(&s, 133), "want 7 to 132")
	require.NoError(t, r.SetTail(&s, 132))
}

// TestSpecErrors checks that each invalid field of a spec is named, with its valid range.
func TestSpecErrors(t *testing.T) {
	for _, x := range []struct {
		change func(*Spec)
		want   string
	}{
		{func(s *Spec) { s.Slots = 1 }, "slots 1: want 2 to 16384"},
		{func(s *Spec) { s.SlotBytes = 0 }, "slot_bytes 0: want 1 to"},
		{func(s *Spec) { s.Alpha = 128 }, "alpha 128: want 1 to 127"},
		{func(s *Spec) { s.Gamma = 0 }, "gamma 0: want 1 to 127"},
		{func(s *Spec) { s.Beta = 33 }, "beta 33: want 1 to 32"},
		{func(s *Spec) { s.Head = "x" }, `head "x": want push or pull`},
		{func(s *Spec) { s.Tail = "x" }, `tail "x": want write_twice, write_imm, poll_message or poll_last`},
		{func(s *Spec) { s.Tail, s.Alpha, s.Beta, s.Elastic = TailWord, 2, 2, false },
			"beta 2: with tail poll_message each message has two WRITEs of its own: want 1"},
		{func(s *Spec) { s.Window = 128 }, "window 128: want 0 to 127"},
		{func(s *Spec) { s.Window = 3 }, "window 3: want 0, or tail write_imm and beta 1"},
		{func(s *Spec) { s.Tail = TailImm }, "alpha 32: with tail write_imm messages announce themselves"},
		{func(s *Spec) { s.Tail = TailImm }, "elastic: with tail write_imm no tail is written: want false"},
	} {
		s := DefaultSpec()
		x.change(&s)
		var texts string
		for _, e := range field.Each(s.Validate()) {
			texts += e.Error() + "\n"
		}
		require.Contains(t, texts, x.want)
	}
}

// TestRing draws the order of events, and when queues lack room. Messages must arrive once, in order and whole, flushed
// ones, too; no queue may hold more requests than SendRequests and RecvRequests say; and the numbers of completions and
// words must follow Algorithm 1.
func TestRing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t)
		chance := rapid.SampledFrom([]int{0, 0, 10, 60}).Draw(t, "percent without room")
		rnd := rapid.Uint64().Draw(t, "seed")
		next := func(n int) int {
			rnd = rnd*6364136223846793005 + 1442695040888963407
			return int(rnd>>33) % n
		}
		w := newWorld(t, s, func() bool { return next(100) < chance })
		w.total = uint64(rapid.IntRange(0, 4*s.Slots+3).Draw(t, "messages"))
		for steps := 0; w.err == nil && !w.done(); steps++ {
			require.Less(t, steps, 1<<20, "sent %d, got %d of %d: %+v %+v", w.sent, w.got, w.total, w.send.p, w.recv.p)
			before := w.send.p
			w.step(next)
			p := w.send.p
			require.True(t, p.Tail >= before.Tail && p.Esc >= before.Esc && p.Synced >= before.Synced &&
				p.Head >= before.Head && p.published >= before.published)
			require.True(t, p.Esc <= p.Tail && p.published <= p.Esc && w.send.posted <= p.Esc)
			require.True(t, s.Window == 0 || w.send.inWindow <= uint64(s.Window))
		}
		require.NoError(t, w.err)
		w.account(t)
	})
}

// account compares the counters of both ends with Algorithm 1.
func (w *world) account(t require.TestingT) {
	a, b, s := w.send.Stats(), w.recv.Stats(), &w.spec
	require.Equal(t, []uint64{w.total, w.total}, []uint64{a.Messages, b.Messages})
	switch {
	case s.Tail == TailWrite:
		require.Equal(t, a.Words+a.Pulls, a.Ended, "completions are those of tails, and of pulls")
	case s.Tail == TailWord:
		require.Equal(t, []uint64{w.total, w.total}, []uint64{a.Slots, a.Words})
	case s.Window > 0:
		require.Equal(t, a.Slots, b.Receives)
	case s.Tail == TailImm:
		require.Equal(t, w.total, b.Receives)
	}
	require.True(t, s.Tail == TailImm || b.Receives == 0)
	require.True(t, a.Words == 0 || s.Tail == TailWrite || s.Tail == TailWord)
	if s.Head == HeadPush {
		require.LessOrEqual(t, b.Words, w.total/uint64(s.Gamma))
		require.True(t, b.Refused > 0 || b.Words == w.total/uint64(s.Gamma))
	}
}

// drawSpec draws a valid spec with small rings, so that all limits are reached often.
func drawSpec(t *rapid.T) Spec {
	s := Spec{Slots: rapid.IntRange(2, 40).Draw(t, "slots"), SlotBytes: rapid.IntRange(1, 24).Draw(t, "bytes")}
	s.Alpha = rapid.IntRange(1, s.Slots-1).Draw(t, "alpha")
	s.Beta = rapid.IntRange(1, s.Alpha).Draw(t, "beta")
	s.Gamma = rapid.IntRange(1, s.Slots-1).Draw(t, "gamma")
	s.Head = rapid.SampledFrom([]HeadSync{HeadPush, HeadPull}).Draw(t, "head")
	s.Tail = rapid.SampledFrom([]TailSync{TailWrite, TailImm, TailWord, TailLast}).Draw(t, "tail")
	s.Elastic = rapid.Bool().Draw(t, "elastic") && s.Tail == TailWrite
	if s.Tail != TailWrite {
		s.Beta = s.Alpha
	}
	if window := rapid.IntRange(0, s.Slots-1).Draw(t, "window"); s.Tail == TailWord || s.Tail == TailImm && window > 0 {
		s.Alpha, s.Beta = 1, 1
		if s.Tail == TailImm {
			s.Window = window
		}
	}
	s.SlotBytes = s.SlotFor(s.SlotBytes)
	return s
}

// TestWritesOfAMessage checks that a message takes two WRITEs without batching, and one plus one per batch with it (RB²
// section 4-A).
func TestWritesOfAMessage(t *testing.T) {
	for _, x := range []struct{ alpha, beta, messages, slots, words int }{{1, 1, 32, 32, 32}, {16, 16, 32, 2, 2},
		{32, 16, 64, 4, 2}} {
		s := DefaultSpec()
		s.Alpha, s.Beta, s.Elastic, s.SlotBytes = x.alpha, x.beta, false, 8
		w := newWorld(t, s, func() bool { return false })
		for n := range x.messages {
			require.True(t, w.write(uint64(n)))
		}
		require.NoError(t, w.err)
		require.Equal(t, []uint64{uint64(x.slots), uint64(x.words)},
			[]uint64{w.send.Stats().Slots, w.send.Stats().Words})
	}
}

// TestAllocatesNothing checks that posting and polling allocate nothing.
func TestAllocatesNothing(t *testing.T) {
	for _, tail := range []TailSync{TailWrite, TailImm} {
		s := DefaultSpec()
		if s.Tail = tail; tail == TailImm {
			s.Alpha, s.Elastic = s.Beta, false
		}
		sink := new(quiet)
		c := Config{Spec: s, Core: flat(make([]byte, s.Slots*s.SlotBytes+LinesBytes)), QP: sink}
		c.Own.Lines, c.Peer = uint64(s.Slots*s.SlotBytes), c.Own
		x, err := NewSender(c)
		require.NoError(t, err)
		var word [WordBytes]byte
		require.Zero(t, testing.AllocsPerRun(100, func() {
			for range 32 {
				if _, err := x.Slot(); err != nil {
					panic(err)
				}
				if err := x.Commit(); err != nil {
					panic(err)
				}
			}
			if x.p.tailsInFlight > 0 {
				x.p.TailWritten()
			}
			binary.LittleEndian.PutUint64(word[:], x.p.published)
			copy(c.Core.(flat)[c.Own.Lines:], word[:])
			if err := x.refresh(); err != nil {
				panic(err)
			}
		}), tail)
	}
}

// quiet is a queue pair that accepts every request and does nothing.
type quiet struct{}

func (*quiet) Num() uint32                                { return 0 }
func (*quiet) PostSend(w []verbs.SendWR) (n int, e error) { return len(w), nil }
func (*quiet) PostRecv(w []verbs.RecvWR) (n int, e error) { return len(w), nil }

// TestSlots checks that slots are no longer than needed.
func TestSlots(t *testing.T) {
	for _, x := range []struct {
		tail    TailSync
		aligned bool
		bytes   int
		want    int
	}{
		{TailWrite, true, 1, 64}, {TailWrite, true, 64, 64}, {TailWrite, true, 65, 128}, {TailWrite, false, 100, 100},
		{TailImm, false, 7, 7},
		{TailWord, true, 56, 64}, {TailWord, true, 57, 128}, {TailLast, false, 8, 16}, {TailLast, false, 1023, 1032},
	} {
		s := Spec{Tail: x.tail, Aligned: x.aligned}
		require.Equal(t, x.want, s.SlotFor(x.bytes), "%+v", x)
	}
}

// TestMisuse checks that an error is returned for a message too many, the release of a message that was not there, and
// a word that no sender writes.
func TestMisuse(t *testing.T) {
	s := Spec{Alpha: 1, Beta: 1, Gamma: 1, Head: HeadPush, Tail: TailLast, Slots: 2, SlotBytes: 16}
	w := newWorld(t, s, func() bool { return false })
	require.ErrorContains(t, w.recv.Release(), "without a message")
	require.True(t, w.write(0))
	require.False(t, w.write(1))
	require.ErrorIs(t, w.send.Commit(), ErrFull)
	binary.LittleEndian.PutUint64(w.mem[1][8:], 7)
	_, _, err := w.recv.Next()
	require.ErrorContains(t, err, "the word of message 0 is 7: want 0 or 1")
	require.ErrorContains(t, w.send.Ended(&verbs.WC{ID: idHead}), "want one of the sender's")
	require.ErrorContains(t, w.recv.Ended(&verbs.WC{ID: idTail}), "want one of the receiver's")
	require.True(t, IsReceive(idRecv|3) && !IsReceive(idHead|3))
}

// TestCounts checks the counters of skipped and flushed tails.
func TestCounts(t *testing.T) {
	s := Spec{Alpha: 2, Beta: 2, Gamma: 7, Head: HeadPush, Tail: TailWrite, Elastic: true, Slots: 8, SlotBytes: 8}
	w := newWorld(t, s, func() bool { return false })
	for n := range uint64(5) {
		require.True(t, w.write(n))
	}
	require.Equal(t, []uint64{1, 1, 0}, []uint64{w.send.Stats().Words, w.send.Stats().Skipped, w.send.Stats().Flushed})
	require.False(t, w.send.Published())
	require.NoError(t, w.send.Flush())
	require.EqualValues(t, 1, w.send.Stats().Words, "the first tail is under way")
	for len(w.qps[0].wire) > 0 {
		w.qps[0].deliver()
	}
	w.qps[0].complete()
	require.NoError(t, w.send.Flush())
	require.Equal(t, []uint64{2, 1}, []uint64{w.send.Stats().Words, w.send.Stats().Flushed})
	require.True(t, w.send.Published())
	require.False(t, w.send.Starved(), "there is room")
}
