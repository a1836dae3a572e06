package replay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"

	"nictwin/models/format/ether"
	"nictwin/models/format/tlp"
	"nictwin/models/format/wire"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/traffic"
	"nictwin/scenarios/traffic/capture"
	"nictwin/stack/driver"
)

// transmit is the transmit side of a replay: it cuts frames into pieces, posts them, and checks the frames that come
// out.
type transmit struct {
	faults
	d       *driver.Driver
	mem     mem.Backdoor
	shape   *Shape
	blocks  int // maximum number of blocks of an entry
	frames  *traffic.Turns
	pass    int // frames of one pass over the captures
	longest int // bytes of the longest frame
	total   int
	fix     Recompute
	fail    func(error) // ends the run with an error
	rng     *rand.Rand
	queues  []*txQueue
	slot    uint64      // bytes of Arm memory for a frame, which has twice as many in host memory
	armKey  *driver.Key // Arm memory at its bus addresses
	shadow  *driver.Key // host memory at shadowVA
	next    int         // ordinal of the next frame to post
	out     int
	bytes   int64
	refuse  int // frames that the NIC must refuse, so far
	bad     int // completion entries that report a refusal
	pieces  [4]int
	send    driver.Send // the entry being built
	segs    [nicspec.WqeSlots]driver.Span
	raw     driver.Raw
}

// txQueue is a transmit queue, with memory for frames and the frames that must still come out.
type txQueue struct {
	*driver.TxQueue
	arm, host uint64 // bus addresses of the queue's memory for frames
	expect    []expected
	head      int // index in expect of the first frame that may still come out
}

type expected struct {
	ordinal int
	origin  capture.Origin
	port    int
	data    []byte
	index   uint16
	fail    bool // the NIC must refuse the entry
	out     bool // the frame came out
}

const (
	shadowVA = 0x7f00_0000_0000 // virtual address at which entries name host memory
)

// slotFor returns the bytes of memory for the pieces of a frame of `longest` bytes, which begin at odd addresses.
// Nothing is written for frames above FrameMax.
func slotFor(longest int) uint64 {
	const odd = (nicspec.WqeSlots + 1) * 64
	return uint64(min(longest, nicspec.FrameMax)+odd+63) &^ 63
}

func (t *transmit) setup() error {
	size := uint64(1) << t.shape.TxLog
	t.blocks = t.shape.blocks()
	t.slot = slotFor(t.longest)
	all := uint64(t.shape.TxQueues) * size * t.slot
	arm, err := t.d.Alloc(nicspec.EndpointArm, all, tlp.PageBytes)
	if err != nil {
		return err
	}
	hst, err := t.d.Alloc(nicspec.EndpointHost, 2*all, tlp.PageBytes)
	if err != nil {
		return err
	}
	read := dma.Access{Read: true}
	if t.armKey, err = t.d.SetKey(driver.KeySpec{Index: 1, Variant: 0x5a, VA: arm, Bus: arm, Len: all,
		Rights: read}); err != nil {
		return err
	}
	if t.shadow, err = t.d.SetKey(driver.KeySpec{Index: 2, Variant: 0xc3, VA: shadowVA, Bus: hst, Len: 2 * all,
		Rights: read}); err != nil {
		return err
	}
	for i := range t.shape.TxQueues {
		q, err := t.d.OpenTx(driver.TxConfig{QueueConfig: driver.QueueConfig{Queue: i, LogSize: t.shape.TxLog},
			OnEnd: t.ended})
		if err != nil {
			return err
		}
		t.queues = append(t.queues, &txQueue{
			TxQueue: q, arm: arm + uint64(i)*size*t.slot, host: hst + uint64(i)*size*t.slot*2,
		})
	}
	return nil
}

// done reports whether every frame was posted and every entry has ended.
func (t *transmit) done() bool {
	if t.next < t.total {
		return false
	}
	for _, q := range t.queues {
		if q.Room() != 1<<t.shape.TxLog {
			return false
		}
	}
	return true
}

// post fills the rings as far as they have room, taking the queues in turn, and rings each doorbell once.
func (t *transmit) post() error {
	for t.next < t.total {
		q := t.queues[t.next%len(t.queues)]
		if q.Room() < t.blocks {
			break
		}
		if err := t.postFrame(q); err != nil {
			return err
		}
		t.next++
	}
	for _, q := range t.queues {
		if err := q.Ring(); err != nil {
			return err
		}
	}
	return nil
}

// completeEvery is the distance, in blocks, between entries that request a completion: an entry requests one if it
// covers a block whose index is a multiple of completeEvery. The last entry of each queue always does.
const completeEvery = 8

