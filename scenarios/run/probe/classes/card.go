package classes

import (
	"slices"

	"nictwin/models/format/tlp"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic/rnicspec"
	"nictwin/stack/driver"
)

// Memory names the uses of a card's memory.
type Memory struct {
	Uses *driver.Uses // nil: not known
	// Bus returns the bus address that a memory key gives to an address; nil: the NIC is not one of the contract.
	Bus     func(key uint32, va uint64) (uint64, bool)
	Payload []Range // memory of the applications
}

// Range is a range of bus addresses.
type Range struct{ From, Bytes uint64 }

func (r Range) has(addr uint64) bool { return addr-r.From < r.Bytes }

// of returns the class of a byte of memory.
func (m *Memory) of(addr uint64) (Class, driver.Use) {
	if m.Uses != nil {
		if use := m.Uses.Of(addr); use != driver.UseNone {
			return classOf[use], use
		}
	}
	if slices.ContainsFunc(m.Payload, func(r Range) bool { return r.has(addr) }) {
		return Payload, driver.UsePayload
	}
	return Other, driver.UseNone
}

// next returns the address of the block that follows one in a ring: behind the last block, that of the first.
func (m *Memory) next(at uint64) uint64 {
	if from, to, ok := m.Uses.Range(at); ok && at+nicspec.WqeBytes == to {
		return from
	}
	return at + nicspec.WqeBytes
}

var classOf = [...]Class{
	driver.UseNone: Other, driver.UseSendRing: Descriptors, driver.UseRecvRing: Descriptors,
	driver.UseElements: Descriptors, driver.UseCompletions: Completions, driver.UseHeaders: Headers,
	driver.UsePayload: Payload, driver.UseDoorbells: Doorbells, driver.UseMessages: Messages,
	driver.UseContexts: Contexts,
}

// card follows the reads and writes of a card's devices over all its links.
type card struct {
	memory *Memory
	reads  map[request]*read
	sends  map[uint64][]*piece            // frames to send, by the bus address from which the NIC reads next
	more   map[uint64]*entry              // by the address of a further block of a work entry
	lands  map[uint64]*piece              // received frames, by the bus address to which the NIC writes next
	passed map[uint64][]piece             // by address: parts of received frames that crossed the NIC's link
	sent   seen                           // packets that the NIC read
	got    seen                           // packets that it wrote
	behind [nicspec.EndpointHost + 1]bool // by endpoint: bytes are counted on a link behind the NIC's, too
	again  map[uint8]bool                 // payload that an rnic reads for packets sent before, by tag
	latest bool                           // whether the packet of an rnic's latest read of payload was sent before
}

func newCard(m *Memory) *card {
	return &card{memory: m, reads: map[request]*read{}, sends: map[uint64][]*piece{}, more: map[uint64]*entry{},
		lands: map[uint64]*piece{}, passed: map[uint64][]piece{}, sent: seen{},
		got: seen{}, again: map[uint8]bool{}}
}

// request identifies a read request until its tag is used again.
type request struct {
	requester uint16
	tag       uint8
}

// read is a read request whose completions are awaited.
type read struct {
	from, to uint64
	part     piece // the part of a frame that it reads, from address `from` on; its frame is nil if it reads none
	again    bool  // payload of a packet that an rnic sends again
}

// frame is a frame whose parts a NIC reads or writes.
type frame struct {
	packet
	parsed bool // the headers were seen
	roce   bool
	again  bool
	early  []early // payload that was counted before the headers were seen
	pay    uint64  // received: address of the payload buffer
}

// early is payload counted as sent for the first time.
type early struct {
	link  *Link
	bytes int
}

// piece is a contiguous part of a frame in memory.
type piece struct {
	*frame
	off  int // offset in the frame
	left int
}

// learn reads a frame's headers; known holds the packets that were seen.
func (f *frame) learn(b []byte, known seen) {
	if f.parsed {
		return
	}
	f.parsed = true
	if f.packet, f.roce = parse(b); f.roce {
		f.again = known.before(&f.packet)
	}
	if f.again {
		for _, e := range f.early {
			n := min(e.bytes, int(e.link.bytes[Payload])) // some may be from before Begin
			e.link.Count(Payload, -n)
			e.link.Count(Again, n)
		}
	}
	f.early = nil
}

