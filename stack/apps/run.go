package apps

import (
	"errors"
	"fmt"
	"strings"

	"nictwin/stack/apps/kind"
	"nictwin/stack/verbs"
)

// Run is a workload between pairs of applications on different servers.
type Run struct {
	spec     *Spec
	sides    []*side // two for each pair: on the first server, then on the second
	progress uint64
	shortage error // the error of a server with too little memory; nil: none
	begun    bool
	finished bool
	observer Observer // nil: none
	message  Message  // that the observer sees
}

// New creates the objects of a workload and connects both applications of each pair. Each group of Spec.Processes
// consecutive pairs is between the same two servers. It advances the simulation through await.
func New(s Spec, pairs [][2]Side, await Await) (*Run, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if len(pairs) == 0 || len(pairs)%s.Processes != 0 {
		return nil, verbs.Errorf("apps", verbs.EINVAL, "processes %d: the stacks have %d", s.Processes, len(pairs))
	}
	r := &Run{spec: &s}
	for _, pair := range pairs {
		for server := range pair {
			x := &side{Side: pair[server], server: server, run: r, byQPN: map[uint32]*end{}}
			x.arena = arena{next: (x.Base + line - 1) &^ (line - 1), end: x.Base + x.Bytes}
			r.sides = append(r.sides, x)
		}
		a, b := r.sides[len(r.sides)-2], r.sides[len(r.sides)-1]
		a.peer, b.peer = b, a
	}
	if err := r.checkEngines(); err != nil {
		return nil, err
	}
	for _, x := range r.sides {
		if s.Ports > len(x.Routes) {
			return nil, verbs.Errorf("apps", verbs.EINVAL, "server %s has %d ports: want ports %d or less", x.Name,
				len(x.Routes), len(x.Routes))
		}
		longest, answer := x.lengths()
		longest = max(longest, answer)
		x.want, x.got = make([]byte, longest+counterLen), make([]byte, longest+counterLen)
		if s.SharedCounter {
			x.seen = make([]bool, s.QueuePairs*s.Count)
		}
	}
	for p := range pairs {
		for f := range s.flows() {
			r.flow(p, f)
		}
	}
	u := &setup{Run: r, await: await}
	if err := u.setUp(); err != nil {
		return nil, err
	}
	return r, nil
}

// flow adds the two ends of flow nth of a pair. From flow Spec.QueuePairs on, clients are on the second server.
func (r *Run) flow(pair, nth int) {
	c, s := r.sides[2*pair], r.sides[2*pair+1]
	if nth >= r.spec.QueuePairs {
		c, s = s, c
	}
	flow := pair*r.spec.flows() + nth
	port, index := flow%r.spec.Ports, len(c.ends)
	a := &end{spec: r.spec, side: c, index: index, flow: flow, client: true, port: port, route: &c.Routes[port],
		total: r.spec.Count}
	b := &end{spec: r.spec, side: s, index: index, flow: flow, port: port, route: &s.Routes[port],
		total: r.spec.Count}
	switch r.spec.traits().Pattern {
	case kind.Rings:
		a.ring, b.ring = &ringWriter{ring: ring{end: a}}, &ringReader{ring: ring{end: b}}
		a.role, b.role = a.ring, b.ring
	case kind.Lookups:
		a.role, b.role = &lookup{client: &client{end: a}}, &server{end: b}
	default:
		a.role, b.role = &client{end: a}, &server{end: b}
	}
	c.ends, s.ends = append(c.ends, a), append(s.ends, b)
}

