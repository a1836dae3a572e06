package replay

import (
	"bytes"
	"math/rand/v2"

	"nictwin/models/ether"
	"nictwin/models/host"
	"nictwin/models/nicspec"
	"nictwin/scenarios/board"
	"nictwin/scenarios/driver"
)

// transmit is the transmit side of a replay: it cuts frames into pieces, posts
// them, and checks what comes out.
type transmit struct {
	faults
	d      *driver.Driver
	root   *host.Root
	frames []board.Frame
	total  int
	fix    Recompute
	rng    *rand.Rand
	queues []*txQueue
	armKey driver.Key // Arm memory, as it is
	shadow driver.Key // Arm-side addresses that name host memory
	next   int        // frame to post
	out    int
	bytes  int64
	refuse int // frames that the NIC must refuse
	bad    int // completion entries that said so
	pieces [4]int
	wqe    [nicspec.WqeBytes]byte
	order  []int // frames as they came out
}

// txQueue is a transmit queue, its frame memory, and what must still come out.
type txQueue struct {
	*driver.TxQueue
	arm, host uint64 // bus addresses of the slots' memory
	expect    []expected
	head      int
}

type expected struct {
	ordinal int
	data    []byte
	index   uint16
	fail    bool // the NIC must refuse the entry
}

const (
	txQueues  = 4
	txLog     = 7
	slotBytes = 9728             // one frame with room for odd starts
	shadowVA  = 0x7f00_0000_0000 // where the Arm cores see host memory
)

