// Package control is the control core of a FlexiNS card: it carries out the control verbs that arrive through
// mailboxes, using the data cores and the NIC's memory keys, and notifies hosts of events.
//
// The host's kernel module has checked rights, states and object use, and has assigned numbers; this package gives
// memory regions their keys, shadow addresses (FN 3.2) and memory keys of the NIC. Requests of a context are started in
// order, but may end in a different order.
//
// Invariants:
//   - Every request has one reply.
//   - A key of the NIC is dropped, and its shadow addresses are reused, only when no work entry names it [T12].
package control

import (
	"errors"
	"fmt"
	"net/netip"

	"nictwin/models/nic/dma"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/field"
	"nictwin/models/sim/fifo"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/flexins/data"
	"nictwin/stack/flexins/mailbox"
	"nictwin/stack/pipe"
	"nictwin/stack/transport"
	"nictwin/stack/verbs"
)

// Spec is the cost of the control core's work, besides its memory accesses.
type Spec struct {
	Poll int64 `yaml:"poll_cycles"` // of polling a mailbox: as for a send queue (FN 3.2)
	Verb int64 `yaml:"verb_cycles"` // of a control verb: assumption
}

// DefaultSpec returns the spec of an Arm core at 2.5 GHz.
func DefaultSpec() Spec { return Spec{Poll: 62, Verb: 2000} }

// Validate returns every error of the spec.
func (s *Spec) Validate() error {
	var errs []error
	const most = 1 << 32
	if s.Poll < 1 || s.Poll > most {
		errs = append(errs, field.Errorf("poll_cycles", "%d: want 1 to 2^32", s.Poll))
	}
	if s.Verb < 0 || s.Verb > most {
		errs = append(errs, field.Errorf("verb_cycles", "%d: want 0 to 2^32", s.Verb))
	}
	return errors.Join(errs...)
}

// Config holds the parts that a control core works with.
type Config struct {
	Spec    Spec
	Bus     *corebus.Bus
	Driver  *driver.Driver
	Data    *data.Card
	Regions *verbs.Regions
	Shadow  *pipe.Shadow
	Ports   []verbs.PortAttr

	// FirstKey and Keys are the first number and the number of the NIC's memory keys for regions.
	FirstKey, Keys int
}

// Control is the control core of a card.
type Control struct {
	cfg      Config
	cpu      *cpu.Core
	free     []int          // indices of memory keys not in use
	variant  []uint8        // last variant used for each key
	keys     map[uint32]int // index of the memory key of each region, by region key
	contexts map[int]*context
	owner    map[uint32]int // context of each queue pair or shared receive queue
	err      error
}

// context is the connection to one context of a host library: its mailbox.
type context struct {
	c     *Control
	id    int
	from  pipe.Receiver
	to    pipe.Sender
	queue fifo.Queue[mailbox.Reply] // replies for which the pipe had no room
	loop  *cpu.Loop
}

// New returns a control core without contexts.
func New(c Config) (*Control, error) {
	if err := c.Spec.Validate(); err != nil {
		return nil, fmt.Errorf("control: %w", err)
	}
	if c.Bus == nil || c.Driver == nil || c.Data == nil || c.Regions == nil || c.Shadow == nil || len(c.Ports) == 0 {
		return nil, errors.New("control: want a core, a driver, data cores, regions, shadow addresses and ports")
	}
	x := &Control{cfg: c, cpu: c.Bus.Core(), variant: make([]uint8, c.Keys), keys: map[uint32]int{},
		contexts: map[int]*context{}, owner: map[uint32]int{}}
	for i := c.Keys - 1; i >= 0; i-- {
		x.free = append(x.free, i)
	}
	c.Data.OnAsync(func(e data.Async) { x.cpu.Call(func() { x.event(e) }) })
	return x, nil
}

// Open makes the control core serve a mailbox whose ring is at the given place.
func (c *Control) Open(id int, from pipe.Receiver, to pipe.Sender, at pipe.Extent) error {
	if c.contexts[id] != nil {
		return fmt.Errorf("control: context %d already exists", id)
	}
	x := &context{c: c, id: id, from: from, to: to}
	var err error
	x.loop, err = c.cpu.Add(cpu.LoopSpec{Name: fmt.Sprintf("mailbox of context %d", id), Poll: c.cfg.Spec.Poll,
		As: cpu.Control},
		func(*cpu.Core) bool { return x.poll() })
	if err != nil {
		return err
	}
	if _, err := x.loop.Watch(at.From, int(at.Bytes)); err != nil {
		x.loop.Stop()
		return fmt.Errorf("control: context %d: %w", id, err)
	}
	c.contexts[id] = x
	return nil
}

// Err returns the first error of the control core, or nil.
func (c *Control) Err() error { return c.err }

func (c *Control) fail(err error) {
	if err != nil && c.err == nil {
		c.err = err
	}
}

