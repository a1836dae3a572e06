package library

import (
	"errors"
	"fmt"

	"nictwin/models/server/cpu"
	"nictwin/models/sim/field"
	"nictwin/models/sim/fifo"
	"nictwin/stack/driver"
	"nictwin/stack/flexins/data"
	"nictwin/stack/flexins/kernel"
	"nictwin/stack/flexins/mailbox"
	"nictwin/stack/pipe"
	"nictwin/stack/verbs"
)

// Spec holds the costs of the library's work in cycles, besides its memory accesses.
type Spec struct {
	Syscall int64 `yaml:"syscall_cycles"` // of entering the kernel module and returning, 200 ns at 2.5 GHz: assumption
	// of building an element of a pipe: 76 ns, as for a work queue entry of the RDMA NIC (off-path study, Advice 4)
	Post int64 `yaml:"post_cycles"`
	Take int64 `yaml:"take_cycles"` // of a completion: assumption
	Poll int64 `yaml:"poll_cycles"` // of polling a ring, as on the card (FN 3.2)
}

// DefaultSpec returns the spec of a host core at 2.5 GHz.
func DefaultSpec() Spec { return Spec{Syscall: 500, Post: 190, Take: 20, Poll: 62} }

// Validate returns every error of the spec.
func (s *Spec) Validate() error {
	var errs []error
	for _, f := range []struct {
		path  field.Path
		v     int64
		least int64
	}{{"syscall_cycles", s.Syscall, 0}, {"post_cycles", s.Post, 0}, {"take_cycles", s.Take, 0},
		{"poll_cycles", s.Poll, 1}} {
		if f.v < f.least || f.v > 1<<32 {
			errs = append(errs, field.Errorf(f.path, "%d: want %d to 2^32", f.v, f.least))
		}
	}
	return errors.Join(errs...)
}

// Config holds the parts that a library works with.
type Config struct {
	Spec   Spec
	ID     int // number of the context
	Core   *cpu.Core
	Kernel *kernel.Process
	Ports  []verbs.PortAttr

	To    pipe.Sender   // requests to the control core
	From  pipe.Receiver // replies and events from the control core
	Reply pipe.Extent   // memory of the ring of From; a write there makes the library poll

	SQ, RQ []pipe.Sender // send and receive pipes, by data core; elements of SQ may be collected for a flush

	// Pipe is the spec of completion pipes. Host allocates the host memory for their rings.
	Pipe pipe.Spec
	Host *driver.Arena

	// Failed returns the reason for which the card has stopped working, or nil.
	Failed func() error
}

// Context is an open device, as verbs.Context.
type Context struct {
	cfg          Config
	core         *cpu.Core
	kernel       *kernel.Process
	regions      map[uint32]region // memory regions, by key
	ahs          map[verbs.AH]verbs.PD
	ahOf         func(verbs.AH) (verbs.PD, bool)
	qps          map[uint32]*QP
	srqs         map[uint32]*SRQ
	cqs          map[uint32]*CQ
	async        func(verbs.AsyncEvent)
	packers      []*pipe.Packer // producers of receive entries, by data core
	posted       []data.Posted  // numbers of requests posted, by data core
	unsent       []bool         // by data core: send elements may wait in the pipe
	sendLeftover *cpu.Loop
	encoded      [pipe.MaxLines * pipe.LineBytes]byte
	element      pipe.SendElement
	message      [pipe.MaxInline]byte // message of a low-latency queue pair being built
	pieces       []pipe.Span

	id       uint32
	inFlight map[uint32]func(*mailbox.Reply)
	waiting  fifo.Queue[[]byte] // requests that wait because too many are in flight
	loop     *cpu.Loop
	err      error
}

// region is a memory region with its address on the card.
type region struct {
	verbs.MR
	arm uint64
}

// maxInFlight is the largest number of control verbs in flight, chosen so that their replies fit into a pipe of the
// default size.
const maxInFlight = 8

