package ring

import (
	"encoding/binary"
	"errors"
	"fmt"

	"nictwin/models/server/cpu"
	"nictwin/stack/rb2"
	"nictwin/stack/verbs"
)

// flow is a ring between two servers: messages of one size that begin with their number.
type flow struct {
	b    *bed
	d    *design
	size int
	send *rb2.Sender
	recv *rb2.Receiver
	ends [2]*end
	cqes [2]int // completions polled
	wcs  [16]verbs.WC
	wc   [2]*cpu.Loop // woken by completions
	word [numberBytes]byte
	sent uint64
	got  uint64

	moved    bool // pointers were seen to move
	back     int  // times that a pointer went back
	tail     rb2.SendPointers
	head     rb2.RecvPointers
	tolerant bool   // incomplete messages are counted, not an error
	torn     uint64 // incomplete messages
	whole    bool   // messages also end with their number, and both are compared
}

// end is a flow's memory on a server.
type end struct {
	x    *side
	cq   verbs.CQ
	own  rb2.Place
	user uint64 // source or destination of copies
}

// numberBytes is the part of each message that software writes and reads: it works in the slot, or has the
// message copied.
const numberBytes = 8

// newFlow builds a ring between two sides; from is the sender's index.
func (b *bed) newFlow(d *design, from, size int) (*flow, error) {
	f := &flow{b: b, d: d, size: size}
	spec := d.spec
	spec.SlotBytes = spec.SlotFor(size)
	caps := [2]verbs.QPCap{}
	caps[from] = verbs.QPCap{MaxSendWR: spec.SendRequests(), MaxSendSGE: 1, MaxRecvWR: 1, MaxRecvSGE: 1,
		MaxInline: rb2.WordBytes}
	caps[1-from] = verbs.QPCap{MaxSendWR: spec.RecvRequests(), MaxSendSGE: 1, MaxRecvWR: max(spec.Receives(), 1),
		MaxRecvSGE: 1, MaxInline: rb2.WordBytes}
	qps, cqs, err := b.pair(caps)
	if err != nil {
		return nil, err
	}
	for i := range f.ends {
		at := from
		if i == 1 {
			at = 1 - from
		}
		f.ends[i] = f.newEnd(b.sides[at], cqs[at], &spec)
	}
	c := rb2.Config{Spec: spec, Core: f.ends[0].x.core, QP: qps[from], Own: f.ends[0].own, Peer: f.ends[1].own,
		Work: f.ends[0].x.cycles("ring.work")}
	if f.send, err = rb2.NewSender(c); err != nil {
		return nil, err
	}
	c.Core, c.QP, c.Own, c.Peer = f.ends[1].x.core, qps[1-from], f.ends[1].own, f.ends[0].own
	if f.recv, err = rb2.NewReceiver(c); err != nil {
		return nil, err
	}
	for i := range f.ends {
		if _, err := f.ends[i].cq.Follow(func() { f.poll(i) }); err != nil {
			return nil, err
		}
	}
	return f, errors.Join(f.recv.Push(), b.settle())
}

// newEnd reserves an end's memory. Slots of unaligned designs begin in the middle of a line.
func (f *flow) newEnd(x *side, cq verbs.CQ, spec *rb2.Spec) *end {
	beyond := 0
	if !spec.Aligned {
		beyond = misaligned
	}
	e := &end{x: x, cq: cq}
	e.own = rb2.Place{Slots: x.alloc(uint64(spec.Slots*spec.SlotBytes), beyond), Lines: x.alloc(rb2.LinesBytes, 0),
		Key: x.mr.LKey}
	e.user = x.alloc(uint64(f.size), 0)
	return e
}

// misaligned is the offset of unaligned slots from a line: 16 B, as malloc returns.
const misaligned = 16

// poll takes an end's completions.
func (f *flow) poll(i int) {
	for {
		n, err := f.ends[i].cq.Poll(f.wcs[:])
		f.b.fail(err)
		for k := range f.wcs[:n] {
			wc := &f.wcs[k]
			f.cqes[i]++
			switch {
			case wc.Status != verbs.WCSuccess:
				f.b.fail(fmt.Errorf("end %d: a request ended with %v", i, wc.Status))
			case i == 0:
				f.b.fail(f.send.Ended(wc))
			default:
				f.b.fail(f.recv.Ended(wc))
			}
		}
		if n == 0 {
			break
		}
	}
	if l := f.wc[i]; l != nil {
		l.Wake()
	}
}

// watch wakes the loops of both ends for completions, and for writes by the other end.
func (f *flow) watch(send, recv *cpu.Loop) error {
	f.wc = [2]*cpu.Loop{send, recv}
	_, err := send.Watch(f.ends[0].own.Lines, rb2.WordBytes)
	if addr, n := f.recv.Watches(); err == nil {
		_, err = recv.Watch(addr, n)
	}
	return err
}

// write writes a message, and reports whether there was room.
func (f *flow) write() bool {
	addr, err := f.send.Slot()
	if errors.Is(err, rb2.ErrFull) {
		if f.send.Starved() {
			f.flush()
		}
		return false
	}
	f.b.fail(err)
	core := f.ends[0].x.core
	binary.LittleEndian.PutUint64(f.word[:], f.sent)
	if f.d.copies {
		f.b.fail(core.Store(f.ends[0].user, f.word[:]))
		f.b.fail(core.Copy(addr, f.ends[0].user, f.size))
	} else {
		f.b.fail(core.Store(addr, f.word[:]))
	}
	if f.whole {
		f.b.fail(core.Store(addr+uint64(f.size)-numberBytes, f.word[:]))
	}
	f.sent++
	f.b.fail(f.send.Commit())
	f.watchSender()
	return true
}

// watchSender counts pointers that went back.
func (f *flow) watchSender() {
	p, was := f.send.Pointers(), f.tail
	f.moved = f.moved || p.Head > was.Head
	if p.Tail < was.Tail || p.Synced < was.Synced || p.Esc < was.Esc || p.Head < was.Head {
		f.back++
	}
	f.tail = p
}

// watchReceiver does the same at the other end.
func (f *flow) watchReceiver() {
	p, was := f.recv.Pointers(), f.head
	if p.Head < was.Head || p.Synced < was.Synced || p.Tail < was.Tail {
		f.back++
	}
	f.head = p
}

// flush announces what is in the ring.
func (f *flow) flush() { f.b.fail(f.send.Flush()) }

// number reads a message's number.
func (f *flow) number(addr uint64) uint64 {
	f.b.fail(f.ends[1].x.core.Load(addr, f.word[:]))
	return binary.LittleEndian.Uint64(f.word[:])
}

// read reads a message, and reports whether there was one.
func (f *flow) read() bool {
	addr, ok, err := f.recv.Next()
	f.b.fail(err)
	if !ok || err != nil {
		return false
	}
	core := f.ends[1].x.core
	n := f.number(addr)
	if f.whole && n == f.got {
		n = f.number(addr + uint64(f.size) - numberBytes)
	}
	if f.d.copies {
		f.b.fail(core.Copy(f.ends[1].user, addr, f.size)) // the message has come: the core waited for its first bytes
	}
	if n != f.got && f.tolerant {
		f.torn++
	} else if n != f.got {
		f.b.fail(fmt.Errorf("message %d has number %d: a pointer overtook it", f.got, n))
	}
	f.got++
	f.b.fail(f.recv.Release())
	f.watchReceiver()
	return true
}