// poll takes a request from the mailbox; it returns false if there was nothing to do.
func (x *context) poll() bool {
	c := x.c
	if c.err != nil {
		return false
	}
	x.flush()
	e, err := x.from.Poll()
	if err != nil || e == nil {
		c.fail(err)
		return false
	}
	c.cpu.ComputeAs(cpu.Control, c.cfg.Spec.Verb)
	var r mailbox.Request
	if err := mailbox.Decode(e, &r); err != nil {
		c.fail(fmt.Errorf("control: context %d: %w", x.id, err))
		return false
	}
	x.serve(&r)
	return true
}

// reply sends a reply, now or when there is room.
func (x *context) reply(r mailbox.Reply) {
	x.queue.Push(r)
	x.flush()
}

// retry is the time in picoseconds after which replies are pushed again into a pipe that was full: assumption.
const retry = 2_000_000

// flush sends waiting replies until the pipe is full.
func (x *context) flush() {
	for x.queue.Len() > 0 {
		e, err := mailbox.Encode(x.queue.Front())
		if err == nil {
			err = x.to.Push(e)
		}
		if errors.Is(err, verbs.ENOMEM) {
			x.loop.WakeAt(x.c.cpu.Now() + retry)
			return
		}
		x.c.fail(err)
		x.queue.Pop()
	}
}

// end replies to a request. The reply is sent by the control core, whichever core calls.
func (x *context) end(r mailbox.Reply, errno verbs.Errno, err error) {
	x.c.cpu.Call(func() {
		if err != nil {
			var e verbs.Errno
			if !errors.As(err, &e) {
				e = errno
			}
			r.Fail(e, err)
		}
		x.reply(r)
	})
}

// event reports an event to the context that owns the queue.
func (c *Control) event(e data.Async) {
	if x := c.contexts[c.owner[e.QPN]]; x != nil {
		x.reply(mailbox.Reply{Object: e.QPN, Event: verbs.AsyncEventType(e.Event)})
	}
}

// serve starts a request; end replies to it later.
func (x *context) serve(r *mailbox.Request) {
	c := x.c
	a := mailbox.Reply{ID: r.ID}
	done := func(err error) { x.end(a, verbs.EINVAL, err) }
	switch r.Verb {
	case mailbox.RegMR:
		c.register(x, r)
	case mailbox.DeregMR:
		c.deregister(x, r)
	case mailbox.CloseCQ:
		done(c.cfg.Data.CloseCQ(r.Send.Number, int(r.Core)))
	case mailbox.CreateQP:
		c.createQP(x, r)
	case mailbox.ModifyQP:
		c.cfg.Data.ModifyQP(r.Object, c.change(r), done)
	case mailbox.QueryQP:
		c.cfg.Data.QueryQP(r.Object, func(s verbs.State, err error) {
			a.State = s
			done(err)
		})
	case mailbox.DestroyQP:
		c.cfg.Data.DestroyQP(r.Object, posted(r), func(err error) {
			delete(c.owner, r.Object)
			done(err)
		})
	case mailbox.CreateAH:
		c.cfg.Data.SetHandle(verbs.AH(r.Object), transport.NewAH(c.path(&r.Attr)))
		done(nil)
	case mailbox.DestroyAH:
		c.cfg.Data.SetHandle(verbs.AH(r.Object), nil)
		done(nil)
	case mailbox.CreateSRQ:
		c.owner[r.Object] = x.id
		c.cfg.Data.CreateSRQ(r.Object, x.id, int(r.Cap[0]), int(r.Cap[1]), done)
	case mailbox.ModifySRQ:
		c.cfg.Data.ModifySRQ(r.Object, int(r.Cap[0]), done)
	case mailbox.DestroySRQ:
		delete(c.owner, r.Object)
		c.cfg.Data.DestroySRQ(r.Object, posted(r), done)
	default:
		done(verbs.Errorf("control", verbs.EOPNOTSUPP, "request %d: unknown verb", r.Verb))
	}
}

// register creates a region: its key, its shadow, and the NIC's key for both.
func (c *Control) register(x *context, r *mailbox.Request) {
	a := mailbox.Reply{ID: r.ID}
	if len(c.free) == 0 {
		x.end(a, verbs.ENOMEM, fmt.Errorf("all %d memory keys of the NIC are in use", c.cfg.Keys))
		return
	}
	m, err := c.cfg.Regions.Register(r.PD, r.Addr, r.Bytes, r.Access)
	if err != nil {
		var e *verbs.Error
		if errors.As(err, &e) {
			err = fmt.Errorf("%s%w", e.Detail, brief{e.Errno})
		}
		x.end(a, verbs.EINVAL, err)
		return
	}
	s, err := c.cfg.Shadow.Register(m.LKey, r.Addr, r.Bytes)
	var k *driver.Key
	if err == nil {
		i := c.free[len(c.free)-1]
		c.variant[i]++
		k, err = c.cfg.Driver.SetKey(driver.KeySpec{
			Index: c.cfg.FirstKey + i, Variant: c.variant[i], VA: s.Arm, Bus: r.Addr, Len: r.Bytes,
			Rights: dma.Access{Read: true, Write: true},
		})
		if err != nil {
			err = errors.Join(err, c.cfg.Shadow.Release(m.LKey))
		} else {
			c.free = c.free[:len(c.free)-1]
			c.keys[m.LKey] = i
		}
	}
	if err != nil {
		_, undo := c.cfg.Regions.Deregister(m.LKey)
		x.end(a, verbs.ENOMEM, errors.Join(err, undo))
		return
	}
	a.Object, a.Addr = m.LKey, s.Arm
	c.cfg.Driver.Then(func() {
		c.cfg.Data.SetKey(m.LKey, k)
		x.end(a, 0, nil)
	})
}

