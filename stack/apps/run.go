package apps

import (
	"errors"
	"fmt"
	"strings"

	"nictwin/stack/verbs"
)

// Run is a workload on two servers.
type Run struct {
	spec     *Spec
	sides    []*side // of each process in turn, on the first server and on the second
	progress uint64
	short    error // memory that there is not
	begun    bool
	finished bool
}

// New makes the objects of a workload and connects them: process i of the first server with process i of the second.
// await runs the world in between.
func New(s Spec, processes [][2]Side, await Await) (*Run, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if len(processes) != s.Processes {
		return nil, verbs.Errorf("apps", verbs.EINVAL, "processes %d: the stacks have %d", s.Processes, len(processes))
	}
	r := &Run{spec: &s}
	for _, pair := range processes {
		for server := range pair {
			x := &side{Side: pair[server], server: server, run: r, byQPN: map[uint32]*end{}}
			x.room = room{next: (x.Base + line - 1) &^ (line - 1), end: x.Base + x.Bytes}
			r.sides = append(r.sides, x)
		}
		a, b := r.sides[len(r.sides)-2], r.sides[len(r.sides)-1]
		a.peer, b.peer = b, a
	}
	if err := r.engines(); err != nil {
		return nil, err
	}
	for _, x := range r.sides {
		if s.Ports > len(x.Ways) {
			return nil, verbs.Errorf("apps", verbs.EINVAL, "server %s has %d ports: want ports %d or less", x.Name,
				len(x.Ways), len(x.Ways))
		}
		longest, answer := x.lengths()
		longest = max(longest, answer)
		x.want, x.got = make([]byte, longest+counterLen), make([]byte, longest+counterLen)
		if s.SharedCounter {
			x.seen = make([]bool, s.QueuePairs*s.Count)
		}
	}
	for p := range s.Processes {
		for f := range s.flows() {
			r.flow(p, f)
		}
	}
	u := &setup{Run: r, await: await}
	if err := u.make(); err != nil {
		return nil, err
	}
	return r, nil
}

// flow adds the ends of a flow of a process. Those of the second half have their client on the second server.
func (r *Run) flow(process, f int) {
	c, s := r.sides[2*process], r.sides[2*process+1]
	if f >= r.spec.QueuePairs {
		c, s = s, c
	}
	way, index, f := f%r.spec.Ports, len(c.ends), process*r.spec.flows()+f
	a := &end{spec: r.spec, side: c, index: index, flow: f, client: true, way: &c.Ways[way]}
	b := &end{spec: r.spec, side: s, index: index, flow: f, way: &s.Ways[way]}
	if r.spec.Kind == Ring {
		a.ring, b.ring = &ringWriter{ring: ring{end: a}}, &ringReader{ring: ring{end: b}}
		a.role, b.role = a.ring, b.ring
	} else {
		a.role, b.role = &client{end: a}, &server{end: b}
	}
	c.ends, s.ends = append(c.ends, a), append(s.ends, b)
}

// make goes through all steps.
func (u *setup) make() error {
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
		u.furnish(s)
	}
	if u.short != nil {
		return u.short
	}
	if err := each(u.blank, u.handles, u.revocable); err != nil {
		return err
	}
	u.introduce()
	if err := u.states(each); err != nil {
		return err
	}
	return each(u.engage, u.rings)
}

// Prepare posts the first receive requests and follows completions. Who runs the applications lets that come to its
// end before Begin: transports that do not wait for receivers lose what comes earlier.
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

// Prepared reports whether all receive requests are there that have to be before Begin; who runs the applications lets
// time pass and calls Retry until they are. Only rings tell.
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

// Begin posts the first requests.
func (r *Run) Begin() error {
	r.begun = true
	for _, s := range r.sides {
		for _, e := range s.ends {
			e.role.advance()
		}
	}
	return r.Err()
}

// Retry posts what found no room. Who runs the applications calls it now and then.
func (r *Run) Retry() {
	for _, s := range r.sides {
		s.retry()
	}
}

// Err is what kept the applications from going on, or nil.
func (r *Run) Err() error {
	for _, s := range r.sides {
		if s.err != nil {
			return s.err
		}
	}
	return nil
}

