package apps

import (
	"errors"
	"fmt"
	"slices"

	"nictwin/stack/apps/kind"
	"nictwin/stack/rb2"
	"nictwin/stack/verbs"
)

// Looper is a Core that polls memory for software; kind ring needs one.
type Looper interface {
	rb2.Core
	// Loop makes the core call step repeatedly. After step returns false (nothing to do), the core calls it again when
	// watched memory is written, or after Wake.
	Loop(name string, step func() bool) (Loop, error)
}

// Loop is a polling loop on a core.
type Loop interface {
	Watch(addr uint64, n int) error
	Wake()
	Stop()
}

// ringWork is the cost in cycles of writing or reading a message, besides its bytes and requests. It
// equals that of taking an entry (corebus.Spec.Take), an assumption.
const ringWork = 20

// ringEnd is the part of package rb2's interface that both ends of a ring have.
type ringEnd interface {
	role
	Ended(wc *verbs.WC) error
	InFlight() int
	state() string
	start(c rb2.Config, on Looper) error
	prepared() bool // the end's receive requests are posted, so messages may arrive
	halt()
	slotsAt() uint64 // address of the first slot
}

// ring is the state common to both ends of a ring.
type ring struct {
	*end
	slots area // area of one slot, whose bytes hold all slots of the ring
	lines area
	loop  Loop
	next  int // the message to write or read next
}

// memory allocates the end's slots and its lines of pointers.
func (r *ring) memory(u *setup, s *side) {
	spec := u.spec.ringSpec()
	var errs [2]error
	r.slots, errs[0] = s.arena.alloc(1, spec.Slots*spec.SlotBytes, 1, u.spec.Offset)
	r.lines, errs[1] = s.arena.alloc(1, rb2.LinesBytes, 1, 0)
	if err := errors.Join(errs[:]...); err != nil {
		u.lacks(fmt.Errorf("server %s: a ring of %d slots of %d B: %w", s.Name, spec.Slots, spec.SlotBytes, err))
	}
	r.lines.loose = u.spec.Ring.Head == rb2.HeadPull
}

func (r *ring) areas(f func(*area, bool)) {
	f(&r.slots, !r.client)
	f(&r.lines, true)
}

// place returns the end's memory as package rb2 describes it.
func (r *ring) place(key uint32) rb2.Place {
	return rb2.Place{Slots: r.slots.pieceAddr(0, 0), Lines: r.lines.pieceAddr(0, 0), Key: key}
}

func (r *ring) slotsAt() uint64 { return r.slots.pieceAddr(0, 0) }

// clear zeroes the ring's slots and pointers, as package rb2 requires.
func (r *ring) clear() error {
	var b [rb2.LinesBytes]byte
	return errors.Join(r.side.Memory.Write(r.lines.pieceAddr(0, 0), b[:]),
		r.side.Memory.Write(r.slots.pieceAddr(0, 0), make([]byte, r.slots.piece)))
}

// run starts the loop on its core. Writes of the other end to the watched memory wake it.
func (r *ring) run(on Looper, step func() bool, addr uint64, n int) error {
	var err error
	if r.loop, err = on.Loop(fmt.Sprintf("%s of ring %d", roleName(r.client), r.flow), step); err != nil {
		return err
	}
	return r.loop.Watch(addr, n)
}

// advance implements role. It wakes the loop, which does all of the end's work.
func (r *ring) advance() {
	if r.loop != nil {
		r.loop.Wake()
	}
}

func (r *ring) halt() {
	if r.loop != nil {
		r.loop.Stop()
	}
}

// sent and received implement role; package rb2 handles the completions of rings.
func (r *ring) sent(int, int)           {}
func (r *ring) received(int, *verbs.WC) {}

// ringWriter is the end of a flow that writes messages into a ring.
type ringWriter struct {
	ring
	*rb2.Sender
	refused uint64
}

func (w *ringWriter) start(c rb2.Config, on Looper) (err error) {
	if w.Sender, err = rb2.NewSender(c); err != nil {
		return err
	}
	return w.run(on, w.step, w.lines.pieceAddr(0, 0), rb2.WordBytes)
}

// step writes a message, or flushes the ring when none is left.
func (w *ringWriter) step() bool {
	if w.stopped || !w.side.run.begun {
		return false
	}
	found, err := w.write()
	if n := w.Sender.Stats().Refused; n != w.refused {
		w.refused = n
		w.waitForRoom()
	}
	return w.check("ring", err) && found
}

// write writes the next message into the ring, and reports whether it did. If no message is left or the ring is full,
// it flushes the ring where that is needed.
func (w *ringWriter) write() (found bool, err error) {
	if err := w.Push(); err != nil || w.next == w.total {
		return false, errors.Join(err, w.flush(w.next == w.total))
	}
	addr, err := w.Slot()
	if errors.Is(err, rb2.ErrFull) {
		return false, w.flush(w.Starved())
	}
	b := w.want(w.spec.size(w.next))
	pattern(b, w.spec.Seed, w.flow, request, w.next)
	if err == nil {
		err = w.side.Core.Store(addr, b)
	}
	if err == nil {
		err = w.Commit()
	}
	if err == nil {
		w.observed(Observer.Posted, w.next)
	}
	w.next++
	return err == nil, err
}

func (w *ringWriter) flush(is bool) error {
	if !is {
		return nil
	}
	return w.Flush()
}