// New returns the context of one process.
func New(c Config) (*Context, error) {
	if err := c.Spec.Validate(); err != nil {
		return nil, fmt.Errorf("library: %w", err)
	}
	x := &Context{
		cfg: c, core: c.Core, kernel: c.Kernel, regions: map[uint32]region{}, ahs: map[verbs.AH]verbs.PD{},
		qps: map[uint32]*QP{}, srqs: map[uint32]*SRQ{},
		cqs: map[uint32]*CQ{}, inFlight: map[uint32]func(*mailbox.Reply){},
	}
	x.ahOf = func(h verbs.AH) (verbs.PD, bool) { pd, ok := x.ahs[h]; return pd, ok }
	for _, to := range c.RQ {
		x.packers, x.posted = append(x.packers, pipe.NewPacker(to)), append(x.posted, data.Posted{})
	}
	x.unsent = make([]bool, len(c.SQ))
	var err error
	if x.loop, err = x.core.Add(cpu.LoopSpec{Name: fmt.Sprintf("replies to context %d", c.ID), Poll: c.Spec.Poll,
		As: cpu.Control}, func(*cpu.Core) bool { return x.takeReply() }); err != nil {
		return nil, err
	}
	if _, err = x.loop.Watch(c.Reply.From, int(c.Reply.Bytes)); err != nil {
		return nil, err
	}
	x.sendLeftover, err = x.core.Add(cpu.LoopSpec{Name: fmt.Sprintf("requests of context %d", c.ID), Poll: 1,
		As: cpu.Post}, func(*cpu.Core) bool { return x.flush() })
	return x, err
}

// Err returns the first error of the library, or nil.
func (c *Context) Err() error { return c.err }

// Idle reports whether no control verb is in flight.
func (c *Context) Idle() bool { return len(c.inFlight) == 0 && c.waiting.Len() == 0 }

// Close stops the library's loops.
func (c *Context) Close() {
	c.loop.Stop()
	c.sendLeftover.Stop()
	for _, q := range c.cqs {
		q.unwatch()
	}
}

func (c *Context) fail(err error) {
	if err != nil && c.err == nil {
		c.err = err
	}
}

// failure returns the reason why data verbs must return EIO, or nil.
func (c *Context) failure() error {
	if c.err != nil {
		return c.err
	}
	return c.cfg.Failed()
}

// ask sends a request to the control core; done gets its reply.
func (c *Context) ask(r *mailbox.Request, done func(*mailbox.Reply)) {
	c.core.ComputeAs(cpu.Control, c.cfg.Spec.Syscall)
	c.id++
	r.ID, r.Context = c.id, uint32(c.cfg.ID)
	e, err := mailbox.Encode(r)
	if err != nil {
		c.fail(err)
		return
	}
	c.inFlight[r.ID] = done
	c.waiting.Push(e)
	c.send()
}

// send pushes waiting requests into the mailbox, as many as may be in flight.
func (c *Context) send() {
	for c.waiting.Len() > 0 && len(c.inFlight)-c.waiting.Len() < maxInFlight {
		err := c.cfg.To.Push(*c.waiting.Front())
		if errors.Is(err, verbs.ENOMEM) {
			c.loop.WakeAt(c.core.Now() + retry)
			return
		}
		c.fail(err)
		c.waiting.Pop()
	}
}

// retry is the time in picoseconds after which a request is pushed again into a pipe that was full: assumption.
const retry = 2_000_000

// takeReply takes one reply or event from the mailbox; it returns false if the pipe is empty.
func (c *Context) takeReply() bool {
	c.send()
	e, err := c.cfg.From.Poll()
	if err != nil || e == nil {
		c.fail(err)
		return false
	}
	var r mailbox.Reply
	if err := mailbox.Decode(e, &r); err != nil {
		c.fail(err)
		return false
	}
	if r.ID == 0 {
		c.event(&r)
		return true
	}
	done := c.inFlight[r.ID]
	if done == nil {
		c.fail(fmt.Errorf("library: a reply to request %d, which is not pending", r.ID))
		return false
	}
	delete(c.inFlight, r.ID)
	c.send()
	done(&r)
	return true
}

// event passes on an asynchronous event.
func (c *Context) event(r *mailbox.Reply) {
	e := verbs.AsyncEvent{Type: r.Event}
	if q := c.qps[r.Object]; q != nil {
		e.QP = q
	} else if s := c.srqs[r.Object]; s != nil {
		e.SRQ = s
	} else {
		return // the object was destroyed meanwhile
	}
	if c.async != nil {
		c.async(e)
	}
}

// OnAsync implements verbs.Context.
func (c *Context) OnAsync(f func(verbs.AsyncEvent)) { c.async = f }

// chargeSyscall charges for a verb that the kernel module answers alone.
func (c *Context) chargeSyscall() { c.core.ComputeAs(cpu.Control, c.cfg.Spec.Syscall) }

// QueryDevice implements verbs.Context.
func (c *Context) QueryDevice(done func(verbs.DeviceAttr, error)) {
	c.chargeSyscall()
	done(*c.kernel.Attr(), nil)
}