// Progress grows whenever a completion is taken.
func (r *Run) Progress() uint64 { return r.progress }

// UnderWay is how many requests of send queues are posted and have not ended.
func (r *Run) UnderWay() (n int) {
	for _, s := range r.sides {
		for _, e := range s.ends {
			n += e.underWay()
		}
	}
	return n
}

// Messages is how many messages came as they had to, answers included, and their bytes.
func (r *Run) Messages() (n int, bytes uint64) {
	for _, s := range r.sides {
		for _, e := range s.ends {
			n, bytes = n+e.messages, bytes+e.bytes
		}
	}
	return n, bytes
}

// Done reports whether all ends have what they wait for.
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

// Waiting says in words what the first ends that are not done wait for.
func (r *Run) Waiting() string {
	const most = 3
	var list []string
	more := 0
	for _, s := range r.sides {
		for _, e := range s.ends {
			if e.role.done() {
				continue
			}
			if len(list) == most {
				more++
				continue
			}
			list = append(list, e.state())
		}
	}
	if more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, "; ")
}

// underWay is how many requests of the end's send queue have not ended.
func (e *end) underWay() int {
	if e.ring != nil {
		return e.ring.UnderWay()
	}
	return e.posted - e.acked
}

// state says how far an end is.
func (e *end) state() string {
	if e.ring != nil {
		return fmt.Sprintf("%s of flow %d on server %s: %s, of %d", roleName(e.client), e.flow, e.side.Name,
			e.ring.state(), e.spec.Count)
	}
	what := fmt.Sprintf("%s of flow %d on server %s: %d requests posted, %d of them ended", roleName(e.client), e.flow,
		e.side.Name, e.posted, e.acked)
	if e.recvs != nil {
		what += fmt.Sprintf(", %d messages received", e.came)
	}
	return what + fmt.Sprintf(" of %d", e.spec.Count)
}

func roleName(client bool) string {
	if client {
		return "client"
	}
	return "server"
}

// Finish looks at the memory in the end, once nothing is under way any more. It is called once, before Result.
func (r *Run) Finish() error {
	if r.finished {
		return errors.New("apps: Finish was called before")
	}
	r.finished = true
	for _, s := range r.sides {
		s.stop()
		r.counters(s)
		for i, e := range s.ends {
			if e.ring != nil {
				e.ring.halt()
			}
			switch x := e.role.(type) {
			case *server:
				x.finish(s.peer.ends[i].well())
			case *client:
				if s.run.spec.Payload == Reused && s.run.spec.Kind == Read {
					x.lookAgain(&x.out, x.acked)
				}
			}
		}
		if err := s.guards(); err != nil {
			return err
		}
	}
	return r.Err()
}

// well is how many requests ended well.
func (e *end) well() (n int) {
	for _, o := range e.over {
		if o == endedWell {
			n++
		}
	}
	if e.over != nil {
		return n
	}
	for i, c := range e.sends {
		if c.Status != 0 {
			if i == 0 {
				return 0
			}
			return e.sends[i-1].Message + 1
		}
	}
	return e.acked
}

// counters tells the servers of atomics what their counters must have.
func (r *Run) counters(s *side) {
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
			return // nobody knows which were carried out
		}
		if sum += c.counter.value; !r.spec.SharedCounter {
			srv.count = &c.counter.value
		}
	}
	if owner := s.counterOwner(); r.spec.SharedCounter && owner != nil {
		owner.count = &sum
	}
}

// guards looks for bytes that were written where nothing may be.
func (s *side) guards() error {
	b := make([]byte, 0)
	for _, a := range s.areas() {
		if uint64(cap(b)) < a.apart {
			b = make([]byte, a.apart)
		}
		addr, got, ok, err := a.trespass(s.Memory, b[:cap(b)])
		if err != nil {
			return err
		}
		if !ok {
			s.ends[0].fail(Wrong{What: "guard", Message: -1, Addr: addr, Expected: pad, Got: got,
				Text: fmt.Sprintf("%#x is outside of every buffer: expected %#02x as before, got %#02x", addr, pad,
					got)})
		}
	}
	return nil
}
