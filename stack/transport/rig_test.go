package transport

import (
	"container/heap"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"nictwin/models/format/wire"
	"nictwin/stack/verbs"
)

// rig is two connections, their memories, and the network between them. An event queue drives them, so a run follows
// from its schedule.
type rig struct {
	schedule
	now      Ps
	queue    events
	seq      uint64
	ends     [2]*end
	attempts map[fault]uint8
	faults   []fault // faults that happened, in order
	spared   map[fault]bool
	trace    func(format string, args ...any)
	failure  error
	sum      uint32 // checksum of all frames sent
	log      func(frame []byte)

	spoil1024 int // Solar: payloads per 1024 packets that are corrupted although the ICRC is right
	spoiled   int
	flips     [2]int // number of bits flipped, and of those that no checksum found
	budget    int    // number of events left before the run counts as endless
}

// fault identifies a packet on the network. The schedule and this alone decide what happens to it.
type fault struct {
	from    uint8
	op      wire.Opcode
	psn     uint32
	attempt uint8
}

func (r *rig) after(d Ps, do func()) {
	r.seq++
	heap.Push(&r.queue, event{r.now + d, r.seq, do})
}

func (r *rig) failf(format string, args ...any) {
	if r.failure == nil {
		r.failure = fmt.Errorf("at %d ns: %s", r.now/1000, fmt.Sprintf(format, args...))
	}
}

// end is one side: a connection, its memory, and the functions of its NIC.
type end struct {
	*rig
	side     uint8
	conn     Conn
	mem      []byte
	packets  []held
	raw      []byte // UDP payload of the packet that method Input is handling, without ICRC
	out      Out
	pulling  bool
	wake     Ps
	copyAt   Ps
	copies   uint64
	sends    []Completion
	recvs    []Completion
	asyncs   []Event
	complete func(c *Completion)
	drained  func()
	dead     map[uint32]bool // keys that were invalidated
	refused  uint64          // number of the copy that must fail; 0: none
	holding  int             // buffers with requests
	landing  int             // buffers with answers
	wanted   int             // answers to READs that were requested, and whose buffers are not free again
	flying   int             // requests that this side sent, and whose receive buffers the peer has not freed
}

var _ Env = (*end)(nil)

// Memory keys of a side: their rights and ranges.
const (
	memBytes  = 1 << 15
	keyLocal  = 1
	keyRemote = 100 // all rights to [remoteAt, memBytes)
	keyReads  = 101 // right to READ only
	keyInv    = 200 // and up: keys that a SEND invalidates
	remoteAt  = 24 << 10
	base64k   = 0x7_0000_0000 // address of a side's memory
)

func (e *end) Check(key uint32, addr uint64, n uint32, need verbs.Access) bool {
	if key == keyReads {
		return need == verbs.AccessRemoteRead && e.inRemote(addr, n)
	}
	return key == keyRemote && e.inRemote(addr, n)
}

func (e *end) inRemote(addr uint64, n uint32) bool {
	return addr >= base64k+remoteAt && addr+uint64(n) <= base64k+memBytes
}

func (e *end) at(addr uint64, n uint32) []byte {
	if addr < base64k || addr+uint64(n) > base64k+memBytes {
		e.failf("side %d: %d bytes at %#x are touched", e.side, n, addr)
		return make([]byte, n)
	}
	return e.mem[addr-base64k:][:n]
}

// dispose checks that a packet's buffer has not been released yet, and releases it.
func (e *end) dispose(h Handle) *held {
	p := &e.packets[h]
	if p.done {
		e.failf("side %d: packet %d is disposed of twice", e.side, h)
	}
	p.done = true
	return p
}

func (e *end) Keep(h Handle) {
	if e.packets[h].done {
		e.failf("side %d: packet %d is kept after its end", e.side, h)
	}
}
func (e *end) CRC(h Handle, n int) uint32 { return wire.CRC32C(e.packets[h].payload[:n]) }

// copyLater carries out copies in the order of the calls, and reports their ends in any order.
func (e *end) copyLater(t Token, do func()) {
	e.copies++
	n := e.copies
	h := e.hash(uint64(e.side), 77, n)
	e.copyAt = max(e.copyAt, e.now+Ps(h%uint64(e.copyDelay+1)))
	e.after(e.copyAt-e.now, do)
	e.after(e.copyAt-e.now+Ps((h>>20)%uint64(e.copyDelay+1)), func() {
		status := verbs.WCSuccess
		if e.refused == n {
			status = verbs.WCLocProtErr
		}
		e.conn.Placed(e.now, t, status)
		e.pull()
	})
}

