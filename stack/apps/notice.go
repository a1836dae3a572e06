package apps

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"nictwin/models/sim/field"
	"nictwin/models/sim/fifo"
	"nictwin/stack/verbs"
)

// Notice selects the event by which an application detects a message.
type Notice string

// Kinds of notice.
const (
	NoticeCompletion Notice = "completion"
	NoticeBytes      Notice = "bytes" // of the message itself, in the buffer of a receive request
)

// With NoticeBytes a message ends with its number and a checksum of all bytes before. The application polls the last
// bytes of the buffer that it posted first. The bytes of a message may be written in any order, so the number alone
// does not prove that the others have arrived. When the number is that of the next message, the application loads the
// message, and takes it if the checksum matches. Otherwise it looks again after the next write.
//
// Packets that were lost, doubled or out of order take buffers that are not in turn. Their messages are taken by their
// completions, which name the buffer.
const (
	sealBytes = 8 // number and sum
	sumBytes  = 4
)

// seal writes the number and the sum at the end of a message.
func seal(b []byte, m int) {
	end := len(b) - sumBytes
	binary.LittleEndian.PutUint32(b[end-sumBytes:], uint32(m))
	binary.LittleEndian.PutUint32(b[end:], crc32.ChecksumIEEE(b[:end]))
}

// whole reports whether all bytes of a sealed message are there.
func whole(b []byte) bool {
	end := len(b) - sumBytes
	return binary.LittleEndian.Uint32(b[end:]) == crc32.ChecksumIEEE(b[:end])
}

// noticing is a role of an end that detects messages by polling their bytes in the buffers.
type noticing interface {
	direction() int         // of the messages that it takes
	took(m, slot int)       // message m was taken from a slot, and its bytes have been checked
	recyclable(m, slot int) // the receive request of message m has ended
}

// notice is the state of an end that polls bytes.
type notice struct {
	*end
	loop    Loop
	buffers fifo.Slots // slots with receive requests whose messages have not been taken, oldest first
	from    []int      // slot that each message was taken from, by number modulo its length
	taken   int        // messages taken
	early   int        // messages taken before their completions
}

// notices starts the polling loops of a side.
func (u *setup) notices(s *side) error {
	for _, e := range s.ends {
		if e.notice == nil {
			continue
		}
		on, ok := s.Core.(Looper)
		if !ok {
			return noLooper("notice", s)
		}
		var err error
		n, a := e.notice, &e.recvs.area
		if n.loop, err = on.Loop(fmt.Sprintf("%s of flow %d", roleName(e.client), e.flow), n.step); err == nil {
			err = n.loop.Watch(a.base, int(a.bytes()))
		}
		if err != nil {
			return fmt.Errorf("server %s: %w", s.Name, err)
		}
	}
	return nil
}

// noLooper returns the error of a server whose cores cannot poll memory.
func noLooper(what string, s *side) error {
	return verbs.Errorf(what, verbs.EOPNOTSUPP,
		"server %s: its applications run on no core that can poll memory: want a board with -cores", s.Name)
}

// allocateNotice makes an end poll bytes, if it receives messages.
func (e *end) allocateNotice() {
	if e.spec.Notice == NoticeBytes && e.recvs != nil {
		n := e.recvs.area.slots
		e.notice = &notice{end: e, from: make([]int, n), buffers: fifo.NewSlots(n)}
	}
}

// await records a receive request for a slot.
func (n *notice) await(slot int) { n.buffers.Push(slot) }

// step takes the next message if it is whole in the oldest buffer. A core's polling loop calls it.
func (n *notice) step() bool {
	slot, ok := n.buffers.Front()
	if n.stopped || n.taken == n.total || !ok {
		return false
	}
	a, size := &n.recvs.area, n.spec.size(n.taken)
	tail := n.got(sealBytes)
	if !n.check("load", a.load(n.side.Core, slot, size-sealBytes, a.piece, tail)) ||
		binary.LittleEndian.Uint32(tail) != uint32(n.taken) {
		return false
	}
	got := n.got(size)
	if !n.check("load", a.load(n.side.Core, slot, 0, a.piece, got)) || !whole(got) {
		return false
	}
	n.buffers.Remove(slot)
	n.early++
	n.take(slot, got)
	n.role.advance()
	return true
}

// take checks the next message, whose bytes were loaded from a slot, and takes it.
func (n *notice) take(slot int, got []byte) {
	m, before, a, to := n.taken, n.messages, &n.recvs.area, n.role.(noticing)
	n.from[m%len(n.from)] = slot
	n.taken++
	n.side.run.progress++
	n.compare(got, m, to.direction(), func(off int) uint64 { return a.byteAddr(slot, off, a.piece) })
	n.tookMessage(m, before)
	to.took(m, slot)
}

// completed handles the completion of a receive request, whose message may have been taken before.
func (n *notice) completed(slot int, wc *verbs.WC) {
	m, size := n.recvsDone-1, int(wc.ByteLen)
	n.noteMessage(m)
	n.checkImm(wc, m)
	n.buffers.Remove(slot) // no longer in there if its message was taken
	switch {
	case size != n.spec.size(m):
		n.badLength(m, size, n.spec.size(m))
		n.stopped = true
		return
	case m == n.taken:
		got := n.got(size)
		if !n.check("load", n.recvs.area.load(n.side.Core, slot, 0, n.recvs.area.piece, got)) {
			return
		}
		n.take(slot, got)
	case n.spec.Kind == Reflector && n.from[m%len(n.from)] != slot:
		n.fail(Finding{What: "buffer", Message: m, Text: fmt.Sprintf("message %d was taken from buffer %d, which the "+
			"device may write again, and came in buffer %d: want %s %s on a network that loses packets", m,
			n.from[m%len(n.from)], slot, "notice", NoticeCompletion)})
	}
	n.role.(noticing).recyclable(m, slot)
	if n.loop != nil {
		n.loop.Wake() // another buffer may be the oldest now
	}
}

func (n *notice) halt() {
	if n.loop != nil {
		n.loop.Stop()
	}
}

// validateNotice rejects workloads whose messages cannot be polled.
func (s *Spec) validateNotice(bad func(ok bool, path field.Path, format string, a ...any)) {
	if s.Notice == NoticeCompletion {
		return
	}
	if s.Notice != NoticeBytes {
		bad(false, "notice", "%q: want %s or %s", s.Notice, NoticeCompletion, NoticeBytes)
		return
	}
	bad(s.LowLatency, "notice", "%s: only the device of a low-latency queue pair writes messages to buffers in the "+
		"order in which they were posted: want %v true, or %s", s.Notice, field.Path("low_latency"), NoticeCompletion)
	bad(s.Memory == Places{HostPlace, HostPlace}, "notice", "%s: applications poll memory of their host alone: want "+
		"%v %s, or %s", s.Notice, field.Path("memory"), HostPlace, NoticeCompletion)
	for i, n := range s.Sizes {
		bad(n >= sealBytes, field.Path(fmt.Sprintf("sizes[%d]", i)), "%d: with %v %s a message ends with its number "+
			"and a sum: want %d or more", n, field.Path("notice"), s.Notice, sealBytes)
	}
}