func (t *transmit) setup() error {
	size := uint64(1) << txLog
	arm := t.d.Alloc(nicspec.EndpointArm, txQueues*size*slotBytes, 4096)
	hst := t.d.Alloc(nicspec.EndpointHost, txQueues*size*slotBytes*2, 4096)
	t.armKey = t.d.NewKey(1, 0x5a, arm, arm, txQueues*size*slotBytes)
	t.shadow = t.d.NewKey(2, 0xc3, shadowVA, hst, txQueues*size*slotBytes*2)
	for i := range txQueues {
		q, err := t.d.NewTxQueue(driver.TxConfig{Queue: i, LogSize: txLog, OnEnd: t.ended})
		if err != nil {
			return err
		}
		t.queues = append(t.queues, &txQueue{
			TxQueue: q, arm: arm + uint64(i)*size*slotBytes, host: hst + uint64(i)*size*slotBytes*2,
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
		if q.Room() != 1<<txLog {
			return false
		}
	}
	return true
}

// post fills the rings as far as there is room, frames in turn over the
// queues, and rings each doorbell once.
func (t *transmit) post() error {
	for t.next < t.total {
		q := t.queues[t.next%txQueues]
		if q.Room() == 0 {
			break
		}
		if err := t.postFrame(q); err != nil {
			return err
		}
		t.next++
	}
	for _, q := range t.queues {
		q.Ring()
	}
	return nil
}

// completeEvery is how often an entry asks for a completion; the last of each
// queue always does.
const completeEvery = 8

func (t *transmit) postFrame(q *txQueue) error {
	data := t.frames[t.next%len(t.frames)].Data
	clear(t.wqe[:])
	w := nicspec.Wqe(t.wqe[:])
	w.SetOpcode(nicspec.OpcodeSend)
	w.SetWqeId(uint32(t.next))
	w.SetFPad(len(data) < nicspec.FrameMin)
	w.SetFComplete(int(q.Next())%completeEvery == 0 || t.next+txQueues >= t.total)
	want := t.offload(w, data)
	if err := t.cut(q, w, data); err != nil {
		return err
	}
	e := expected{ordinal: t.next, data: want, index: q.Next(), fail: len(data) > nicspec.FrameMax}
	if e.fail {
		t.refuse++
	}
	if old := q.head - 2<<txLog; old > 1024 { // completion entries may still refer to a ring-full of them
		q.expect = append(q.expect[:0], q.expect[old:]...)
		q.head -= old
	}
	q.expect = append(q.expect, e)
	return q.Post(t.wqe[:])
}

// cut spreads a frame over inline bytes and pieces, by seed. Pieces start at
// odd addresses.
func (t *transmit) cut(q *txQueue, w nicspec.Wqe, data []byte) error {
	n := len(data)
	slot := uint64(q.Next() & (1<<txLog - 1))
	arm, hst := q.arm+slot*slotBytes, q.host+slot*slotBytes*2
	inline := 0
	slots := nicspec.WqeSlots
	if t.rng.IntN(4) == 0 { // some inline bytes, one or two slots
		inline = min(n, 1+t.rng.IntN(2*nicspec.WqeSlotBytes))
		slots -= (inline + nicspec.WqeSlotBytes - 1) / nicspec.WqeSlotBytes
	}
	w.SetInlineLen(uint8(inline))
	copy(w.Slots(), data[:inline])
	at, segs := inline, 0
	first := nicspec.WqeSlots - slots
	for at < n {
		left := slots - segs
		take := n - at
		if left > 1 && t.rng.IntN(8) != 0 {
			take = t.pieceLen(segs, take)
		}
		key, bus := t.shadow, hst+uint64(segs%2)*slotBytes
		if segs == 0 && inline == 0 || t.rng.IntN(6) == 0 {
			key, bus = t.armKey, arm
			arm += uint64(take + 64) // a second Arm piece must not overwrite the first
		}
		bus += uint64(t.rng.IntN(64))
		if stored := data[at : at+take]; len(data) <= nicspec.FrameMax {
			if err := t.root.Write(bus, stored); err != nil {
				return err
			}
		}
		var seg [nicspec.SegSize]byte
		s := nicspec.Seg(seg[:])
		s.SetKey(key.ID)
		s.SetLen(uint32(take))
		s.SetAddr(key.Base + bus - key.Bus)
		copy(w.Slots()[(first+segs)*nicspec.WqeSlotBytes:], seg[:])
		at += take
		segs++
	}
	w.SetNseg(uint8(segs))
	t.pieces[segs]++
	return nil
}

// pieceLen is how much the piece takes: headers first, then any split.
func (t *transmit) pieceLen(seg, left int) int {
	if seg == 0 {
		return min(left, 14+t.rng.IntN(100))
	}
	return 1 + t.rng.IntN(left)
}

// ended checks a completion entry.
func (t *transmit) ended(q *driver.TxQueue, cqe nicspec.TxCqe) {
	x := t.queues[q.Queue()]
	fails := false
	for i := len(x.expect) - 1; i >= 0; i-- { // the last with this index: indices wrap
		if e := &x.expect[i]; e.index == cqe.Index() {
			fails = e.fail
			break
		}
	}
	switch want := nicspec.StatusBadLength; {
	case fails && cqe.Status() == want:
		t.bad++
	case fails:
		t.add("entry %d of transmit queue %d ended with %v, want %v", cqe.Index(), q.Queue(), cqe.Status(), want)
	case cqe.Status() != nicspec.StatusOk:
		t.add("entry %d of transmit queue %d ended with %v", cqe.Index(), q.Queue(), cqe.Status())
	}
	if err := t.post(); err != nil {
		t.add("%v", err)
	}
}

// sent checks a frame that came out.
func (t *transmit) sent(f *ether.Frame) {
	if f.Queue < 0 || f.Queue >= len(t.queues) {
		t.add("a frame came out of transmit queue %d, which is not in use", f.Queue)
		return
	}
	q := t.queues[f.Queue]
	for q.head < len(q.expect) && q.expect[q.head].fail {
		q.head++ // refused: nothing comes out
	}
	if q.head == len(q.expect) {
		t.add("a frame of %d bytes came out of transmit queue %d, but none was expected", len(f.Data), f.Queue)
		return
	}
	e := &q.expect[q.head]
	q.head++
	t.out++
	t.bytes += int64(len(f.Data))
	if !bytes.Equal(e.data, f.Data) {
		t.add("frame %d from transmit queue %d: %s", e.ordinal, f.Queue, firstDiff(e.data, f.Data))
	}
	e.data = nil
}

// check is called at the end.
func (t *transmit) check() {
	if t.out+t.refuse != t.total {
		t.add("%d frames were posted, %d came out and %d had to be refused", t.total, t.out, t.refuse)
	}
	if t.bad != t.refuse {
		t.add("%d entries had to be refused, %d were", t.refuse, t.bad)
	}
}