// brief is an error number without a text: the reply carries the number only.
type brief struct{ verbs.Errno }

func (brief) Error() string { return "" }

// Unwrap returns the error number, for errors.Is.
func (b brief) Unwrap() error { return b.Errno }

// deregister removes a region once no entry given to the NIC names it.
func (c *Control) deregister(x *context, r *mailbox.Request) {
	a := mailbox.Reply{ID: r.ID}
	i, ok := c.keys[r.Object]
	if _, err := c.cfg.Regions.Deregister(r.Object); err != nil || !ok {
		x.end(a, verbs.EINVAL, fmt.Errorf("key %#x: no such region", r.Object))
		return
	}
	delete(c.keys, r.Object)
	c.cfg.Data.DropKey(r.Object, func() {
		c.cpu.Call(func() {
			err := c.cfg.Driver.DropKey(c.cfg.FirstKey + i)
			c.cfg.Driver.Then(func() {
				c.free = append(c.free, i)
				x.end(a, verbs.EIO, errors.Join(err, c.cfg.Shadow.Release(r.Object)))
			})
		})
	})
}

// createQP opens the queue pair's new completion queues, then creates it.
func (c *Control) createQP(x *context, r *mailbox.Request) {
	a := mailbox.Reply{ID: r.ID}
	for _, q := range [...]mailbox.CQ{r.Send, r.Recv} {
		if !q.New {
			continue
		}
		if err := c.cfg.Data.OpenCQ(q.Number, int(r.Core), pipe.Place{Ring: q.Ring, Counter: q.Counter}); err != nil {
			x.end(a, verbs.ENOMEM, err)
			return
		}
	}
	c.owner[r.Object] = x.id
	c.cfg.Data.CreateQP(data.QPConfig{
		QPN: r.Object, Type: r.Type, Context: x.id, PD: r.PD, SendCQ: r.Send.Number, RecvCQ: r.Recv.Number, SRQ: r.SRQ,
		HasSRQ:    r.HasSRQ,
		SignalAll: r.SignalAll, MaxMessage: c.cfg.Ports[0].MaxMessage, LowLatency: int(r.Bytes),
		Cap: verbs.QPCap{MaxSendWR: int(r.Cap[0]), MaxRecvWR: int(r.Cap[1]), MaxSendSGE: int(r.Cap[2]),
			MaxRecvSGE: int(r.Cap[3]), MaxInline: int(r.Cap[4])},
	}, func(err error) { x.end(a, verbs.EINVAL, err) })
}

func posted(r *mailbox.Request) data.Posted { return data.Posted{Sends: r.Sends, Recvs: r.Recvs} }

// change converts a modification to the form of the data cores.
func (c *Control) change(r *mailbox.Request) data.Change {
	q := &r.Attr
	x := data.Change{To: r.To, After: posted(r), Access: q.Access, QKey: q.QKey, Port: max(int(q.Port), 1) - 1}
	a := transport.DefaultAttr()
	a.Path, a.DestQP, a.SendPSN, a.RecvPSN, a.MTU = c.path(q), q.DestQPN, q.SQPSN, q.RQPSN, q.PathMTU
	a.Timeout, a.RetryCount, a.RNRRetry, a.MinRNR = q.Timeout, q.RetryCnt, q.RNRRetry, q.MinRNRTimer
	a.MaxRead, a.MaxDestRead = q.MaxRdAtomic, q.MaxDestRdAtomic
	if a.MTU == 0 { // only datagram queue pairs have no path MTU
		a.MTU = c.cfg.Ports[x.Port].ActiveMTU
	}
	x.Attr = a
	return x
}

// path converts an address handle to a path.
func (c *Control) path(q *verbs.QPAttr) transport.Path {
	p := &c.cfg.Ports[min(max(int(q.AH.Port), 1), len(c.cfg.Ports))-1]
	ip := func(gid [16]byte) netip.Addr { return netip.AddrFrom16(gid).Unmap() }
	return transport.Path{
		Local: transport.Address{MAC: p.MAC, IP: ip(p.GID)}, Peer: transport.Address{MAC: q.AH.MAC, IP: ip(q.AH.GID)},
		TrafficClass: q.AH.TrafficClass, HopLimit: max(q.AH.HopLimit, 1),
		SourcePort: verbs.UDPSourcePort(q.AH.FlowLabel),
	}
}
