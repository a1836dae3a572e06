package device

import (
	"errors"
	"fmt"

	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/fifo"
	"nictwin/stack/ceio/manager"
	"nictwin/stack/ceio/ring"
	"nictwin/stack/driver"
)

// FlowConfig configures a flow. Rings have Spec.FastSlots and Spec.SlowSlots descriptors, powers of two.
type FlowConfig struct {
	Flow   int         // of the manager
	Bus    driver.Bus  // of the flow's core
	Rule   int         // steering rule; the shared flow gets the frames that match none
	Match  driver.Rule // matches the flow's frames; its target is set here
	Copier *Copier     // of the flow's core

	Account    int // credit account; unused by the shared flow
	Fast, Slow int // receive queues; Fast is unused by the shared flow
	Key        int // memory key for the slow ring's buffers
	Host       *driver.Key

	Bytes  int // length of a buffer
	Repost int // buffers to announce by one doorbell
}

// Packet is a received packet in host memory.
type Packet struct {
	Address uint64
	Bytes   int
	Fast    bool
	Index   uint64 // in its ring
	entry   [nicspec.CqeBytes]byte
}

// Cqe returns the packet's completion entry.
func (p *Packet) Cqe() nicspec.RxCqe { return p.entry[:] }

// area is unused host memory for n slow packets.
type area struct {
	at uint64
	n  int
}

// Flow is a flow of a NIC.
type Flow struct {
	d    *Device
	c    FlowConfig
	fast *driver.RxQueue // nil: the shared flow
	slow *driver.RxQueue
	key  *driver.Key // of the slow ring's buffers

	landing  uint64 // address of the landing buffers
	free     []bool // landing buffers that are free again, behind one that is not
	released uint64 // slow packets whose landing buffers are free, with those before them

	taken  [2]fifo.Queue[Packet] // by ring (slow, fast): packets that were not handed over
	runs   fifo.Queue[int]       // packets of the copies under way
	inCard uint64                // first slow packet whose buffer in the card is in use
	handed uint64                // slow packets handed over
	lent   fifo.Queue[area]      // areas that the application lent
	polled uint64                // completion entries taken
	ready  []ring.Packet
	now    Ps
}

// Open opens a flow's rings, posts their buffers and sets its account and rule. The flow works when the driver has
// carried out its commands; Start must be called then.
func (d *Device) Open(c FlowConfig) (*Flow, error) {
	f := &Flow{d: d, c: c}
	if _, twice := d.flows[c.Flow]; twice || c.Flow < 0 || c.Flow > d.c.Spec.Flows {
		return nil, fmt.Errorf("ceio: flow %d: want 0 to %d, each once", c.Flow, d.c.Spec.Flows)
	}
	if err := f.validate(); err != nil {
		return nil, fmt.Errorf("ceio: flow %d: %w", c.Flow, err)
	}
	if err := f.open(); err != nil {
		return nil, fmt.Errorf("ceio: flow %d: %w", c.Flow, err)
	}
	d.flows[c.Flow] = f
	return f, nil
}

func (f *Flow) validate() error {
	var errs []error
	s := &f.d.c.Spec
	for _, x := range []struct {
		name string
		n    int
	}{{"fast_slots", s.FastSlots}, {"slow_slots", s.SlowSlots}} {
		if log := logOf(x.n); log < nicspec.LogSizeMin || log > nicspec.LogSizeMax {
			errs = append(errs, fmt.Errorf("%s %d: want a power of two, 2^%d to 2^%d", x.name, x.n, nicspec.LogSizeMin,
				nicspec.LogSizeMax))
		}
	}
	if f.c.Bytes < nicspec.LineBytes || f.c.Bytes%nicspec.LineBytes != 0 {
		errs = append(errs, fmt.Errorf("buffers of %d B: want a multiple of %d", f.c.Bytes, nicspec.LineBytes))
	}
	switch k := f.c.Copier; {
	case f.c.Bus == nil || k == nil || f.c.Host == nil:
		errs = append(errs, errors.New("want a bus, a copier and a key for host memory"))
	case (k.flows+1)*s.Copies > k.queue.Size():
		errs = append(errs, fmt.Errorf("%d flows with %d copies each on transmit queue %d: want a queue of more than "+
			"its %d places", k.flows+1, s.Copies, k.queue.Number(), k.queue.Size()))
	default:
		k.flows++
	}
	return errors.Join(errs...)
}

// logOf returns the logarithm of a power of two, -1 for other numbers.
func logOf(n int) (log int) {
	for 1<<log < n {
		log++
	}
	if 1<<log != n {
		return -1
	}
	return log
}