func (e *end) Place(h Handle, parts []Part, t Token) bool {
	p := e.dispose(h)
	payload := p.payload
	p.payload = nil
	mine := append([]Part(nil), parts...)
	n := 0
	for _, x := range mine {
		n += int(x.To.Len)
		if x.Remote != (x.To.Key == keyRemote) {
			e.failf("side %d: a copy to key %d is remote: %v", e.side, x.To.Key, x.Remote)
		}
	}
	if n > len(payload) {
		e.failf("side %d: %d bytes are placed of %d", e.side, n, len(payload))
		return false
	}
	e.copyLater(t, func() {
		for _, x := range mine {
			copy(e.at(x.To.Addr, x.To.Len), payload[x.Off:])
		}
		for i := range payload {
			payload[i] = 0xdd // the buffer may hold another packet from now on
		}
		e.free(&e.packets[h])
	})
	return false
}

func (e *end) Store(to Span, v uint64, t Token) {
	e.copyLater(t, func() { putValue(e.at(to.Addr, 8), v) })
}

func putValue(b []byte, v uint64) {
	for i := range 8 {
		b[i] = byte(v >> (8 * i))
	}
}

func value(b []byte) (v uint64) {
	for i := range 8 {
		v |= uint64(b[i]) << (8 * i)
	}
	return v
}

func (e *end) Atomic(op verbs.Opcode, _ uint32, addr, swapAdd, compare uint64, t Token) {
	e.copies++
	h := e.hash(uint64(e.side), 78, e.copies)
	e.after(Ps(h%uint64(e.copyDelay+1)), func() {
		cell := e.at(addr, 8)
		v := value(cell)
		switch {
		case op == verbs.WRFetchAdd:
			putValue(cell, v+swapAdd)
		case v == compare:
			putValue(cell, swapAdd)
		}
		e.after(Ps((h>>20)%uint64(e.copyDelay+1)), func() {
			e.conn.AtomicDone(e.now, t, v, verbs.WCSuccess)
			e.pull()
		})
	})
}

func (e *end) CheckLocal(to Span) bool { return to.Key == keyLocal }

func (e *end) PlaceGRH(Handle, []Part, Token) { e.failf("side %d: a network header is wanted", e.side) }

func (e *end) Invalidate(key uint32) bool {
	if e.dead[key] || key < keyInv {
		return false
	}
	e.dead[key] = true
	return true
}

func (e *end) Complete(c *Completion) {
	e.trace("%d side %d completes %d: %v, receive %v, %d B", e.now/1000, e.side, c.ID, c.Status, c.Recv, c.ByteLen)
	if c.Recv {
		e.recvs = append(e.recvs, *c)
	} else {
		e.sends = append(e.sends, *c)
	}
	if e.complete != nil {
		e.complete(c)
	}
}

func (e *end) Async(v Event) {
	if v == EventSQDrained && e.drained != nil {
		e.drained()
		return
	}
	e.asyncs = append(e.asyncs, v)
}

// pull takes packets that may leave, one at a time.
func (e *end) pull() {
	if e.pulling {
		return
	}
	if !e.conn.Next(e.now, &e.out) {
		e.sleep()
		return
	}
	e.pulling = true
	e.send()
	e.after(e.packetTime, func() {
		e.pulling = false
		e.pull()
	})
}

// sleep schedules an event at the connection's deadline.
func (e *end) sleep() {
	d := e.conn.Deadline()
	if d == Never || e.wake > e.now && e.wake <= d {
		return
	}
	e.wake = max(d, e.now)
	e.after(e.wake-e.now, func() {
		if e.wake == e.now {
			e.wake = 0
			e.trace("%d side %d wakes", e.now/1000, e.side)
			e.conn.Expire(e.now)
			e.pull()
		}
	})
}