func (t *transmit) postFrame(q *txQueue) error {
	f, err := t.frames.Next()
	if err != nil {
		return err
	}
	data := f.Data
	t.send = driver.Send{
		Order: driver.Order{ID: uint32(t.next)}, Port: f.Port, Pad: len(data) < nicspec.FrameMin, Pieces: t.segs[:0],
	}
	want := t.offload(&t.send.Offloads, data)
	if err := t.cut(q, data); err != nil {
		return err
	}
	t.send.Complete = int(-q.Next()%completeEvery) < t.send.Blocks() || t.next+len(t.queues) >= t.total
	e := expected{ordinal: t.next, origin: f.Origin, port: f.Port, data: want, index: q.Next(),
		fail: len(data) > nicspec.FrameMax}
	if e.fail {
		t.refuse++
	}
	if old := q.head - 2<<t.shape.TxLog; old > 1024 { // completion entries refer to the latest frames only
		q.expect = append(q.expect[:0], q.expect[old:]...)
		q.head -= old
	}
	q.expect = append(q.expect, e)
	if e.fail {
		t.send.Encode(t.raw[:]) // encode the entry here: the driver would refuse it
		return q.Post(&t.raw)
	}
	return q.Post(&t.send)
}

// cut spreads a frame over inline bytes and pieces, as the shape says or, if it leaves that open, as drawn from the
// seed. Pieces start at odd addresses.
func (t *transmit) cut(q *txQueue, data []byte) error {
	slot := uint64(q.Next() & (1<<t.shape.TxLog - 1))
	c := cutter{t: t, s: &t.send, data: data, arm: q.arm + slot*t.slot, host: q.host + slot*t.slot*2}
	switch {
	case t.shape.Inline > 0 && len(data) <= nicspec.FrameMax: // frames that must be refused have a single block
		c.inEntry(t.shape.Inline, t.shape.Trailer)
	case t.shape.Header > 0:
		c.header(t.shape.Header)
	default:
		c.bySeed()
	}
	t.pieces[len(t.send.Pieces)]++
	return c.err
}

// cutter spreads one frame over an entry.
type cutter struct {
	t         *transmit
	s         *driver.Send
	data      []byte
	arm, host uint64 // bus addresses of the memory for the pieces
	at        int    // bytes placed so far
	inline    int    // slots used for inline bytes
	err       error
}

// header places the first n bytes in one piece and the others in a second one.
func (c *cutter) header(n int) {
	n = min(n, len(c.data))
	c.piece(c.t.armKey, c.arm+1, n)
	if n < len(c.data) {
		c.piece(c.t.shadow, c.host+3, len(c.data)-n)
	}
}

// inEntry places the first n bytes in the entry, the payload in a piece, and the trailer where `from` says.
func (c *cutter) inEntry(n int, from Trailer) {
	end := len(c.data)
	if from != TrailerInPayload {
		trailer, err := trailerOf(&c.s.Offloads, c.data)
		if err != nil {
			c.err = fmt.Errorf("frame %d: %w", c.t.next, err)
			return
		}
		end -= trailer
	}
	c.at = min(n, end)
	c.s.Inline = c.data[:c.at]
	if c.at < end {
		c.piece(c.t.shadow, c.host+3, end-c.at)
	}
	switch from {
	case TrailerPiece:
		c.piece(c.t.armKey, c.arm+1, len(c.data)-end)
	case TrailerAppended:
		c.s.Append = true
	}
}

// trailerOf returns the number of pad and ICRC bytes at the end of a frame whose ICRC the NIC inserts.
func trailerOf(o *driver.Offloads, frame []byte) (int, error) {
	if !o.ICRC {
		return 0, errors.New("a trailer apart from the payload: want a RoCE frame whose ICRC can be inserted")
	}
	const udpSize = 8
	udp := frame[o.L4:]
	if n := int(binary.BigEndian.Uint16(udp[4:])); n != len(udp) {
		return 0,
			fmt.Errorf("UDP length %d of %d bytes: want a frame that ends with its ICRC, without Ethernet padding", n,
				len(udp))
	}
	bth, err := wire.ParseBTH(udp[udpSize:])
	if err != nil {
		return 0, err
	}
	n := bth.PadCnt() + wire.ICRCSize
	for _, b := range udp[len(udp)-n : len(udp)-wire.ICRCSize] {
		if b != 0 {
			return 0, fmt.Errorf("pad byte %#02x: want 0, as a NIC appends them [T15]", b)
		}
	}
	return n, nil
}

