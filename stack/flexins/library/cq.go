package library

import (
	"fmt"

	"nictwin/models/server/cpu"
	"nictwin/models/sim/fifo"
	"nictwin/stack/driver"
	"nictwin/stack/flexins/mailbox"
	"nictwin/stack/pipe"
	"nictwin/stack/verbs"
)

// CQ is a completion queue. It has one pipe from each data core whose queue pairs use it.
type CQ struct {
	c       *Context
	number  uint32
	entries int
	pipes   []*ring        // by core; nil: the pipe from that core is not open
	first   int            // index of the pipe that is polled next
	taken   fifo.Queue[wc] // taken from pipes, but not polled by the application yet
	element pipe.Completion

	notifier  verbs.Notifier
	event     func()
	followers []*follower
	loop      *cpu.Loop
	gone      bool
}

// wc is a completion, and whether its sender requested a solicited event.
type wc struct {
	verbs.WC
	solicited bool
}

// ring is a pipe of completions in host memory.
type ring struct {
	at   pipe.Place
	from *pipe.Consumer
	stop func()
}

type follower struct{ f func() }

// MaxCQE is the most entries of a completion queue: assumption, a quarter of a ConnectX-6's.
const MaxCQE = 1 << 20

// CreateCQ implements verbs.Context. Its pipes are opened when queue pairs are created, which determine the cores.
func (c *Context) CreateCQ(entries int, done func(verbs.CQ, error)) {
	const verb = "create_cq"
	c.chargeSyscall()
	if entries < 1 || entries > MaxCQE {
		done(nil, verbs.Errorf(verb, verbs.EINVAL, "%d entries: want 1 to %d", entries, MaxCQE))
		return
	}
	n, err := c.kernel.Create(verb, verbs.KindCQ)
	if err != nil {
		done(nil, err)
		return
	}
	q := &CQ{c: c, number: n, entries: entries, pipes: make([]*ring, len(c.packers))}
	c.cqs[n] = q
	done(q, nil)
}

func (q *CQ) object() verbs.Object { return verbs.Object{Kind: verbs.KindCQ, Number: q.number} }

// cq returns a completion queue of this context, or an error.
func (c *Context) cq(verb string, x verbs.CQ) (*CQ, error) {
	q, ok := x.(*CQ)
	if !ok || q == nil || q.c != c || q.gone {
		return nil, verbs.Errorf(verb, verbs.EINVAL, "completion queue: want one of this device that was not destroyed")
	}
	return q, nil
}

// open creates the pipe from a core, unless there is one, and returns what the card needs to open its end.
func (q *CQ) open(core int) (mailbox.CQ, error) {
	x := mailbox.CQ{Number: q.number}
	if q.pipes[core] != nil {
		return x, nil
	}
	s := q.c.cfg.Pipe
	base, err := q.c.cfg.Host.Alloc(uint64(s.Bytes()+pipe.LineBytes), pipe.LineBytes)
	if err != nil {
		return x, verbs.Errorf("create_cq", verbs.ENOMEM, "%v", err)
	}
	q.c.cfg.Host.Mark(base, uint64(s.Bytes()), driver.UseCompletions)
	q.c.cfg.Host.Mark(base+uint64(s.Bytes()), pipe.LineBytes, driver.UseDoorbells)
	r := &ring{at: pipe.Place{Ring: base, Counter: base + uint64(s.Bytes())}}
	// Zero the ring: its memory may have belonged to another ring, whose lines would look new.
	if err := q.c.core.Store(base, make([]byte, s.Bytes()+pipe.LineBytes)); err != nil {
		return x, err
	}
	if r.from, err = pipe.NewConsumer(s, r.at, q.c.core); err != nil {
		return x, err
	}
	q.pipes[core] = r
	x.New, x.Ring, x.Counter = true, r.at.Ring, r.at.Counter
	q.rewatch()
	return x, nil
}

// DestroyCQ implements verbs.Context.
func (c *Context) DestroyCQ(x verbs.CQ, done func(error)) {
	const verb = "destroy_cq"
	c.chargeSyscall()
	q, err := c.cq(verb, x)
	if err == nil {
		err = c.kernel.Destroy(verb, q.object())
	}
	if err != nil {
		done(err)
		return
	}
	q.gone = true
	q.unwatch()
	delete(c.cqs, q.number)
	q.closeNext(0, done)
}

// closeNext makes the card close the pipes, one after the other.
func (q *CQ) closeNext(core int, done func(error)) {
	for ; core < len(q.pipes); core++ {
		r := q.pipes[core]
		if r == nil {
			continue
		}
		q.c.ask(&mailbox.Request{Verb: mailbox.CloseCQ, Core: uint32(core), Send: mailbox.CQ{Number: q.number}},
			func(a *mailbox.Reply) {
				if err := a.Err("destroy_cq"); err != nil {
					done(err)
					return
				}
				q.c.fail(q.c.cfg.Host.Free(r.at.Ring))
				q.closeNext(core+1, done)
			})
		return
	}
	done(nil)
}