func (f *Flow) shared() bool { return f.c.Flow == f.d.c.Spec.Flows }

func (f *Flow) open() error {
	s, drv := &f.d.c.Spec, f.d.c.Driver
	slow := uint64(s.SlowSlots * f.c.Bytes)
	card, err := drv.Alloc(nicspec.EndpointArm, slow, 4096)
	if err != nil {
		return err
	}
	if f.key, err = drv.SetKey(driver.KeySpec{Index: f.c.Key, Variant: 1, Bus: card, Len: slow,
		Rights: dma.Access{Read: true}}); err != nil {
		return err
	}
	if f.landing, err = drv.Alloc(nicspec.EndpointHost, uint64(s.Landing*f.c.Bytes), 4096); err != nil {
		return err
	}
	f.free = make([]bool, s.Landing)
	if f.slow, err = f.openRing(f.c.Slow, s.SlowSlots, card, f.slowArrived); err != nil {
		return err
	}
	if f.shared() {
		return drv.SetDefault(driver.ToQueue(f.c.Slow))
	}
	host, err := drv.Alloc(nicspec.EndpointHost, uint64(s.FastSlots*f.c.Bytes), 4096)
	if err != nil {
		return err
	}
	if f.fast, err = f.openRing(f.c.Fast, s.FastSlots, host, f.fastArrived); err != nil {
		return err
	}
	return errors.Join(drv.SetAccount(f.c.Account, 0, s.Controller == manager.ControlNIC),
		drv.SetRule(f.c.Rule, f.rule(false)))
}

// openRing opens a receive queue and posts its buffers, which are adjacent.
func (f *Flow) openRing(queue, slots int, at uint64, take func(*driver.RxQueue, *driver.RxFrame)) (*driver.RxQueue,
	error) {
	q, err := f.d.c.Driver.OpenRx(driver.RxConfig{
		QueueConfig: driver.QueueConfig{Queue: queue, LogSize: logOf(slots), RingIn: nicspec.EndpointHost,
			DoneIn: nicspec.EndpointHost, Notice: driver.NoticePoll, Bus: f.c.Bus},
		PayBytes: f.c.Bytes, OnFrame: take, OnEvent: func(_ *driver.RxQueue, e driver.Event) {
			f.d.check(fmt.Errorf("ceio: flow %d: receive queue %d failed with status %v", f.c.Flow, queue, e.Status))
		},
	})
	if err != nil {
		return nil, err
	}
	for i := range slots {
		if err := q.Post(driver.Buffer{Pay: at + uint64(i*f.c.Bytes)}); err != nil {
			return nil, err
		}
	}
	return q, q.Ring()
}

// rule returns the flow's rule. With controller `arm`, it names the ring of all frames.
func (f *Flow) rule(fast bool) driver.Rule {
	r := f.c.Match
	r.To = driver.ToQueue(f.c.Fast)
	r.To.Account = &driver.Account{Number: f.c.Account, SlowQueue: f.c.Slow}
	if f.d.c.Spec.Controller == manager.ControlArm && fast {
		r.To.Account.SlowQueue = f.c.Fast
	}
	return r
}

// Rings returns the placement of the flow's receive rings, for watches.
func (f *Flow) Rings() []driver.Layout {
	if f.shared() {
		return []driver.Layout{f.slow.Layout()}
	}
	return []driver.Layout{f.slow.Layout(), f.fast.Layout()}
}

// Start lets the flow take part in the credits.
func (f *Flow) Start(now Ps) error { return f.d.m.Open(now, f.c.Flow) }

// Poll takes at most n completion entries of each ring, and reports whether there were any.
func (f *Flow) Poll(now Ps, n int) bool {
	f.now = now
	before := f.polled
	if f.fast != nil {
		f.fast.PollSome(n)
	}
	f.slow.PollSome(n)
	f.c.Copier.Flush()
	return f.polled != before
}

func (f *Flow) fastArrived(_ *driver.RxQueue, x *driver.RxFrame) {
	f.push(1, x)
	f.d.m.FastArrived(f.now, f.c.Flow, x.Cqe.AccountSeq())
}

func (f *Flow) slowArrived(_ *driver.RxQueue, x *driver.RxFrame) {
	f.push(0, x)
	f.d.m.SlowArrived(f.now, f.c.Flow, x.Cqe.AccountSeq())
}

func (f *Flow) push(way int, x *driver.RxFrame) {
	p := Packet{Address: x.Pay, Bytes: x.PayLen}
	copy(p.entry[:], x.Cqe)
	f.taken[way].Push(p)
	f.polled++
}