// count counts n bytes of a frame from an offset on.
func (f *frame) count(l *Link, off, n int, otherwise Class) {
	payload := Payload
	if f.again {
		payload = Again
	}
	switch {
	case !f.parsed:
		l.Count(otherwise, n)
		if otherwise == Payload {
			f.early = append(f.early, early{l, n})
		}
	case !f.roce:
		l.Count(Payload, n) // a raw frame is the application's, headers included
	case f.ack:
		l.Count(Acks, n)
	default:
		k := max(0, min(off+n, f.to)-max(off, f.from))
		l.Count(payload, k)
		l.Count(Headers, n-k)
	}
}

// entry is a work entry whose further blocks are awaited.
type entry struct {
	frame  *frame
	inline int // number of inline bytes
	skip   int // slots of inline bytes that are still to come
	pieces int // number of pieces that are still to come
	off    int // offset in the frame at which the next piece goes
	head   []byte
}

// block reads a block of a transmit queue's ring or a pushed one. at is its address; 0: it was pushed.
func (c *card) block(at uint64, b []byte) {
	if e := c.more[at]; e != nil && at != 0 {
		delete(c.more, at)
		c.slots(e, nicspec.WqeMore(b).Slots())
		return
	}
	w := nicspec.Wqe(b)
	if w.Opcode() != nicspec.OpcodeSend {
		return
	}
	n := int(w.InlineLen())
	e := &entry{frame: new(frame), inline: n, skip: (n + nicspec.WqeSlotBytes - 1) / nicspec.WqeSlotBytes,
		pieces: int(w.Nseg()), off: n}
	for range w.Blocks() {
		if at != 0 {
			at = c.memory.next(at)
			c.more[at] = e
		}
	}
	c.slots(e, w.Slots())
}

// slots takes the pieces of a work entry from the slots of a block.
func (c *card) slots(e *entry, b []byte) {
	for ; len(b) >= nicspec.WqeSlotBytes && e.pieces > 0; b = b[nicspec.WqeSlotBytes:] {
		if e.skip > 0 {
			e.skip--
			e.head = append(e.head, b[:nicspec.WqeSlotBytes]...)
			if e.skip == 0 {
				e.frame.learn(e.head[:e.inline], c.sent)
			}
			continue
		}
		s := nicspec.Seg(b)
		e.pieces--
		at, ok := c.memory.Bus(s.Key(), s.Addr())
		n := int(s.Len())
		if ok && n > 0 && !c.waits(at, n) {
			c.sends[at] = append(c.sends[at], &piece{e.frame, e.off, n})
		}
		e.off += n
	}
}

// waits reports whether the headers of a frame to send, n bytes at an address, wait to be read: a NIC may read an entry
// that was pushed to it.
func (c *card) waits(at uint64, n int) bool {
	if _, use := c.memory.of(at); use != driver.UseHeaders {
		return false
	}
	for _, p := range c.sends[at] {
		if p.left == n {
			return true
		}
	}
	return false
}

// descriptors reads receive descriptors.
func (c *card) descriptors(b []byte) {
	for ; len(b) >= nicspec.RxDescSize; b = b[nicspec.RxDescSize:] {
		d := nicspec.RxDesc(b)
		f := &frame{pay: d.PayAddr()}
		c.lands[d.HdrAddr()] = &piece{frame: f, left: tlp.PageBytes}
	}
}

// register returns the class of an access to a device's registers; ok is false for other addresses.
func (c *card) register(addr uint64) (class Class, ok bool) {
	const bars = 2 // BARs: that of the NIC and that of a second device
	off := addr - nicspec.BarBase
	if off >= bars*nicspec.BarBytes {
		return 0, false
	}
	off %= nicspec.BarBytes
	push := off >= nicspec.RegTxPushBase && off < nicspec.RegTxPushBase+nicspec.RegTxPushCount*nicspec.RegTxPushStride
	if c.memory.Bus == nil || addr >= nicspec.BarBase+nicspec.BarBytes {
		push = off >= rnicspec.RegPages && off%rnicspec.PageBytes >= rnicspec.PagePush
	}
	if push {
		return Descriptors, true
	}
	return Doorbells, true
}

// endpoint returns the endpoint of a bus address.
func endpoint(addr uint64) int {
	ep, _ := mem.Split(addr)
	return min(ep, nicspec.EndpointHost)
}

// IsBuffer reports whether a line of memory is an I/O buffer: it holds packet headers or payload.
func (m *Memory) IsBuffer(addr uint64) bool {
	class, _ := m.of(addr)
	return class == Payload || class == Headers
}