func (c *cutter) bySeed() {
	rng, n := c.t.rng, len(c.data)
	if rng.IntN(4) == 0 { // one or two slots of inline bytes
		c.at = min(n, 1+rng.IntN(2*nicspec.WqeSlotBytes))
		c.inline = driver.InlineSlots(c.at)
		c.s.Inline = c.data[:c.at]
	}
	inline := c.at
	for c.at < n {
		take, segs := n-c.at, len(c.s.Pieces)
		if nicspec.WqeSlots-c.inline-segs > 1 && rng.IntN(8) != 0 {
			take = c.t.pieceLen(segs, take)
		}
		key, bus := c.t.shadow, c.host+uint64(segs%2)*c.t.slot
		if segs == 0 && inline == 0 || rng.IntN(6) == 0 {
			key, bus = c.t.armKey, c.arm
			c.arm += uint64(take + 64) // a second piece in Arm memory must not overwrite this one
		}
		c.piece(key, bus+uint64(rng.IntN(64)), take)
	}
}

// piece writes the next n bytes to memory and adds a piece with their address to the entry.
func (c *cutter) piece(key *driver.Key, bus uint64, n int) {
	if len(c.data) <= nicspec.FrameMax {
		c.err = errors.Join(c.err, c.t.mem.Write(bus, c.data[c.at:c.at+n]))
	}
	c.s.Pieces = append(c.s.Pieces, driver.Span{Key: key, Off: bus - key.Bus, Len: uint32(n)})
	c.at += n
}

// pieceLen draws the length of a piece: the first one ends with the headers, the others anywhere.
func (t *transmit) pieceLen(seg, left int) int {
	if seg == 0 {
		return min(left, 14+t.rng.IntN(100))
	}
	return 1 + t.rng.IntN(left)
}

// ended checks a completion entry.
func (t *transmit) ended(q *driver.TxQueue, end *driver.TxEnd) {
	x, cqe := t.queues[q.Number()], end.Cqe
	fails, of := false, (*expected)(nil)
	for i := len(x.expect) - 1; i >= 0; i-- { // indices wrap: of equal ones, the latest is meant
		if e := &x.expect[i]; e.index == cqe.Index() {
			fails, of = e.fail, e
			break
		}
	}
	switch want := nicspec.StatusBadLength; {
	case fails && cqe.Status() == want:
		t.bad++
	case fails:
		t.add(t.foundIn(of, q.Number(), "T3", "status", want, cqe.Status()),
			"entry %d of transmit queue %d ended with %v, want %v", cqe.Index(), q.Number(), cqe.Status(), want)
	case cqe.Status() != nicspec.StatusOk:
		t.add(t.foundIn(of, q.Number(), "T10", "status", nicspec.StatusOk, cqe.Status()),
			"entry %d of transmit queue %d ended with %v", cqe.Index(), q.Number(), cqe.Status())
	}
	if err := t.post(); err != nil {
		t.fail(err)
	}
}

// sent checks a frame that came out of a port.
func (t *transmit) sent(port int, f *ether.Frame) {
	if f.Queue < 0 || f.Queue >= len(t.queues) {
		t.add(t.found(f.Queue, "B3", "tuser", fmt.Sprintf("less than %d", len(t.queues)), f.Queue),
			"a frame came out of transmit queue %d, which is not in use", f.Queue)
		return
	}
	q := t.queues[f.Queue]
	e := q.take(port, f.Data)
	if e == nil {
		t.add(t.found(f.Queue, "T1", "frame", "none", fmt.Sprintf("%d bytes", len(f.Data))),
			"a frame of %d bytes came out of transmit queue %d, but none was expected", len(f.Data), f.Queue)
		return
	}
	t.out++
	t.bytes += int64(len(f.Data))
	if port != e.port {
		t.add(t.foundIn(e, f.Queue, "T9", "port", e.port, port),
			"frame %d from transmit queue %d came out of port %d, want %d", e.ordinal, f.Queue, port, e.port)
	}
	if !bytes.Equal(e.data, f.Data) {
		d := firstDiff(e.data, f.Data)
		t.add(t.foundIn(e, f.Queue, "T5", d.field, d.want, d.got), "frame %d from transmit queue %d: %s", e.ordinal,
			f.Queue, d.text)
	}
	e.data = nil
}

// check runs the final checks.
func (t *transmit) check() {
	if t.out+t.refuse != t.total {
		t.add(result.Finding{Rule: "C1", Domain: result.Tx, Field: "frames", Expected: fmt.Sprint(t.total - t.refuse),
			Got: fmt.Sprint(t.out)},
			"%d frames were posted, %d came out and %d had to be refused", t.total, t.out, t.refuse)
	}
	if t.bad != t.refuse {
		t.add(result.Finding{Rule: "T3", Domain: result.Tx, Field: "refused entries", Expected: fmt.Sprint(t.refuse),
			Got: fmt.Sprint(t.bad)},
			"%d entries had to be refused, %d were", t.refuse, t.bad)
	}
}