// Recv hands over the next n packets once all of them are in host memory, as Manager.Recv does.
func (f *Flow) Recv(now Ps, n int, dst []Packet) ([]Packet, bool, error) {
	f.now = now
	ready, ok, err := f.d.m.Recv(now, f.c.Flow, n, f.ready[:0])
	return f.take(ready, dst), ok, err
}

// AsyncRecv hands over the next packets that are in host memory, n at most, as Manager.AsyncRecv does.
func (f *Flow) AsyncRecv(now Ps, n int, dst []Packet) ([]Packet, error) {
	f.now = now
	ready, err := f.d.m.AsyncRecv(now, f.c.Flow, n, f.ready[:0])
	return f.take(ready, dst), err
}

// take appends the packets that the manager handed over to dst.
func (f *Flow) take(ready []ring.Packet, dst []Packet) []Packet {
	f.ready = ready
	f.c.Copier.Flush()
	for _, r := range ready {
		way := 0
		if r.Fast {
			way = 1
		}
		p := f.taken[way].Pop()
		p.Fast, p.Index = r.Fast, r.Index
		if !r.Fast {
			f.handed++
		}
		dst = append(dst, p)
	}
	return dst
}

// Done reports that a packet has been processed, and ended messages with it. Packets end in any order.
func (f *Flow) Done(now Ps, p *Packet, messages int) {
	f.now = now
	if p.Fast {
		f.repost(f.fast, p.Address)
		f.d.m.Processed(now, f.c.Flow, 1, 0, messages)
	} else {
		f.d.m.Processed(now, f.c.Flow, 0, f.freeLanding(p.Index), messages)
	}
	f.c.Copier.Flush()
}

// freeLanding frees a landing buffer. It returns how many became free in their order, in which they are filled.
func (f *Flow) freeLanding(index uint64) (n int) {
	if f.d.c.Spec.Lend {
		return 1
	}
	size := uint64(len(f.free))
	f.free[index%size] = true
	for f.free[f.released%size] {
		f.free[f.released%size] = false
		f.released++
		n++
	}
	return n
}

func (f *Flow) repost(q *driver.RxQueue, at uint64) {
	f.d.check(q.Post(driver.Buffer{Pay: at}))
	if q.Waiting() >= max(1, min(f.c.Repost, q.Size()/4)) {
		f.d.check(q.Ring())
	}
}

// copy posts the copy of a run of slow packets.
func (f *Flow) copy(first uint64, n int) error {
	s, k := &f.d.c.Spec, f.c.Copier
	to := f.place(first, n)
	bytes := uint32((n - 1) * f.c.Bytes)
	for i := range n {
		p := f.taken[0].At(int(first-f.handed) + i)
		p.Address = to + uint64(i*f.c.Bytes)
		if i == n-1 {
			bytes += uint32(p.Bytes)
		}
	}
	from := first % uint64(s.SlowSlots) * uint64(f.c.Bytes)
	k.entry = driver.Copy{Order: driver.Order{Complete: true}, Src: driver.Span{Key: f.key, Off: from, Len: bytes},
		Dst: driver.Span{Key: f.c.Host, Off: to - f.c.Host.Bus, Len: bytes}}
	k.runs.Push(f)
	f.runs.Push(n)
	return k.queue.Post(&k.entry)
}

// place returns the host memory for a run of slow packets.
func (f *Flow) place(first uint64, n int) uint64 {
	if !f.d.c.Spec.Lend {
		return f.landing + first%uint64(len(f.free))*uint64(f.c.Bytes)
	}
	a := f.lent.Front()
	at := a.at
	a.at += uint64(n * f.c.Bytes)
	if a.n -= n; a.n == 0 {
		f.lent.Pop()
	}
	return at
}

// PostRecv lends host memory for n slow packets, as Manager.PostRecv does. Config.Host must cover it.
func (f *Flow) PostRecv(now Ps, at uint64, n int) error {
	f.now = now
	f.lent.Push(area{at, n})
	err := f.d.m.PostRecv(now, f.c.Flow, n)
	f.c.Copier.Flush()
	return err
}

// copied handles the end of the oldest copy: the buffers in the card are free.
func (f *Flow) copied(now Ps) {
	for range f.runs.Pop() {
		f.repost(f.slow, f.key.Bus+f.inCard%uint64(f.d.c.Spec.SlowSlots)*uint64(f.c.Bytes))
		f.inCard++
	}
	f.d.m.CopyEnded(now, f.c.Flow)
}