// Entries implements verbs.CQ.
func (q *CQ) Entries() int { return q.entries }

// Poll implements verbs.CQ.
func (q *CQ) Poll(wcs []verbs.WC) (int, error) {
	n := 0
	for n < len(wcs) {
		for q.taken.Len() == 0 && q.next() {
		}
		if q.taken.Len() == 0 {
			break
		}
		wcs[n] = q.taken.Pop().WC
		n++
	}
	if n == 0 {
		if err := q.c.failure(); err != nil {
			return 0, verbs.Errorf("poll_cq", verbs.EIO, "%v", err)
		}
	}
	return n, nil
}

// next takes an element from the next pipe that has one; it returns false if none has.
func (q *CQ) next() bool {
	for range q.pipes {
		if r := q.pipes[q.first]; r != nil {
			e, err := r.from.Poll()
			if err == nil && e != nil {
				err = q.element.Decode(e)
			}
			if err != nil {
				q.c.fail(fmt.Errorf("library: completion queue %d: %w", q.number, err))
				return false
			}
			if e != nil {
				q.c.core.ComputeAs(cpu.Take, q.c.cfg.Spec.Take)
				q.add()
				return true
			}
		}
		q.first = (q.first + 1) % len(q.pipes)
	}
	return false
}

// add converts the element to a completion, and appends it.
func (q *CQ) add() {
	e := &q.element
	qp := q.c.qps[e.QPN]
	if qp == nil {
		return
	}
	w := wc{solicited: e.Solicited}
	w.WC = verbs.WC{Status: e.Status, Opcode: e.Opcode, Flags: e.Flags, ByteLen: e.Bytes, QPN: e.QPN, SrcQP: e.SrcQP}
	if e.Flags&verbs.WCWithInv != 0 {
		w.InvKey = e.Imm
	} else if e.Flags&verbs.WCWithImm != 0 {
		w.Imm = e.Imm
	}
	qp.completed(e, &w.WC)
	q.taken.Push(w)
	if q.notifier.Added(&w.WC, w.solicited) && q.event != nil {
		q.event()
	}
}

// pull takes completions from pipes until the queue is full.
func (q *CQ) pull() {
	for q.taken.Len() < q.entries && q.next() {
	}
}

// drop discards the completions of a queue pair.
func (q *CQ) drop(qpn uint32) {
	for range q.taken.Len() {
		if w := q.taken.Pop(); w.QPN != qpn {
			q.taken.Push(w)
		}
	}
}

// ReqNotify implements verbs.CQ.
func (q *CQ) ReqNotify(solicitedOnly bool) error {
	q.pull() // only completions that come after this call cause a notification
	q.notifier.Request(solicitedOnly)
	q.watch()
	return nil
}

// OnEvent implements verbs.CQ.
func (q *CQ) OnEvent(f func()) { q.event = f }

// Follow implements verbs.CQ.
func (q *CQ) Follow(f func()) (stop func(), err error) {
	one := &follower{f}
	q.followers = append(q.followers, one)
	q.watch()
	return func() {
		for i, x := range q.followers {
			if x == one {
				q.followers = append(q.followers[:i:i], q.followers[i+1:]...)
				return
			}
		}
	}, nil
}

// watch starts a core loop that takes completions as they arrive. Completion events (ReqNotify) and functions
// passed to Follow need this loop.
func (q *CQ) watch() {
	if q.loop != nil || q.gone {
		return
	}
	var err error
	q.loop, err = q.c.core.Add(cpu.LoopSpec{Name: fmt.Sprintf("completion queue %d", q.number),
		Poll: q.c.cfg.Spec.Poll, As: cpu.Take}, func(*cpu.Core) bool { return q.takeAndNotify() })
	q.c.fail(err)
	q.rewatch()
}

// rewatch adds new rings to the loop's watches.
func (q *CQ) rewatch() {
	if q.loop == nil {
		return
	}
	for _, r := range q.pipes {
		if r == nil || r.stop != nil {
			continue
		}
		var err error
		r.stop, err = q.loop.Watch(r.at.Ring, q.c.cfg.Pipe.Bytes())
		q.c.fail(err)
	}
}

func (q *CQ) unwatch() {
	if q.loop != nil {
		q.loop.Stop()
		q.loop = nil
	}
}

// takeAndNotify takes completions, raises a requested event, and calls the followers.
func (q *CQ) takeAndNotify() bool {
	n := q.taken.Len()
	q.pull()
	if q.taken.Len() == n {
		return false
	}
	for _, x := range q.followers {
		x.f()
	}
	return true
}

var _ verbs.CQ = (*CQ)(nil)