func (w *ringWriter) prepared() bool { return true }

func (w *ringWriter) done() bool {
	return w.stopped || w.next == w.total && w.Published() && w.InFlight() == 0
}

func (w *ringWriter) state() string {
	p := w.Pointers()
	return fmt.Sprintf("%d messages written, the receiver reported %d as read, %d requests in flight", w.next,
		p.Head, w.InFlight())
}

// ringReader is the end of a flow that reads messages from a ring.
type ringReader struct {
	ring
	*rb2.Receiver
	refused uint64
}

func (r *ringReader) start(c rb2.Config, on Looper) (err error) {
	if r.Receiver, err = rb2.NewReceiver(c); err != nil {
		return err
	}
	addr, n := r.Watches()
	return r.run(on, r.step, addr, n)
}

// step reads a message and checks its bytes in place.
func (r *ringReader) step() bool {
	if r.stopped {
		return false
	}
	found, err := r.read()
	if n := r.Receiver.Stats().Refused; n != r.refused {
		r.refused = n
		r.waitForRoom()
	}
	return r.check("ring", err) && found
}

// read reads the next message in place and checks it. It reports whether one had arrived.
func (r *ringReader) read() (found bool, err error) {
	if err := r.Push(); err != nil {
		return false, err
	}
	addr, ok, err := r.Next()
	if err != nil || !ok {
		return false, err
	}
	if r.next == r.total {
		return false, fmt.Errorf("rb2: a message beyond the last, %d", r.next)
	}
	n := r.spec.size(r.next)
	got := r.got(n)
	if err := r.side.Core.Load(addr, got); err != nil {
		return false, err
	}
	r.recvDone = append(r.recvDone, Completion{ID: uint64(r.next), Recv: true, Opcode: verbs.WCRecvWriteWithImm,
		Bytes: uint32(n), Message: r.next})
	before := r.messages
	r.compare(got, r.next, request, func(off int) uint64 { return addr + uint64(off) })
	r.tookMessage(r.next, before)
	r.next++
	r.side.run.progress++
	return true, r.Release()
}

func (r *ringReader) prepared() bool { return r.stopped || r.Reported() }

func (r *ringReader) done() bool {
	return r.stopped || r.next == r.total && r.Reported() && r.InFlight() == 0
}

func (r *ringReader) state() string {
	return fmt.Sprintf("%d messages read, %d requests in flight", r.next, r.InFlight())
}

// ringEnded handles a completion of a ring's queue pair.
func (e *end) ringEnded(wc *verbs.WC) {
	if wc.Status != verbs.WCSuccess {
		e.stopped = true
		list := &e.sendDone
		if rb2.IsReceive(wc.ID) {
			list = &e.recvDone
		}
		c := Completion{Recv: rb2.IsReceive(wc.ID), Status: wc.Status, Message: -1}
		if !slices.Contains(*list, c) { // a ring's completions vary in number with timing, so each kind is listed once
			*list = append(*list, c)
		}
		return
	}
	e.check("ring", e.ring.Ended(wc))
}

// ringSpec returns the spec of each flow's ring.
func (s *Spec) ringSpec() rb2.Spec {
	return kind.SpecOf(s.Ring, s.Depth, s.largest())
}

// rings starts the ends of rings, once both know each other's addresses.
func (u *setup) rings(s *side) error {
	for i, e := range s.ends {
		if e.ring == nil {
			continue
		}
		on, ok := s.Core.(Looper)
		if !ok {
			return noLooper(string(Ring), s)
		}
		p := s.peer.ends[i]
		c := rb2.Config{Spec: u.spec.ringSpec(), Core: on, QP: e.qp, Own: ringOf(e).place(s.mr.LKey),
			Peer: ringOf(p).place(s.peer.mr.RKey), Work: ringWork}
		if err := e.ring.start(c, on); err != nil {
			return fmt.Errorf("server %s: %w", s.Name, err)
		}
	}
	return nil
}

func ringOf(e *end) *ring {
	if w, ok := e.ring.(*ringWriter); ok {
		return &w.ring
	}
	return &e.ring.(*ringReader).ring
}

// ringCap returns the queue capacity that an end of a ring needs.
func (s *Spec) ringCap(e *end) verbs.QPCap {
	r := s.ringSpec()
	c := verbs.QPCap{MaxSendWR: r.SendRequests(), MaxSendSGE: 1, MaxRecvWR: 1, MaxRecvSGE: 1, MaxInline: rb2.WordBytes}
	if !e.client {
		c.MaxSendWR, c.MaxRecvWR = r.RecvRequests(), max(r.Receives(), 1)
	}
	return c
}

// ringFits rejects rings that need more outstanding requests than the stack's queue pairs allow.
func (s *Spec) ringFits(x *side) error {
	for _, e := range x.ends {
		if c := s.ringCap(e); max(c.MaxSendWR, c.MaxRecvWR) > x.dev.MaxQPWR {
			return verbs.Errorf(string(Ring), verbs.EINVAL, "server %s: a ring with depth %d and beta %d has up to "+
				"%d requests in flight, and a queue pair here allows %d: want a lower depth, or a higher beta",
				x.Name, s.Depth, s.Ring.Beta, max(c.MaxSendWR, c.MaxRecvWR), x.dev.MaxQPWR)
		}
	}
	return nil
}
