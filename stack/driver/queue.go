package driver

import (
	"encoding/binary"
	"errors"
	"fmt"

	"nictwin/models/nic/nicspec"
)

// State is the state of a queue, as the driver sees it.
type State uint8

// States of a queue.
const (
	Off       State = iota // not enabled
	Enabling               // will be enabled once its commands have been carried out; entries may be posted
	Running                // enabled
	Failed                 // a read of the queue's ring failed [Q4]: call Disable
	Disabling              // will be off once its commands have been carried out; completion entries may still arrive
	Closed                 // the queue's memory was freed
)

var stateNames = [...]string{"off", "being enabled", "running", "in the error state", "being disabled", "closed"}

func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// Notice is the way in which a queue learns of completion entries.
type Notice uint8

// Ways to notice completion entries.
const (
	NoticeWatch Notice = iota // watches the completion ring and takes entries as they arrive
	NoticePoll                // the owner calls Poll, for example after a message
)

// QueueConfig is the configuration common to receive and transmit queues.
type QueueConfig struct {
	Queue    int
	LogSize  int // log2 of the ring's places (descriptors, or blocks of work entries), 2 to 15
	RingIn   int // endpoint whose memory holds the ring: nicspec.EndpointArm or EndpointHost
	DoneIn   int // endpoint whose memory holds the completion ring
	Notice   Notice
	Messages Moderation

	// Bus accesses the queue's rings and doorbell: that of the core which uses the queue. Nil: the driver's.
	Bus Bus
}

// Queue is the common part of receive and transmit queues: a ring in memory, its completion ring, and the doorbell.
// Indices run freely, modulo 2^16.
type Queue struct {
	d     *Driver
	bus   Bus
	ahead Prefetcher // the bus, if it can prefetch; nil: it cannot
	cfg   QueueConfig
	ring  RawQueue
	entry []byte // table entry written to enable the queue
	state State
	stop  func() // ends the watch of the completion ring

	slots       []byte      // entries as posted, the contents of the ring
	stored      uint16      // index up to which entries are written or being written to memory
	rung        uint16      // index up to which the device was notified
	endedTo     uint16      // index up to which entries are known to have ended
	writes      int         // unfinished writes of the ring
	writeEnded  func(error) // handles the end of a write
	ringPending bool        // ring the doorbell when no write of the ring is unfinished
	pushBlocks  int         // number of blocks, the last ones stored, to push instead of ringing the doorbell
	word        [4]byte

	completions
}

// init allocates the rings and prepares the queue for enabling.
func (r *Queue) init(d *Driver, c QueueConfig, open map[int]*Queue) error {
	if open[c.Queue] != nil {
		return fmt.Errorf("driver: %s queue %d is open: Close it first", r.ring.Kind(), c.Queue)
	}
	if c.LogSize < nicspec.LogSizeMin || c.LogSize > nicspec.LogSizeMax {
		return fmt.Errorf("driver: %s queue %d: ring of 2^%d entries: want 2^%d to 2^%d [Q6]", r.ring.Kind(), c.Queue,
			c.LogSize, nicspec.LogSizeMin, nicspec.LogSizeMax)
	}
	r.d, r.cfg, r.bus = d, c, c.Bus
	if r.bus == nil {
		r.bus = d.bus
	}
	r.ahead, _ = r.bus.(Prefetcher)
	r.writeEnded, r.completions.read = r.ringStored, r.entryRead
	l := &r.ring.Layout
	r.slots = make([]byte, l.Bytes())
	var err error
	if l.Base, err = d.Alloc(c.RingIn, uint64(l.Bytes()), nicspec.LineBytes); err != nil {
		return fmt.Errorf("%s queue %d: ring: %w", r.ring.Kind(), c.Queue, err)
	}
	if l.CQ, err = d.Alloc(c.DoneIn, uint64(l.CQBytes()), nicspec.LineBytes); err != nil {
		return errors.Join(fmt.Errorf("%s queue %d: completion ring: %w", r.ring.Kind(), c.Queue, err), d.Free(l.Base))
	}
	use := UseRecvRing
	if l.Slot == nicspec.WqeSize {
		use = UseSendRing
	}
	d.uses.Mark(l.Base, uint64(l.Bytes()), use)
	d.uses.Mark(l.CQ, uint64(l.CQBytes()), UseCompletions)
	if c.Notice == NoticeWatch {
		if r.stop, err = r.bus.Watch(l.CQ, l.CQBytes(), r.Poll); err != nil {
			return errors.Join(err, d.Free(l.Base), d.Free(l.CQ))
		}
	}
	open[c.Queue] = r
	return nil
}