// QueryPort implements verbs.Context.
func (c *Context) QueryPort(port uint8, done func(verbs.PortAttr, error)) {
	c.chargeSyscall()
	if err := c.checkPort("query_port", port); err != nil {
		done(verbs.PortAttr{}, err)
		return
	}
	done(c.cfg.Ports[port-1], nil)
}

func (c *Context) checkPort(verb string, port uint8) error {
	if port < 1 || int(port) > len(c.cfg.Ports) {
		return verbs.Errorf(verb, verbs.EINVAL, "port %d: want 1 to %d", port, len(c.cfg.Ports))
	}
	return nil
}

// AllocPD implements verbs.Context.
func (c *Context) AllocPD(done func(verbs.PD, error)) {
	c.chargeSyscall()
	n, err := c.kernel.Create("alloc_pd", verbs.KindPD)
	done(verbs.PD(n), err)
}

func pdObject(pd verbs.PD) verbs.Object { return verbs.Object{Kind: verbs.KindPD, Number: uint32(pd)} }

// DeallocPD implements verbs.Context.
func (c *Context) DeallocPD(pd verbs.PD, done func(error)) {
	c.chargeSyscall()
	done(c.kernel.Destroy("dealloc_pd", pdObject(pd)))
}

// checkPD returns an error if the protection domain is not one of this process.
func (c *Context) checkPD(verb string, pd verbs.PD) error {
	if !c.kernel.Has(pdObject(pd)) {
		return verbs.Errorf(verb, verbs.EINVAL, "%v does not exist", pdObject(pd))
	}
	return nil
}

// RegMR implements verbs.Context.
func (c *Context) RegMR(pd verbs.PD, addr, length uint64, access verbs.Access, done func(verbs.MR, error)) {
	const verb = "reg_mr"
	if err := c.checkPD(verb, pd); err != nil {
		done(verbs.MR{}, err)
		return
	}
	c.ask(&mailbox.Request{Verb: mailbox.RegMR, PD: pd, Addr: addr, Bytes: length, Access: access},
		func(r *mailbox.Reply) {
			m := verbs.MR{PD: pd, Addr: addr, Length: length, Access: access, LKey: r.Object, RKey: r.Object}
			err := r.Err(verb)
			if err == nil {
				err = c.kernel.Add(verb, verbs.Object{Kind: verbs.KindMR, Number: m.LKey}, pdObject(pd))
			}
			if err != nil {
				done(verbs.MR{}, err)
				return
			}
			c.regions[m.LKey] = region{m, r.Addr}
			done(m, nil)
		})
}

// DeregMR implements verbs.Context.
func (c *Context) DeregMR(lkey uint32, done func(error)) {
	const verb = "dereg_mr"
	x := verbs.Object{Kind: verbs.KindMR, Number: lkey}
	if err := c.kernel.Destroy(verb, x); err != nil {
		done(err)
		return
	}
	delete(c.regions, lkey)
	c.ask(&mailbox.Request{Verb: mailbox.DeregMR, Object: lkey}, func(r *mailbox.Reply) { done(r.Err(verb)) })
}

// CreateAH implements verbs.Context.
func (c *Context) CreateAH(pd verbs.PD, a verbs.AHAttr, done func(verbs.AH, error)) {
	const verb = "create_ah"
	err := c.checkPort(verb, a.Port)
	if err == nil {
		err = c.checkPD(verb, pd)
	}
	var n uint32
	if err == nil {
		n, err = c.kernel.Create(verb, verbs.KindAH, pdObject(pd))
	}
	if err != nil {
		done(0, err)
		return
	}
	c.ask(&mailbox.Request{Verb: mailbox.CreateAH, Object: n, Attr: verbs.QPAttr{AH: a}}, func(r *mailbox.Reply) {
		c.ahs[verbs.AH(n)] = pd
		done(verbs.AH(n), r.Err(verb))
	})
}

// DestroyAH implements verbs.Context.
func (c *Context) DestroyAH(ah verbs.AH, done func(error)) {
	const verb = "destroy_ah"
	if err := c.kernel.Destroy(verb, verbs.Object{Kind: verbs.KindAH, Number: uint32(ah)}); err != nil {
		done(err)
		return
	}
	delete(c.ahs, ah)
	c.ask(&mailbox.Request{Verb: mailbox.DestroyAH, Object: uint32(ah)}, func(r *mailbox.Reply) { done(r.Err(verb)) })
}

var _ verbs.Context = (*Context)(nil)
