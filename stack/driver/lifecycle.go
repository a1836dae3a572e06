package driver

import (
	"fmt"

	"nictwin/models/nic/nicspec"
)

// zeros is the source for clearing completion rings.
var zeros [4096]byte

// enable requests that the queue be enabled, after its completion ring has been cleared.
func (r *Queue) enable() error {
	if r.state != Off {
		return fmt.Errorf("driver: enabling %s queue %d, which is %v: want it off", r.ring.Kind(), r.cfg.Queue, r.state)
	}
	r.state = Enabling
	r.ring.PI, r.ring.CQI = 0, 0
	r.stored, r.rung, r.endedTo, r.event = 0, 0, 0, nil
	r.ringPending, r.pushBlocks = false, 0
	r.life++
	r.clear = false
	r.d.Await(r.clearRing)
	if err := r.d.WriteTable(r.ring.Table(), r.cfg.Queue, r.entry); err != nil {
		return err
	}
	r.d.Then(func() {
		if r.state == Enabling {
			r.state = Running
			r.ringDoorbell()
		}
	})
	return nil
}

// clearRing zeroes the completion ring: entries of the first lap have phase 1.
func (r *Queue) clearRing(done func()) {
	pending := 1 // all writes, and one more so that done is called after all have begun
	end := func(err error) {
		r.d.check(err)
		if pending--; pending == 0 {
			r.clear = true
			done()
		}
	}
	for at, n := r.ring.CQ, r.ring.CQBytes(); n > 0; {
		b := zeros[:min(n, len(zeros))]
		pending++
		r.bus.Write(at, b, end)
		at, n = at+uint64(len(b)), n-len(b)
	}
	end(nil)
}

// disable requests that the queue be turned off. Entries that end before that are completed as usual.
func (r *Queue) disable(done func()) error {
	if r.state == Off || r.state == Disabling || r.state == Closed {
		return fmt.Errorf("driver: disabling %s queue %d, which is %v: want it enabled", r.ring.Kind(), r.cfg.Queue,
			r.state)
	}
	r.setDisabling()
	if err := r.d.WriteTable(r.ring.Table(), r.cfg.Queue, make([]byte, nicspec.RxqEntrySize)); err != nil {
		return err
	}
	r.d.Await(r.drain)
	err := r.d.ReadTable(r.ring.Table(), r.cfg.Queue, nicspec.RxqEntrySize, func(b []byte) {
		e := nicspec.RxqEntry(b) // the fields read here have the same offsets in entries of Rxq and Txq
		if e.State() != nicspec.QueueStateOff {
			r.d.breach("Q5", "%s queue %d: state %v after it was disabled", r.ring.Kind(), r.cfg.Queue, e.State())
		}
		if e.Cqi() != r.ring.CQI {
			r.d.breach("Q5", "%s queue %d: %d completion entries were written, %d arrived", r.ring.Kind(), r.cfg.Queue,
				e.Cqi(), r.ring.CQI)
		}
	})
	r.d.Then(func() {
		r.setOff()
		if done != nil {
			done()
		}
	})
	return err
}

// setDisabling makes the queue refuse further entries.
func (r *Queue) setDisabling() {
	if r.state != Off && r.state != Closed {
		r.state = Disabling
	}
}

// setOff moves a queue to state Off once its disabling has ended.
func (r *Queue) setOff() {
	if r.state == Disabling {
		r.state = Off
	}
}

// close frees the queue's memory, after disabling it.
func (r *Queue) close(open map[int]*Queue, done func()) error {
	if r.state == Closed {
		return fmt.Errorf("driver: closing %s queue %d, which is closed", r.ring.Kind(), r.cfg.Queue)
	}
	if r.state != Off && r.state != Disabling {
		if err := r.disable(nil); err != nil {
			return err
		}
	}
	r.d.Then(func() {
		r.state = Closed
		r.life, r.clear = r.life+1, false // a read in flight must not be taken for an entry
		delete(open, r.cfg.Queue)
		if r.stop != nil {
			r.stop()
		}
		r.d.check(r.d.Free(r.ring.Base))
		r.d.check(r.d.Free(r.ring.CQ))
		if done != nil {
			done()
		}
	})
	return nil
}
