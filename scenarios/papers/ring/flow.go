package ring

import (
	"encoding/binary"
	"errors"
	"fmt"

	"nictwin/models/server/cpu"
	"nictwin/stack/rb2"
	"nictwin/stack/verbs"
)

// flow is a ring from one server to the other. Its messages have one size and begin with their number.
type flow struct {
	b    *bed
	d    *design
	size int
	send *rb2.Sender
	recv *rb2.Receiver
	ends [2]*end
	cqes [2]int // completions polled by each end of the flow
	wcs  [16]verbs.WC
	wc   [2]*cpu.Loop // loops that completions wake
	word [numberBytes]byte
	sent uint64
	got  uint64

	moved    bool // the sender has seen the head move
	back     int  // number of times that a pointer went back, which is an error
	tail     rb2.SendPointers
	head     rb2.RecvPointers
	tolerant bool   // count incomplete messages instead of failing
	torn     uint64 // number of incomplete messages
	whole    bool   // messages begin and end with their number, and the reader checks both numbers
}

// end is the memory of a flow on one of the servers.
type end struct {
	x    *side
	cq   verbs.CQ
	own  rb2.Place
	user uint64 // buffer outside the ring: source or destination of copies
}

// numberBytes is the size of a message's number, the only part of it that software reads and writes itself.
const numberBytes = 8

// newFlow builds a ring between the two sides. from is the index of the sender.
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

// newEnd reserves the memory of an end. Slots of unaligned designs begin in the middle of a line.
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

// misaligned is the offset of unaligned slots from a line in bytes, as malloc aligns.
const misaligned = 16

// poll takes the completions of an end.
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

// watch wakes the loops of both ends on completions, and on writes by the other end.
func (f *flow) watch(send, recv *cpu.Loop) error {
	f.wc = [2]*cpu.Loop{send, recv}
	_, err := send.Watch(f.ends[0].own.Lines, rb2.WordBytes)
	if addr, n := f.recv.Watches(); err == nil {
		_, err = recv.Watch(addr, n)
	}
	return err
}

// write writes the next message if the ring has room, and reports whether it had.
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

// watchSender checks the sender's pointers: back counts how often one of them went back.
func (f *flow) watchSender() {
	p, was := f.send.Pointers(), f.tail
	f.moved = f.moved || p.Head > was.Head
	if p.Tail < was.Tail || p.Synced < was.Synced || p.Esc < was.Esc || p.Head < was.Head {
		f.back++
	}
	f.tail = p
}

// watchReceiver checks the receiver's pointers: back counts how often one of them went back.
func (f *flow) watchReceiver() {
	p, was := f.recv.Pointers(), f.head
	if p.Head < was.Head || p.Synced < was.Synced || p.Tail < was.Tail {
		f.back++
	}
	f.head = p
}

// flush announces all messages written to the ring.
func (f *flow) flush() { f.b.fail(f.send.Flush()) }

// number returns the number at an address of the receiver's memory.
func (f *flow) number(addr uint64) uint64 {
	f.b.fail(f.ends[1].x.core.Load(addr, f.word[:]))
	return binary.LittleEndian.Uint64(f.word[:])
}

// read reads the next message if one has arrived, and reports whether it had.
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
		f.b.fail(core.Copy(f.ends[1].user, addr, f.size)) // the message is there: the core has loaded its first bytes
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
