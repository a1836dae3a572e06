package data

import (
	"fmt"

	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/fifo"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/pipe"
	"nictwin/stack/transport"
)

// core is a data core: its queues of the NIC, its objects, and its loops.
type core struct {
	card  *Card
	index int
	cpu   *cpu.Core
	bus   *corebus.Bus
	spec  *Spec

	fences bool // completions are ordered behind copies by fences of the NIC (Spec.Fence)

	key *driver.Key // memory key of this core's Arm memory
	at  uint64      // start of that memory: a bus address

	rx      *driver.RxQueue
	packets packets
	sharers int       // reliable queue pairs that receive, and so share the receive queue
	share   int       // packets that the core can hold for each of `sharers`
	tx      []*sender // transmit queues, by port
	copies  copies
	staging staging
	reorder reorder
	pipes   *driver.Arena // Arm memory for staging completions on their way to the host
	block   []byte
	slot    []byte // header slot being built

	qps      map[uint32]*qp
	landings []*landing  // receive sides of low-latency queue pairs, in order of creation
	raws     map[int]*qp // queue pairs of raw packets, by port
	srqs     map[uint32]*srq
	contexts map[int]*context
	latest   *context              // the context whose pipe had the latest send element; nil: none
	polled   map[int][]*hostReader // by context: doorbells with a record that the core polls
	cqs      map[uint32]*cq
	active   *pipe.Active // queue pairs that may have something to send
	work     *cpu.Loop
	timer    *cpu.Loop
	timers   timers
	dirtyCQs []*cq           // completion queues with completions that were collected and not sent
	fullCQs  fifo.Queue[*cq] // completion queues that hold completions because their pipes were full

	frame  transport.Packet
	recv   transport.Recv
	entry  timer
	header [headerBytes]byte
	stats  Stats
	err    error
}

const (
	headerBytes = 256 // length of a header buffer: the longest headers have 218 (IPv6, selective acknowledgement)
)

// newCore opens the queues of a core.
func (a *Card) newCore(i int) (*core, error) {
	bus := a.cfg.Cores[i]
	c := &core{
		card: a, index: i, cpu: bus.Core(), bus: bus, spec: &a.spec, share: a.spec.share(0), qps: map[uint32]*qp{},
		raws: map[int]*qp{}, srqs: map[uint32]*srq{}, contexts: map[int]*context{}, polled: map[int][]*hostReader{},
		cqs: map[uint32]*cq{}, active: pipe.NewActive(),
		fences: a.spec.Fence && a.fences(),
	}
	receive := uint64(headerBytes+a.spec.PayloadBytes) << a.spec.LogReceive
	slotBytes := a.cfg.slotBytes()
	c.slot = make([]byte, slotBytes)
	slots := uint64(a.ports) * slotBytes << a.spec.LogTransmit
	reorder := uint64(a.spec.ReorderPackets * a.spec.PayloadBytes)
	ring := a.spec.stagingShare(len(a.cfg.Cores))
	bytes := receive + slots + linesBytes + reorder + uint64(a.spec.PipeBytes) + ring
	var err error
	if c.at, err = a.drv.Alloc(nicspec.EndpointArm, bytes, nicspec.LineBytes); err != nil {
		return nil, err
	}
	all := dma.Access{Read: true, Write: true}
	if c.key, err = a.drv.SetKey(driver.KeySpec{Index: a.cfg.FirstKey + i, Variant: 1, Bus: c.at, Len: bytes,
		Rights: all}); err != nil {
		return nil, err
	}
	c.markMemory(receive, slots, reorder, ring)
	if err := c.openReceive(c.at); err != nil {
		return nil, err
	}
	// behind the receive queue and, as turns are a circle, behind the pipes: what a packet or an element makes leave
	// waits for no other queue to be polled
	if err := c.addLoops(); err != nil {
		return nil, err
	}
	for p := range a.ports {
		s, err := c.openTransmit(p, c.at+receive+uint64(p)*slotBytes<<a.spec.LogTransmit)
		if err != nil {
			return nil, err
		}
		c.tx = append(c.tx, s)
	}
	if err := c.openCopies(c.at + receive + slots); err != nil {
		return nil, err
	}
	at := c.at + receive + slots + linesBytes
	c.reorder.open(at, a.spec.ReorderPackets, a.spec.PayloadBytes)
	c.pipes = a.drv.Within(at+reorder, uint64(a.spec.PipeBytes))
	c.staging = staging{c: c, ring: newRing(at+reorder+uint64(a.spec.PipeBytes), ring)}
	return c, nil
}

