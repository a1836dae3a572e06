package rb2

import (
	"errors"
	"fmt"

	"github.com/stretchr/testify/require"

	"nictwin/stack/verbs"
)

// world is both ends of a ring over two queue pairs. Requests arrive in order, but the test decides when.
type world struct {
	spec Spec
	mem  [2][]byte
	qps  [2]*pair
	send *Sender
	recv *Receiver
	err  error

	total, sent, got uint64 // messages to write in total, written, and read
}

// done reports whether all messages were read and nothing is in flight.
func (w *world) done() bool {
	return w.sent == w.total && w.got == w.total && w.send.Published() && w.send.InFlight()+w.recv.InFlight() == 0 &&
		w.recv.Reported()
}

// step performs one of the possible next actions.
func (w *world) step(next func(int) int) {
	switch pick := next(4); {
	case pick == 0 && w.sent < w.total:
		if w.write(w.sent) {
			w.sent++
		} else if w.send.Starved() {
			w.check(w.send.Flush())
		}
	case pick == 0 || pick == 1:
		w.check(w.send.Push())
		w.check(w.recv.Push())
		if w.sent == w.total {
			w.check(w.send.Flush())
		}
	case pick == 2:
		if w.read(w.got) {
			w.got++
		}
	default:
		q := w.qps[next(2)]
		if len(q.wire)+len(q.ended) == 0 {
			q = w.qps[1-q.side]
		}
		if n := next(2); len(q.wire) > 0 && (n == 0 || len(q.ended) == 0) {
			q.deliver()
		} else if len(q.ended) > 0 {
			q.complete()
		}
	}
}

// pair is a queue pair of one end.
type pair struct {
	w      *world
	side   int
	room   int // capacity of the pair's send queue
	used   int
	recvs  int
	posted int // number of send requests posted so far
	wire   []flight
	ended  []flight    // requests that have arrived, but are not completed yet
	refuse func() bool // reports whether posting fails for lack of room this time
}

// flight is a request that was posted: on the wire, or arrived and not completed.
type flight struct {
	wr     verbs.SendWR
	data   []byte
	from   uint64
	number int
}

func (q *pair) Num() uint32 { return uint32(q.side) }

func (q *pair) PostSend(wrs []verbs.SendWR) (int, error) {
	for i, w := range wrs {
		if q.refuse() {
			return i, verbs.ErrSendFull
		}
		if q.used == q.room {
			if q.side == 0 && q.w.spec.Elastic {
				q.w.err = errors.New("more requests than SendRequests says")
			}
			return i, verbs.ErrSendFull
		}
		q.used++
		q.posted++
		f := flight{wr: w, number: q.posted}
		switch {
		case w.Opcode == verbs.WRRead:
			f.from = w.SGEs[0].Addr
		case w.Flags&verbs.SendInline != 0:
			f.data = append(f.data, w.Inline...)
		default: // a NIC may read the pieces until the request ends; this one does so at the end
			f.from = w.SGEs[0].Addr
		}
		f.wr.SGEs = append([]verbs.SGE(nil), w.SGEs...)
		q.wire = append(q.wire, f)
	}
	return len(wrs), nil
}

func (q *pair) PostRecv(wrs []verbs.RecvWR) (int, error) {
	if q.refuse() {
		return 0, verbs.ErrRecvFull
	}
	if q.recvs += len(wrs); q.recvs > q.w.spec.Receives() {
		q.w.err = errors.New("more receive requests than Receives says")
	}
	return len(wrs), nil
}

// deliver delivers the first request in flight. It is completed later.
func (q *pair) deliver() {
	f := q.wire[0]
	q.wire = q.wire[1:]
	peer := q.w.mem[1-q.side]
	if f.wr.Opcode == verbs.WRRead {
		copy(q.w.mem[q.side][f.from:][:WordBytes], peer[f.wr.RemoteAddr:])
	} else {
		if f.data == nil {
			f.data = q.w.mem[q.side][f.from:][:f.wr.SGEs[0].Length]
		}
		copy(peer[f.wr.RemoteAddr:], f.data)
	}
	if f.wr.Opcode == verbs.WRWriteImm {
		o := q.w.qps[1-q.side]
		if o.recvs--; o.recvs < 0 {
			q.w.err = errors.New("a message without a receive request")
		}
		q.w.check(q.w.recv.Ended(&verbs.WC{Opcode: verbs.WCRecvWriteWithImm, Flags: verbs.WCWithImm, Imm: f.wr.Imm}))
	}
	if f.wr.Flags&verbs.SendSignaled != 0 { // an unsignaled request frees its slot with the next signaled one
		q.ended = append(q.ended, f)
	}
}

// complete polls the oldest completion.
func (q *pair) complete() {
	f := q.ended[0]
	q.ended = q.ended[1:]
	q.used = q.posted - f.number
	wc := &verbs.WC{ID: f.wr.ID}
	if q.side == 0 {
		q.w.check(q.w.send.Ended(wc))
	} else {
		q.w.check(q.w.recv.Ended(wc))
	}
}

func (w *world) check(err error) {
	if w.err == nil {
		w.err = err
	}
}

type flat []byte

func (m flat) Load(a uint64, b []byte) error  { copy(b, m[a:]); return nil }
func (m flat) Store(a uint64, b []byte) error { copy(m[a:], b); return nil }
func (flat) Compute(int64)                    {}

func newWorld(t require.TestingT, s Spec, refuse func() bool) *world {
	require.NoError(t, s.Validate())
	w := &world{spec: s}
	lines := uint64(s.Slots * s.SlotBytes)
	for i := range w.mem {
		w.mem[i] = make([]byte, lines+LinesBytes)
		w.qps[i] = &pair{w: w, side: i, refuse: refuse, room: s.SendRequests()}
	}
	w.qps[1].room = s.RecvRequests()
	place := Place{Lines: lines}
	var err error
	w.send, err = NewSender(Config{Spec: s, Core: flat(w.mem[0]), QP: w.qps[0], Own: place, Peer: place})
	require.NoError(t, err)
	w.recv, err = NewReceiver(Config{Spec: s, Core: flat(w.mem[1]), QP: w.qps[1], Own: place, Peer: place})
	require.NoError(t, err)
	w.qps[0].refuse, w.qps[1].refuse = func() bool { return false }, func() bool { return false }
	require.NoError(t, w.recv.Push())
	w.qps[0].refuse, w.qps[1].refuse = refuse, refuse
	return w
}

// write writes message n if there is room.
func (w *world) write(n uint64) bool {
	addr, err := w.send.Slot()
	if errors.Is(err, ErrFull) {
		return false
	}
	w.check(err)
	fill(w.mem[0][addr:][:w.bytes()], n)
	w.check(w.send.Commit())
	return true
}

// bytes returns the length of a message.
func (w *world) bytes() int {
	if w.spec.Tail.inSlots() {
		return w.spec.SlotBytes - WordBytes
	}
	return w.spec.SlotBytes
}

func fill(b []byte, n uint64) {
	for i := range b {
		b[i] = byte(n>>(8*(i%8))) ^ byte(i)
	}
}

// read reads message n if it has arrived.
func (w *world) read(n uint64) bool {
	addr, ok, err := w.recv.Next()
	w.check(err)
	if !ok || err != nil {
		return false
	}
	want := make([]byte, w.bytes())
	fill(want, n)
	if got := w.mem[1][addr:][:w.bytes()]; string(got) != string(want) {
		w.check(fmt.Errorf("message %d: got %x, want %x", n, got, want))
	}
	w.check(w.recv.Release())
	return true
}
