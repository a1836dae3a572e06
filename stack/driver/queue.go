package driver

import (
	"encoding/binary"
	"errors"
	"fmt"

	"nictwin/models/nic/nicspec"
)

// State is what a queue is doing, as the driver sees it.
type State uint8

// The states of a queue.
const (
	Off       State = iota // not enabled
	Enabling               // will be enabled; entries may be posted
	Running                // enabled
	Failed                 // a read of its ring failed [Q4]: Disable it
	Disabling              // will be off; completion entries may still come
	Closed                 // its memory was given back
)

var stateNames = [...]string{"off", "being enabled", "running", "in the error state", "being disabled", "closed"}

func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// Notice is how a queue learns of completion entries.
type Notice uint8

// How a queue can learn of completion entries.
const (
	NoticeWatch Notice = iota // the completion ring is watched: entries are taken as they come
	NoticePoll                // the owner calls Poll, after a message perhaps
)

// QueueConfig is what receive and transmit queues have in common.
type QueueConfig struct {
	Queue    int
	LogSize  int // log2 of the places of the ring, descriptors or blocks of work entries, 2 to 15
	RingIn   int // endpoint whose memory the ring takes: nicspec.EndpointArm or EndpointHost
	DoneIn   int // likewise the completion ring
	Notice   Notice
	Messages Moderation

	// Bus is what the queue's rings and doorbell are reached by: the core's that works on it. Nil: the driver's.
	Bus Bus
}

// Queue is what receive and transmit queues have in common: a ring in memory,
// its completion ring, and the doorbell. Indices run freely, modulo 2^16.
type Queue struct {
	d     *Driver
	bus   Bus
	cfg   QueueConfig
	ring  RawQueue
	entry []byte // of the table, that enables the queue
	state State
	stop  func() // ends watching

	slots  []byte      // entries as posted: the ring's contents
	stored uint16      // posted and on their way to memory
	rung   uint16      // posted and told
	done   uint16      // known to have ended
	writes int         // of the ring, not done
	wrote  func(error) // takes the end of one
	ringIt bool        // ring the doorbell when they are done
	push   int         // push so many of the blocks stored last instead
	word   [4]byte

	completions
}

// init allocates the rings and prepares the queue for being enabled.
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
	r.wrote, r.completions.read = r.ringStored, r.entryRead
	l := &r.ring.Layout
	r.slots = make([]byte, l.Bytes())
	var err error
	if l.Base, err = d.Alloc(c.RingIn, uint64(l.Bytes()), nicspec.LineBytes); err != nil {
		return fmt.Errorf("%s queue %d: ring: %w", r.ring.Kind(), c.Queue, err)
	}
	if l.CQ, err = d.Alloc(c.DoneIn, uint64(l.CQBytes()), nicspec.LineBytes); err != nil {
		return errors.Join(fmt.Errorf("%s queue %d: completion ring: %w", r.ring.Kind(), c.Queue, err), d.Free(l.Base))
	}
	if c.Notice == NoticeWatch {
		if r.stop, err = r.bus.Watch(l.CQ, l.CQBytes(), r.Poll); err != nil {
			return errors.Join(err, d.Free(l.Base), d.Free(l.CQ))
		}
	}
	open[c.Queue] = r
	return nil
}

// Number is the queue's number.
func (r *Queue) Number() int { return r.cfg.Queue }

// State is what the queue is doing.
func (r *Queue) State() State { return r.state }

// Size is the number of places of the ring.
func (r *Queue) Size() int { return r.ring.Size() }

// Room is the number of places that can be posted to now.
func (r *Queue) Room() int { return r.Size() - int(r.ring.PI-r.done) }

// Next is the index of the next place.
func (r *Queue) Next() uint16 { return r.ring.PI }

// Waiting is the number of places that were posted to since the doorbell was rung.
func (r *Queue) Waiting() int { return int(r.ring.PI - r.rung) }

// Layout is where the queue's rings lie.
func (r *Queue) Layout() Layout { return r.ring.Layout }

// slot is the ring's entry at an index, as it was posted.
func (r *Queue) slot(i uint16) []byte {
	at := r.ring.Place(i) * r.ring.Slot
	return r.slots[at : at+r.ring.Slot]
}

// next is the slot of the next entry, if one may be posted.
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

// store has the entries that were posted written to memory, in as few writes as the ring's end allows.
func (r *Queue) store() {
	r.writes++ // no doorbell before all are under way
	for r.stored != r.ring.PI && r.d.err == nil {
		first := r.stored
		from := r.ring.Place(first)
		to := min(from+int(r.ring.PI-first), r.Size())
		r.stored += uint16(to - from)
		r.writes++
		r.bus.Write(r.ring.At(first), r.slots[from*r.ring.Slot:to*r.ring.Slot], r.wrote)
	}
	r.writes--
}

func (r *Queue) ringStored(err error) {
	r.writes--
	r.d.check(err)
	r.tell()
}

// Ring tells the device of all entries that were posted, with one doorbell. A queue that is being enabled rings when
// it is.
func (r *Queue) Ring() error {
	if r.state != Running && r.state != Enabling {
		return fmt.Errorf("driver: ringing for %s queue %d, which is %v: want it enabled", r.ring.Kind(), r.cfg.Queue,
			r.state)
	}
	r.ringIt = true
	r.store()
	r.tell()
	return nil
}

// tell rings the doorbell, if it is wanted, once all that it tells of is in memory.
func (r *Queue) tell() {
	if !r.ringIt || r.writes > 0 || r.state != Running || r.d.err != nil {
		return
	}
	r.ringIt = false
	upTo := r.stored - uint16(r.push)
	if r.rung != upTo {
		r.rung = upTo
		binary.LittleEndian.PutUint32(r.word[:], uint32(upTo))
		r.d.check(r.bus.WriteReg(r.ring.Doorbell(), r.word[:]))
	}
	for ; r.push > 0; r.push-- {
		r.rung++
		r.d.check(r.bus.WriteReg(nicspec.RegTxPush(r.cfg.Queue), r.slot(r.rung-1)))
	}
}
