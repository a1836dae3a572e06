package root

import (
	"errors"

	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/memory/mem"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// readQueue holds the NIC's reads that are not completely answered.
type readQueue struct {
	waiting    fifo.Queue[*read] // reads that are not due yet or have not requested data, in order of arrival
	ready      fifo.Queue[*read] // reads whose next completion has its data and can leave
	requesting *completion       // completion whose memory access is being issued right now
	open       int

	idleReads []*read
	idleCpls  []*completion
}

// read is a read of the NIC that is being answered.
type read struct {
	tlp.Reply
	due    simcore.Ps
	cpls   fifo.Queue[*completion] // completions whose data was requested, in address order
	begun  bool                    // the read is no longer in readQueue.waiting
	listed bool                    // the read is in readQueue.ready
	ended  bool                    // a completion without data has ended the read: later ones are dropped
}

// completion is one completion and the memory access for its data.
type completion struct {
	mem.Access
	read    *read
	fetch   tlp.Fetch
	p       *msg.TLP
	arrived bool
}

// answer queues a read of the NIC, which is answered when its latency has passed and its data has come.
func (r *Root) answer(h *tlp.Header) {
	ep, _ := mem.Split(h.Address)
	if ep >= len(r.completers) {
		ep = 0 // the Arm root completes reads of absent addresses with UR
	}
	reply, err := r.completers[ep].Begin(h)
	if err != nil {
		r.fail(err)
		return
	}
	q := &r.reads
	var x *read
	if n := len(q.idleReads); n > 0 {
		x, q.idleReads = q.idleReads[n-1], q.idleReads[:n-1]
	} else {
		x = new(read)
	}
	x.Reply, x.due, x.begun, x.ended = reply, simcore.Now(r.sched)+r.spec.Latency, false, false
	q.waiting.Push(x)
	q.open++
	r.arm(x.due)
}

// sendReplies sends what the port takes: first completions whose data has arrived, then those of
// reads that are due by now.
func (r *Root) sendReplies(now simcore.Ps) error {
	q := &r.reads
	for q.ready.Len() > 0 {
		x := *q.ready.Front()
		if free, err := r.advance(x, now); err != nil || !free {
			return err
		}
		q.ready.Pop()
		x.listed = false
		r.retire(x)
	}
	for q.waiting.Len() > 0 {
		x := *q.waiting.Front()
		if x.due > now {
			r.arm(x.due)
			return nil
		}
		if free, err := r.advance(x, now); err != nil || !free {
			return err
		}
		q.waiting.Pop()
		x.begun = true
		r.retire(x)
	}
	return nil
}

// advance sends completions of a read and requests the data of further ones. It reports false if
// the port is full.
func (r *Root) advance(x *read, now simcore.Ps) (free bool, err error) {
	if free, err = r.forward(x, now); err != nil || !free {
		return false, err
	}
	for x.More() && (r.spec.Ahead == 0 || x.cpls.Len() < r.spec.Ahead) {
		if !r.port.CanSend() {
			return false, nil
		}
		c := r.fetchNext(x)
		if c.arrived && x.cpls.Len() == 0 { // most memories complete the access at once
			if err = r.finish(c, now); err != nil {
				return false, err
			}
			continue
		}
		x.cpls.Push(c)
		if free, err = r.forward(x, now); err != nil || !free {
			return false, err
		}
	}
	return true, nil
}

// fetchNext requests the data of a read's next completion from memory.
func (r *Root) fetchNext(x *read) *completion {
	c := r.newCompletion()
	c.read, c.p, c.arrived = x, r.tlps.Get(), false
	c.fetch = x.Next(&c.p.Packet)
	c.Addr, c.Data, c.Err = c.fetch.Addr, c.fetch.Data, nil
	if len(c.Data) == 0 {
		c.arrived = true
		return c
	}
	r.reads.requesting = c
	r.memory.Access(&c.Access)
	r.reads.requesting = nil
	return c
}

func (r *Root) newCompletion() *completion {
	q := &r.reads
	if n := len(q.idleCpls); n > 0 {
		c := q.idleCpls[n-1]
		q.idleCpls = q.idleCpls[:n-1]
		return c
	}
	c := new(completion)
	c.Op, c.Done = mem.Read, func(*mem.Access) { r.fetched(c) }
	return c
}

// fetched records that the data of a completion has arrived.
func (r *Root) fetched(c *completion) {
	c.arrived = true
	x := c.read
	if c == r.reads.requesting || x.listed || !x.begun || *x.cpls.Front() != c {
		return // the caller of advance will send the completion
	}
	x.listed = true
	r.reads.ready.Push(x)
	r.arm(simcore.Now(r.sched))
}

// forward sends the completions of a read whose data has arrived, in address order. It reports
// false if the port is full.
func (r *Root) forward(x *read, now simcore.Ps) (all bool, err error) {
	for x.cpls.Len() > 0 && (*x.cpls.Front()).arrived {
		c := *x.cpls.Front()
		if !x.ended && !r.port.CanSend() {
			return false, nil
		}
		x.cpls.Pop()
		if err := r.finish(c, now); err != nil {
			return false, err
		}
	}
	return true, nil
}

// finish sends a completion whose data has arrived, or drops it if its read has ended with an
// error.
func (r *Root) finish(c *completion, now simcore.Ps) error {
	x, p := c.read, c.p
	c.p = nil
	r.reads.idleCpls = append(r.reads.idleCpls, c)
	if x.ended {
		r.tlps.Put(p)
		return nil
	}
	err := c.Err
	if err != nil {
		err = statusOf(err)
		x.ended = !errors.Is(err, tlp.ErrPoisoned)
	}
	if err := x.Finish(&p.Packet, &c.fetch, err); err != nil {
		return err
	}
	if !r.emit(p, now) {
		return errors.New("port refused a TLP it had room for")
	}
	return nil
}

// statusOf translates the error of a memory access to the tlp error that selects the completion's status.
func statusOf(err error) error {
	switch {
	case errors.Is(err, mem.ErrNoMemory):
		return tlp.ErrUnsupported
	case errors.Is(err, mem.ErrAborted):
		return tlp.ErrAborted
	case errors.Is(err, mem.ErrPoisoned):
		return tlp.ErrPoisoned
	}
	return err
}

// retire frees a read when all of its completions have left.
func (r *Root) retire(x *read) {
	if !x.begun || x.listed || x.More() || x.cpls.Len() > 0 {
		return
	}
	x.Reply = tlp.Reply{}
	r.reads.open--
	r.reads.idleReads = append(r.reads.idleReads, x)
}
