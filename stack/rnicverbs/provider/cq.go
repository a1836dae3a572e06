package provider

import (
	"errors"

	"nictwin/models/rnic/rnicspec"
	"nictwin/stack/driver"
	"nictwin/stack/rnicverbs"
	"nictwin/stack/verbs"
)

// spare is the size of the ring in memory relative to the size that applications see. maxCQE is the largest size that
// they see.
const (
	spare  = 2
	maxCQE = 1 << rnicspec.MaxLogRing / spare
)

// CQ implements verbs.CQ: completion entries of the ring are moved to a queue of the size that the application
// requested.
type CQ struct {
	c      *Context
	number uint32
	ring   *rnicverbs.CQ
	log    int
	stop   func() // stops following the ring
	qps    map[uint32]*QP

	queue     *verbs.Completions
	notifier  verbs.Notifier
	event     func()
	followers []*follower
	overrun   bool // EventCQErr was reported
	mayArrive int  // number of completions that posted requests may still add to the ring

	polling, again bool
	err            error    // error of reading the ring
	waiting        []func() // called when the ring has been read to its end
	added          bool     // a completion was added since followers were last called
	each           func(*rnicspec.CQE)
	polled         func(int)
	core           driver.Deferrer // that polls; nil: polling takes no time
	deferred       bool            // the core will call readOn
	destroyed      bool            // the ring may be that of another queue
	readOn         func()          // nextBurst; bound once, so that bursts allocate nothing
}

type follower struct{ f func() }

// CreateCQ implements verbs.Context.
func (c *Context) CreateCQ(entries int, done func(verbs.CQ, error)) {
	q, err := c.newCQ(entries)
	if err != nil {
		done(nil, err)
		return
	}
	done(q, nil)
}

// newCQ returns a completion queue over a new ring, or over that of a destroyed one.
func (c *Context) newCQ(entries int) (*CQ, error) {
	const verb = "create_cq"
	if entries < 1 || entries > maxCQE {
		return nil, verbs.Errorf(verb, verbs.EINVAL, "%d entries: want 1 to %d", entries, maxCQE)
	}
	n, err := c.objects.Create(verb, verbs.KindCQ)
	if err != nil {
		return nil, err
	}
	q := &CQ{c: c, number: n, log: logOf(entries * spare), qps: map[uint32]*QP{}, queue: verbs.NewCompletions(entries)}
	q.each, q.polled, q.readOn = q.take, q.pollEnded, q.nextBurst
	q.core, _ = c.dev.BusOr(c.bus).(driver.Deferrer)
	if old := c.rings[q.log]; len(old) > 0 {
		q.ring, c.rings[q.log] = old[len(old)-1], old[:len(old)-1]
	} else if q.ring, err = c.dev.NewCQOn(c.bus, uint8(q.log)); err != nil {
		return nil, c.undo(verb, q.object(), err)
	}
	if q.stop, err = q.ring.Follow(q.read); err != nil {
		return nil, c.undo(verb, q.object(), err)
	}
	return q, nil
}

// undo destroys an object whose creation failed, and returns the reason as ENOMEM.
func (c *Context) undo(verb string, x verbs.Object, why error) error {
	if err := c.objects.Destroy(verb, x); err != nil {
		return err
	}
	return verbs.Errorf(verb, verbs.ENOMEM, "%v", why)
}

func (q *CQ) object() verbs.Object { return verbs.Object{Kind: verbs.KindCQ, Number: q.number} }

// DestroyCQ implements verbs.Context.
func (c *Context) DestroyCQ(x verbs.CQ, done func(error)) {
	q, err := c.cq("destroy_cq", x)
	if err == nil {
		err = c.objects.Destroy("destroy_cq", q.object())
	}
	if err != nil {
		done(err)
		return
	}
	q.stop()
	q.readAll(func() {
		q.destroyed = true
		c.rings[q.log] = append(c.rings[q.log], q.ring)
		done(nil)
	})
}

