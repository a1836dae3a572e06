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
	Flow   int         // number of the flow at the manager
	Bus    driver.Bus  // of the flow's core
	Rule   int         // steering rule; the shared flow gets the frames that match none
	Match  driver.Rule // matches the flow's frames; its target is set here
	Copier *Copier     // of the flow's core

	Account    int // credit account; unused by the shared flow
	Fast, Slow int // receive queues; Fast is unused by the shared flow
	Key        int // memory key for the slow ring's buffers
	Host       *driver.Key

	Bytes     int // length of a buffer
	SlowBytes int // length of the slow ring's buffers and of the landing buffers of whole frames; 0: Bytes
	Repost    int // buffers to announce by one doorbell

	// Split, if not 0, splits that many bytes off each frame into a header buffer of HdrBytes, in both rings.
	Split, HdrBytes int
}

// slowBytes returns the length of a buffer of the slow path.
func (c *FlowConfig) slowBytes() int {
	if c.Split > 0 || c.SlowBytes == 0 {
		return c.Bytes
	}
	return c.SlowBytes
}

// Packet is a received packet in host memory. Its first HdrLen bytes are at Hdr, the Bytes after them at Address.
type Packet struct {
	Address uint64
	Bytes   int
	Hdr     uint64
	HdrLen  int
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
	fast *fastRing // nil: the shared flow
	slow *driver.RxQueue
	card slots       // buffers of the slow ring
	key  *driver.Key // memory key of these buffers

	landing landing // host buffers for slow packets

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
	for _, n := range []int{f.c.Bytes, f.c.slowBytes()} {
		if f.c.Split == 0 && (n < nicspec.LineBytes || n%nicspec.LineBytes != 0) {
			errs = append(errs, fmt.Errorf("buffers of %d B: want a multiple of %d", n, nicspec.LineBytes))
		}
	}
	if f.c.Split < 0 || f.c.HdrBytes < f.c.Split || (f.c.Split == 0) != (f.c.HdrBytes == 0) {
		errs = append(errs, fmt.Errorf("%d B split off into header buffers of %d B: want at least as much room, or "+
			"neither", f.c.Split, f.c.HdrBytes))
	}
	if f.c.Split > 0 && s.Lend {
		errs = append(errs, errors.New("split frames with lend: not supported: want whole frames, or no lend"))
	}
	switch k := f.c.Copier; {
	case f.c.Bus == nil || k == nil || f.c.Host == nil:
		errs = append(errs, errors.New("want a bus, a copier and a key for host memory"))
	case (k.flows+1)*s.Copies*manager.EntriesPerCopy > k.queue.Size():
		errs = append(errs, fmt.Errorf("%d flows with %d copies each, of %d work entries, on transmit queue %d: want "+
			"a queue of more than its %d places", k.flows+1, s.Copies, manager.EntriesPerCopy, k.queue.Number(),
			k.queue.Size()))
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
	var err error
	if f.card, err = f.alloc(nicspec.EndpointArm, s.SlowSlots, f.c.slowBytes()); err != nil {
		return err
	}
	if f.key, err = drv.SetKey(driver.KeySpec{Index: f.c.Key, Variant: 1, Bus: f.card.pay, Len: f.card.len(),
		Rights: dma.Access{Read: true}}); err != nil {
		return err
	}
	if f.landing.slots, err = f.alloc(nicspec.EndpointHost, s.Landing, f.c.slowBytes()); err != nil {
		return err
	}
	f.landing.used = make([]bool, s.Landing)
	if f.slow, err = f.openRing(f.c.Slow, &f.card, true, f.slowArrived); err != nil {
		return err
	}
	if f.shared() {
		return drv.SetDefault(driver.ToQueue(f.c.Slow))
	}
	f.fast = &fastRing{lazy: f.c.Split == 0}
	if f.fast.slots, err = f.alloc(nicspec.EndpointHost, s.FastSlots, f.c.Bytes); err != nil {
		return err
	}
	if f.fast.RxQueue, err = f.openRing(f.c.Fast, &f.fast.slots, !f.fast.lazy, f.fastArrived); err != nil {
		return err
	}
	if f.fast.lazy {
		f.fast.begin()
	}
	if f.c.Split > 0 {
		f.fast.order = driver.NewInOrder(s.FastSlots, f.fast.post)
	}
	return errors.Join(drv.SetAccount(f.c.Account, 0, s.Controller == manager.ControlNIC),
		drv.SetRule(f.c.Rule, f.rule(false)))
}

// openRing opens a receive queue and, unless they are posted later, posts its buffers.
func (f *Flow) openRing(queue int, s *slots, post bool, take func(*driver.RxQueue, *driver.RxFrame)) (*driver.RxQueue,
	error) {
	cfg := driver.RxConfig{
		QueueConfig: driver.QueueConfig{Queue: queue, LogSize: logOf(int(s.n)), RingIn: nicspec.EndpointHost,
			DoneIn: nicspec.EndpointHost, Notice: driver.NoticePoll, Bus: f.c.Bus},
		PayBytes: int(s.bytes), OnFrame: take, OnEvent: func(_ *driver.RxQueue, e driver.Event) {
			f.d.check(manager.FlowErrorf(f.c.Flow, ": receive queue %d failed with status %v", queue, e.Status))
		},
	}
	if f.c.Split > 0 {
		cfg.Split, cfg.SplitLen, cfg.HdrBytes = nicspec.SplitModeFixed, f.c.Split, f.c.HdrBytes
	}
	q, err := f.d.c.Driver.OpenRx(cfg)
	if err != nil || !post {
		return q, err
	}
	for i := range s.n {
		if err := q.Post(s.at(i)); err != nil {
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

// Poll takes at most n completion entries of the fast ring and all of the slow ring, and reports whether there were
// any. Slow packets are taken at once because copies and marks depend on how many have come.
func (f *Flow) Poll(now Ps, n int) bool {
	f.now = now
	before := f.polled
	if f.fast == nil {
		f.slow.Poll()
	} else {
		f.fast.PollSome(n)
		all := f.polled-before < uint64(n)
		f.slow.Poll()
		f.polledArm(all)
	}
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
	p := Packet{Address: x.Pay, Bytes: x.PayLen, Hdr: x.Hdr, HdrLen: x.HdrLen}
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

// Pending returns the number of packets that have come and were not handed over.
func (f *Flow) Pending() int { return f.d.m.Pending(f.c.Flow) }

// AsyncRecv hands over the next packets that are in host memory, n at most, as Manager.AsyncRecv does.
func (f *Flow) AsyncRecv(now Ps, n int, dst []Packet) ([]Packet, error) {
	f.now = now
	ready, err := f.d.m.AsyncRecv(now, f.c.Flow, n, f.ready[:0])
	return f.take(ready, dst), err
}

// take appends to dst the packets that the manager has handed over.
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
		f.d.check(f.fast.freed(f.fast.index(p.Address)))
		if f.fast.order != nil {
			f.d.check(f.fast.ensure(f.fast.Size() / 4))
		}
		f.announce(f.fast.RxQueue, f.fast.Size())
		f.d.m.Processed(now, f.c.Flow, 1, 0, messages)
		f.ensureArm()
	} else {
		if !f.d.c.Spec.Lend {
			f.landing.used[f.landing.index(p.Address)] = false
		}
		f.d.m.Processed(now, f.c.Flow, 0, 1, messages)
	}
	f.c.Copier.Flush()
}

// copy posts the copy of a run of slow packets: of the headers, if frames are split, and of the payload.
func (f *Flow) copy(first uint64, n int) error {
	from, to := f.card.at(first), f.place(n)
	for i := range uint64(n) {
		p := f.taken[0].At(int(first-f.handed) + int(i))
		p.Address, p.Hdr = to.Pay+i*f.card.bytes, to.Hdr+i*f.card.hdrSize
	}
	last := f.taken[0].At(int(first-f.handed) + n - 1)
	headers := (n-1)*f.c.HdrBytes + last.HdrLen
	payload := (n-1)*f.c.slowBytes() + last.Bytes
	f.runs.Push(n)
	if last.HdrLen > 0 {
		if err := f.c.Copier.post(f, from.Hdr, to.Hdr, headers, payload == 0); err != nil || payload == 0 {
			return err
		}
	}
	return f.c.Copier.post(f, from.Pay, to.Pay, payload, true)
}

// place takes the host memory for a run of n slow packets.
func (f *Flow) place(n int) driver.Buffer {
	if !f.d.c.Spec.Lend {
		return f.landing.take(n)
	}
	a := f.lent.Front()
	at := a.at
	a.at += uint64(n * f.c.slowBytes())
	if a.n -= n; a.n == 0 {
		f.lent.Pop()
	}
	return driver.Buffer{Pay: at}
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
		f.d.check(f.slow.Post(f.card.at(f.inCard)))
		f.announce(f.slow, f.slow.Size())
		f.inCard++
	}
	f.d.m.CopyEnded(now, f.c.Flow)
}