// markMemory tells the driver what the core's memory is for; pipes mark their parts when they are made.
func (c *core) markMemory(receive, slots, reorder, ring uint64) {
	u, payload := c.card.drv.Uses(), uint64(c.spec.PayloadBytes)<<c.spec.LogReceive
	u.Mark(c.at, payload, driver.UsePayload)
	u.Mark(c.at+payload, receive-payload+slots, driver.UseHeaders)
	u.Mark(c.at+receive+slots, linesBytes+reorder, driver.UsePayload) // staging lines carry operands of atomics
	u.Mark(c.at+receive+slots+linesBytes+reorder+uint64(c.spec.PipeBytes), ring, driver.UsePayload)
}

// queue returns the configuration common to all queues of the core; number is the queue's.
func (c *core) queue(number, log int) driver.QueueConfig {
	return driver.QueueConfig{Queue: number, LogSize: log, Bus: c.bus}
}

// fences reports whether the NIC has fences [D10].
func (a *Card) fences() bool {
	b := a.drv.Build()
	return b.Has(nicspec.PartFence)
}

func (c *core) txNumber(k int) int { return c.card.cfg.FirstTx + c.index*(c.card.ports+1) + k }

// span returns n bytes of this core's memory.
func (c *core) span(addr uint64, n int) driver.Span {
	return driver.Span{Key: c.key, Off: addr - c.at, Len: uint32(n)}
}

func (c *core) addLoops() (err error) {
	if c.work, err = c.cpu.Add(cpu.LoopSpec{Name: fmt.Sprintf("work of data core %d", c.index), Poll: 1,
		As: cpu.Queues},
		func(*cpu.Core) bool { return c.step() }); err != nil {
		return err
	}
	c.timer, err = c.cpu.Add(cpu.LoopSpec{Name: fmt.Sprintf("timers of data core %d", c.index), Poll: 1, As: cpu.Touch},
		func(*cpu.Core) bool { return c.expire() })
	return err
}

func (c *core) now() transport.Ps { return transport.Ps(c.cpu.Now()) }

// fail records the error that ends the core; later errors are ignored.
func (c *core) fail(err error) {
	if err != nil && c.err == nil {
		c.err = err
	}
}

// wake makes the work loop ask a queue pair for packets to send.
func (c *core) wake(q *qp) {
	q.recountSharer()
	q.haltOnError()
	if c.active.Work(q.config.QPN) == 0 {
		c.active.Add(q.config.QPN, 1)
	}
	c.work.Wake()
}

// step runs the work loop once: it sends packets that may leave, and rings doorbells. Completions go first: the
// application waits for them, and for the wire there is more to do, which takes longer.
func (c *core) step() bool {
	if c.err != nil {
		return false
	}
	found := len(c.dirtyCQs) > 0 && c.ringCopies()
	found = c.staging.flush() || found
	found = c.transmit() || found
	if found {
		c.prefetch()
	}
	for _, s := range c.tx {
		if s.Waiting() > 0 {
			c.fail(s.Ring())
			found = true
		}
	}
	found = c.ringCopies() || found
	for _, l := range c.landings {
		found = l.ring() || found
	}
	return found
}

// ringCopies posts completions that were collected, and copies that wait. It returns false if there were none.
func (c *core) ringCopies() bool {
	c.flushCQs()
	return c.copies.ring()
}

// prefetch begins to load what the other loops will poll next. Doorbells follow, for which the core waits longer than
// for memory.
func (c *core) prefetch() {
	c.rx.Prefetch()
	c.copies.q.Prefetch()
	for _, s := range c.tx {
		if s.inFlight.Len() > 0 {
			s.Prefetch()
		}
	}
	if c.latest != nil {
		c.latest.sq.Prefetch()
	}
}

// idle reports whether nothing is in flight except frames. The end of the last frames may remain unknown, because they
// requested no completion.
func (c *core) idle() bool {
	return c.copies.idle() && c.staging.waiting.Len() == 0 && len(c.dirtyCQs) == 0 && c.fullCQs.Len() == 0 &&
		c.active.Len() == 0
}

// drain calls done when every entry posted before has ended.
func (c *core) drain(done func()) {
	pending := len(c.tx) + 1
	finished := func() {
		if pending--; pending == 0 {
			done()
		}
	}
	for _, s := range c.tx {
		s.drain(finished)
	}
	c.copies.nop(finished)
}