// readAll reads the ring to its end, then calls f.
func (q *CQ) readAll(f func()) {
	q.waiting = append(q.waiting, f)
	q.read()
}

// cq returns a completion queue of this device, or an error.
func (c *Context) cq(verb string, x verbs.CQ) (*CQ, error) {
	q, ok := x.(*CQ)
	if !ok || q == nil || q.c != c || !c.objects.Has(q.object()) {
		return nil, verbs.Errorf(verb, verbs.EINVAL, "completion queue: want one of this device that was not destroyed")
	}
	return q, nil
}

// Entries implements verbs.CQ.
func (q *CQ) Entries() int { return q.queue.Entries() }

// Poll implements verbs.CQ.
func (q *CQ) Poll(wcs []verbs.WC) (int, error) {
	n, err := q.queue.Poll(wcs)
	q.taken(wcs[:n])
	if broken := errors.Join(q.c.dev.Err(), q.err); err == nil && n == 0 && broken != nil {
		return 0, verbs.Errorf("poll_cq", verbs.EIO, "%v", broken)
	}
	return n, err
}

// ReqNotify implements verbs.CQ.
func (q *CQ) ReqNotify(solicitedOnly bool) error {
	if solicitedOnly {
		return verbs.Errorf("req_notify_cq", verbs.EOPNOTSUPP,
			"solicited completions only: completion entries do not show which they are")
	}
	q.notifier.Request(false)
	return nil
}

// OnEvent implements verbs.CQ.
func (q *CQ) OnEvent(f func()) { q.event = f }

// Follow implements verbs.CQ.
func (q *CQ) Follow(f func()) (stop func(), err error) {
	one := &follower{f}
	q.followers = append(q.followers, one)
	return func() {
		for i, x := range q.followers {
			if x == one {
				q.followers = append(q.followers[:i:i], q.followers[i+1:]...)
				return
			}
		}
	}, nil
}

// read takes the completion entries that have arrived in the ring.
func (q *CQ) read() {
	if q.again = q.polling; q.again {
		return
	}
	q.polling = true
	if err := q.ring.PollMost(q.burst(), q.each, q.polled); err != nil {
		q.err = err
		q.pollEnded(0)
	}
}

// burst returns the number of entries that a poll takes; 0: all.
func (q *CQ) burst() int {
	if q.core == nil || len(q.waiting) > 0 {
		return 0
	}
	return q.c.spec.Burst
}

// deferRead reads on in the core's next turn.
func (q *CQ) deferRead() {
	if q.deferred {
		return
	}
	q.deferred = true
	q.err = errors.Join(q.err, q.core.Defer(q.readOn))
}

// nextBurst reads on after a burst.
func (q *CQ) nextBurst() {
	if q.deferred = false; !q.destroyed {
		q.read()
	}
}

// pollEnded handles the end of a poll: the ring has been read to its end, or a burst was taken.
func (q *CQ) pollEnded(n int) {
	q.polling = false
	if burst := q.burst(); burst > 0 && n == burst {
		q.deferRead()
	} else if q.again {
		q.read()
		return
	}
	for len(q.waiting) > 0 && !q.polling {
		f := q.waiting[0]
		q.waiting = q.waiting[1:]
		f()
	}
	if !q.added {
		return
	}
	q.added = false
	for _, x := range q.followers {
		x.f()
	}
}

// take converts a completion entry and adds it to the queue.
func (q *CQ) take(e *rnicspec.CQE) {
	qp := q.qps[e.QPN]
	if qp == nil {
		return // the queue pair of the entry was destroyed
	}
	wc := qp.completion(e)
	qp.arrived(e)
	q.added = true
	if !q.queue.Add(&wc) {
		if !q.overrun {
			q.overrun = true
			q.c.notify(verbs.AsyncEvent{Type: verbs.EventCQErr, CQ: q})
		}
		return
	}
	if q.notifier.Added(&wc, false) && q.event != nil {
		q.event()
	}
}

var _ verbs.CQ = (*CQ)(nil)