// send gathers the payload of a packet and passes it to the network.
func (e *end) send() {
	o := &e.out
	head := append([]byte(nil), o.Head[ipSize(o.Head)+udpSize:]...)
	payload := make([]byte, 0, o.Payload)
	payload = append(payload, o.Inline...)
	for _, s := range o.Spans {
		if s.Key == keyLocal == o.Remote {
			e.failf("side %d: gathers from key %d, remote %v", e.side, s.Key, o.Remote)
		}
		payload = append(payload, e.at(s.Addr, s.Len)...)
	}
	if len(payload) != o.Payload {
		e.failf("side %d: %v PSN %#x has %d bytes, says %d", e.side, o.Opcode, o.PSN, len(payload), o.Payload)
	}
	tail := append([]byte(nil), o.Tail...)
	if o.CRCAt >= 0 {
		binary.LittleEndian.PutUint32(tail[o.CRCAt:], wire.CRC32C(payload))
	}
	if o.Token != 0 {
		t := o.Token
		e.after(Ps(e.hash(uint64(e.side), 78, uint64(t))%uint64(e.copyDelay+1)), func() {
			e.conn.Sent(e.now, t)
			e.pull()
		})
	}
	if e.frames {
		e.seal(o, payload, tail)
	}
	e.transfer(o, append(append(head, payload...), tail...))
}

func ipSize(frame []byte) int {
	if frame[12] == 0x08 {
		return etherSize + ipv4Size
	}
	return etherSize + ipv6Size
}

// seal builds the whole frame as the NIC does, and checks its lengths and checksums.
func (e *end) seal(o *Out, payload, tail []byte) {
	frame := append(append(append([]byte(nil), o.Head...), payload...), tail...)
	frame = append(frame, 0, 0, 0, 0)
	if len(frame) != o.Len() {
		e.failf("side %d: Len is %d, the frame has %d", e.side, o.Len(), len(frame))
	}
	if err := wire.InsertFrameICRC(frame); err != nil {
		e.failf("side %d: %v", e.side, err)
	}
	if v := wire.VerifyIPv4Header(frame[etherSize:]); v != wire.OK && v != wire.NotChecked {
		e.failf("side %d: IPv4 header checksum %v", e.side, v)
	}
	e.sum = crc32.Update(e.sum, crc32.IEEETable, frame)
	if e.log != nil {
		e.log(frame)
	}
}

// transfer delivers a UDP payload (without ICRC) to the other side, unless the schedule says that it is lost.
func (e *end) transfer(o *Out, b []byte) {
	f := fault{from: e.side, op: o.Opcode, psn: o.PSN}
	f.attempt = e.attempts[f]
	e.attempts[fault{from: f.from, op: f.op, psn: f.psn}] = f.attempt + 1
	fate := e.fate(f)
	e.trace("%d side %d sends %v PSN %#x attempt %d, %d B: %v", e.now/1000, e.side, o.Opcode, o.PSN, f.attempt,
		o.Payload, fate)
	e.checkFlight(b)
	if fate.lost {
		return
	}
	if h := e.hash(uint64(f.from), uint64(f.op), uint64(f.psn), uint64(f.attempt), 41); o.CRCAt >= 0 &&
		f.attempt < e.faulty && int(h%1024) < e.spoil1024 {
		e.spoiled++
		b[len(b)-len(o.Tail)-1] ^= 0x10
	}
	peer := e.ends[1-e.side]
	if fate.flipped {
		if b = e.flip(o, b, e.hash(uint64(f.from), uint64(f.op), uint64(f.psn), uint64(f.attempt), 42)); b == nil {
			return
		}
	}
	e.after(e.latency+fate.delay, func() { peer.arrive(b, fate.marked) })
	if fate.twice {
		again := append([]byte(nil), b...)
		e.after(e.latency+fate.delay+fate.gap, func() { peer.arrive(again, false) })
	}
}

// arrive passes a packet to the connection, as the NIC does.
func (e *end) arrive(b []byte, marked bool) {
	var p Packet
	if err := p.Parse(b, len(b)+wire.ICRCSize); err != nil {
		e.failf("side %d: %v", e.side, err)
		return
	}
	from := len(b) - int(p.BTH.PadCnt) - p.Payload
	if op := p.BTH.Opcode; op >= OpSolarWrite && op < OpSolarAck {
		from -= SolarTrailerSize
	}
	p.Handle, p.Marked = Handle(len(e.packets)), marked
	x := e.hold(&p)
	x.payload = append([]byte(nil), b[from:from+p.Payload]...)
	e.packets = append(e.packets, x)
	e.raw = b
	e.conn.Input(e.now, &p)
	e.pull()
}

// play runs until no events are left.
func (r *rig) play() {
	for r.queue.Len() > 0 && r.failure == nil {
		if r.budget--; r.budget < 0 {
			r.failf("it does not end")
			return
		}
		e := heap.Pop(&r.queue).(event)
		r.now = e.at
		e.do()
	}
}