// setUp carries out all steps of the setup on all servers.
func (u *setup) setUp() error {
	each := func(steps ...func(*side) error) error {
		for _, step := range steps {
			for _, s := range u.sides {
				if err := step(s); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := each(u.open, u.queuePairs); err != nil {
		return err
	}
	for _, s := range u.sides {
		u.allocate(s)
	}
	if u.shortage != nil {
		return u.shortage
	}
	if err := each(u.blank, u.handles, u.revocable); err != nil {
		return err
	}
	u.exchangeAddresses()
	if err := u.states(each); err != nil {
		return err
	}
	return each(u.startHandlers, u.rings, u.notices)
}

// Prepare posts the first receive requests and starts following completions. The caller waits until
// they have taken effect before it calls Begin: transports that do not wait for receivers lose
// messages that arrive earlier.
func (r *Run) Prepare() error {
	var errs []error
	for _, s := range r.sides {
		errs = append(errs, s.follow())
		if s.shared != nil {
			s.shared.begin()
		}
		for _, e := range s.ends {
			if e.recvs != nil && e.recvs.end != nil {
				e.recvs.begin()
			}
		}
	}
	return errors.Join(append(errs, r.Err())...)
}

// Prepared reports whether all receive requests needed before Begin are in place. The caller advances
// time and calls Retry until they are. Only kind ring can tell; for others it returns true at once.
func (r *Run) Prepared() bool {
	for _, s := range r.sides {
		for _, e := range s.ends {
			if e.ring != nil && !e.ring.prepared() {
				return false
			}
		}
	}
	return true
}

// Begin posts the first requests of all ends. The queue pairs of an application take turns, so that none waits until it
// has written the messages of the others.
func (r *Run) Begin() error {
	r.begun = true
	for _, s := range r.sides {
		clients := s.clients()
		for posted := true; posted; {
			posted = false
			for _, c := range clients {
				posted = c.postBatch() || posted
			}
		}
		for _, e := range s.ends { // other roles
			e.role.advance()
		}
	}
	return r.Err()
}

// clients returns the clients among the ends.
func (s *side) clients() (all []*client) {
	for _, e := range s.ends {
		if c, ok := e.role.(*client); ok {
			all = append(all, c)
		}
	}
	return all
}

// Retry posts requests that found no room. The caller runs it from time to time.
func (r *Run) Retry() {
	for _, s := range r.sides {
		s.retry()
	}
}

// Err returns the error that stopped the applications, or nil.
func (r *Run) Err() error {
	for _, s := range r.sides {
		if s.err != nil {
			return s.err
		}
	}
	return nil
}

// Progress returns a counter that grows with every completion taken.
func (r *Run) Progress() uint64 { return r.progress }

// InFlight returns the number of requests posted to send queues that have not completed.
func (r *Run) InFlight() (n int) {
	for _, s := range r.sides {
		for _, e := range s.ends {
			n += e.inFlight()
		}
	}
	return n
}

// Messages returns the number of messages, answers included, that arrived correctly, and their bytes.
func (r *Run) Messages() (n int, bytes uint64) {
	for _, s := range r.sides {
		for _, e := range s.ends {
			n, bytes = n+e.messages, bytes+e.bytes
		}
	}
	return n, bytes
}

// Done reports whether all ends have sent and received everything.
func (r *Run) Done() bool {
	for _, s := range r.sides {
		for _, e := range s.ends {
			if !e.role.done() {
				return false
			}
		}
	}
	return true
}

// Waiting describes what the first few unfinished ends wait for.
func (r *Run) Waiting() string {
	const most = 3
	var list []string
	omitted := 0
	for _, s := range r.sides {
		for _, e := range s.ends {
			if e.role.done() {
				continue
			}
			if len(list) == most {
				omitted++
				continue
			}
			list = append(list, e.state())
		}
	}
	if omitted > 0 {
		list = append(list, fmt.Sprintf("and %d more", omitted))
	}
	return strings.Join(list, "; ")
}

// inFlight returns the number of requests in the end's send queue that have not completed.
func (e *end) inFlight() int {
	if e.ring != nil {
		return e.ring.InFlight()
	}
	if l, ok := e.role.(*lookup); ok {
		return l.reads - l.over
	}
	return e.posted - e.acked
}

// state describes the end's progress, for errors.
func (e *end) state() string {
	if e.ring != nil {
		return fmt.Sprintf("%s of flow %d on server %s: %s, of %d", roleName(e.client), e.flow, e.side.Name,
			e.ring.state(), e.total)
	}
	what := fmt.Sprintf("%s of flow %d on server %s: %d requests posted, %d of them ended", roleName(e.client), e.flow,
		e.side.Name, e.posted, e.acked)
	if e.recvs != nil {
		what += fmt.Sprintf(", %d messages received", e.recvsDone)
	}
	return what + fmt.Sprintf(" of %d", e.total)
}

func roleName(client bool) string {
	if client {
		return "client"
	}
	return "server"
}

// Finish checks the final memory, once nothing is in flight any more. It is called once, before
// Result.
func (r *Run) Finish() error {
	if r.finished {
		return errors.New("apps: Finish was called before")
	}
	r.finished = true
	for _, s := range r.sides {
		s.stop()
		r.expectCounters(s)
		for i, e := range s.ends {
			if e.ring != nil {
				e.ring.halt()
			}
			if e.notice != nil {
				e.notice.halt()
			}
			switch x := e.role.(type) {
			case *server:
				x.finish(s.peer.ends[i].succeeded())
			case *client:
				if s.run.spec.Payload == Reused && s.run.spec.Kind == Read {
					x.verifyReused(&x.out, x.acked)
				}
			}
		}
		if err := s.guards(); err != nil {
			return err
		}
	}
	return r.Err()
}

// succeeded returns the number of send requests that completed without an error.
func (e *end) succeeded() (n int) {
	if _, ok := e.role.(*lookup); ok {
		return e.acked
	}
	for _, o := range e.outcomes {
		if o == endedWell {
			n++
		}
	}
	if e.outcomes != nil {
		return n
	}
	for i, c := range e.sendDone {
		if c.Status != 0 {
			if i == 0 {
				return 0
			}
			return e.sendDone[i-1].Message + 1
		}
	}
	return e.acked
}

// expectCounters gives the servers of atomics the expected final values of their counters.
func (r *Run) expectCounters(s *side) {
	if r.spec.Kind != Atomics {
		return
	}
	sum := uint64(0)
	for i, e := range s.ends {
		srv, ok := e.role.(*server)
		if !ok {
			continue
		}
		c := s.peer.ends[i].role.(*client)
		if c.stopped {
			return // after a fault it is unknown which atomics were carried out
		}
		if sum += c.counter.value; !r.spec.SharedCounter {
			srv.count = &c.counter.value
		}
	}
	if owner := s.counterOwner(); r.spec.SharedCounter && owner != nil {
		owner.count = &sum
	}
}

// guards reports changed bytes that lie outside all buffers.
func (s *side) guards() error {
	b := make([]byte, 0)
	for _, a := range s.areas() {
		if uint64(cap(b)) < a.pieceStride {
			b = make([]byte, a.pieceStride)
		}
		addr, got, ok, err := a.checkGuards(s.Memory, b[:cap(b)])
		if err != nil {
			return err
		}
		if !ok {
			s.ends[0].fail(Finding{What: "guard", Message: -1, Addr: addr, Expected: guardByte, Got: got,
				Text: fmt.Sprintf("%#x is outside of every buffer: expected %#02x as before, got %#02x", addr,
					guardByte, got)})
		}
	}
	return nil
}