// Number returns the queue's number.
func (r *Queue) Number() int { return r.cfg.Queue }

// State returns the queue's state.
func (r *Queue) State() State { return r.state }

// Size returns the number of places of the ring.
func (r *Queue) Size() int { return r.ring.Size() }

// Room returns the number of places that can be posted to now.
func (r *Queue) Room() int { return r.Size() - int(r.ring.PI-r.endedTo) }

// Posted returns the number of the ring's slots whose entries are not known to have ended.
func (r *Queue) Posted() int { return int(r.ring.PI - r.endedTo) }

// Next returns the index of the next slot to post to.
func (r *Queue) Next() uint16 { return r.ring.PI }

// Waiting returns the number of slots posted to, but not yet announced by a doorbell.
func (r *Queue) Waiting() int { return int(r.ring.PI - r.rung) }

// Layout returns the placement of the queue's rings.
func (r *Queue) Layout() Layout { return r.ring.Layout }

// slot returns the ring's entry at an index, as posted.
func (r *Queue) slot(i uint16) []byte {
	at := r.ring.Place(i) * r.ring.Slot
	return r.slots[at : at+r.ring.Slot]
}

// next returns the memory of the next entry, or an error if none may be posted.
func (r *Queue) next() ([]byte, error) {
	if r.state != Running && r.state != Enabling {
		return nil, fmt.Errorf("driver: posting to %s queue %d, which is %v: want it enabled", r.ring.Kind(),
			r.cfg.Queue, r.state)
	}
	if r.Room() == 0 {
		return nil, fmt.Errorf("driver: %s queue %d is full: wait for completions", r.ring.Kind(), r.cfg.Queue)
	}
	return r.slot(r.ring.PI), nil
}

// store starts writing the posted entries to memory, in one write, or two at the end of the ring.
func (r *Queue) store() {
	r.writes++ // keeps the doorbell from ringing before all writes have begun
	for r.stored != r.ring.PI && r.d.err == nil {
		first := r.stored
		from := r.ring.Place(first)
		to := min(from+int(r.ring.PI-first), r.Size())
		r.stored += uint16(to - from)
		r.writes++
		r.bus.Write(r.ring.At(first), r.slots[from*r.ring.Slot:to*r.ring.Slot], r.writeEnded)
	}
	r.writes--
}

func (r *Queue) ringStored(err error) {
	r.writes--
	r.d.check(err)
	r.ringDoorbell()
}

// Ring announces all posted entries to the device with one doorbell. On a queue that is being enabled, the doorbell is
// rung afterwards.
func (r *Queue) Ring() error {
	if r.state != Running && r.state != Enabling {
		return fmt.Errorf("driver: ringing for %s queue %d, which is %v: want it enabled", r.ring.Kind(), r.cfg.Queue,
			r.state)
	}
	r.ringPending = true
	r.store()
	r.ringDoorbell()
	return nil
}

// ringDoorbell rings the doorbell if requested, once the entries it announces are in memory.
func (r *Queue) ringDoorbell() {
	if !r.ringPending || r.writes > 0 || r.state != Running || r.d.err != nil {
		return
	}
	r.ringPending = false
	upTo := r.stored - uint16(r.pushBlocks)
	if r.rung != upTo {
		r.rung = upTo
		binary.LittleEndian.PutUint32(r.word[:], uint32(upTo))
		r.d.check(r.bus.WriteReg(r.ring.Doorbell(), r.word[:]))
	}
	for ; r.pushBlocks > 0; r.pushBlocks-- {
		r.rung++
		r.d.check(r.bus.WriteReg(nicspec.RegTxPush(r.cfg.Queue), r.slot(r.rung-1)))
	}
}
