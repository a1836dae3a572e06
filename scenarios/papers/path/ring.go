package path

import (
	"encoding/binary"
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/memory/armcache"
	"nictwin/models/memory/dram"
	"nictwin/models/memory/mem"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
)

// ringSpec describes a receive ring in memory, and the work on each packet in it.
type ringSpec struct {
	name       string
	cache      *armcache.Spec // last-level cache; nil: no cache
	dram       dram.Spec
	packet     int
	slots      int        // number of slots of the receive ring
	gbps       float64    // offered rate, in Gbps of payload
	window     int        // packets being written to memory
	residence  simcore.Ps // time from a packet's arrival in memory until software reads it
	invalidate bool       // drop the packet's cache lines after it has been read
	staging    int        // slots of a cyclic transmit ring through which each packet is sent; 0: packets are not sent
	warm       int        // packets before the measurement
	scale      float64    // factor by which sizes and times are smaller than in the paper; 0 means 1

	// A service time makes a backlog possible: packets are served one after another, each for this time, and none from
	// pause[0] to pause[1].
	service simcore.Ps
	pause   [2]simcore.Ps
	packets int // number of packets to play; 0: as many as the meter needs
}

// ring is the state of a receive ring: a device writes packets, and software reads each after its residence.
type ring struct {
	spec  ringSpec
	m     *memory
	meter *study.Meter
	every float64
	phase simcore.Ps // arrival of the first packet

	offered  int // packets whose writes have started
	writing  int
	busy     []bool
	idle     []*packet
	paced    simcore.Event
	armed    bool
	over     bool
	free     simcore.Ps          // time at which software will have served all packets that came before
	stages   fifo.Queue[int]     // free slots of the transmit ring, in the order in which they were freed
	waiting  fifo.Queue[*packet] // packets that wait for a free slot of the transmit ring
	held     int                 // packets in the ring
	finished int
	failed   error

	start, end snapshot             // counters at start and end of the measurement
	from, to   int                  // number of packets finished at the start and at the end of the measurement
	onDone     func(now simcore.Ps) // called with each finished packet
	onOffer    func(now simcore.Ps) // called when a packet arrives
}

// packet is a packet in the ring.
type packet struct {
	mem.Access
	r     *ring
	slot  int
	stage int // slot of the transmit ring
	seq   uint64
	next  step
	wake  simcore.Event
}

// step is the next operation on a packet.
type step uint8

const (
	stepRead step = iota
	stepStage
	stepSend
	stepInvalidate
	stepEnd
)

// stagingBase is the address of the transmit ring.
const stagingBase = 1 << 31

func newRing(s *study.Session, spec ringSpec) (*ring, error) {
	m, err := newMemory(spec.cache, spec.dram)
	if err != nil {
		return nil, err
	}
	r := &ring{spec: spec, m: m, busy: make([]bool, spec.slots), every: float64(spec.packet) * 8e3 / spec.gbps,
		meter: s.NewMeterAfter(spec.warm, 4000)}
	r.paced.H, r.phase = r, s.Phase(spec.name, simcore.Ps(r.every))
	for i := range spec.staging {
		r.stages.Push(i)
	}
	return r, nil
}

// run plays packets until the rate is known, or until the spec's number of packets is finished.
func (r *ring) run(s *study.Session) (study.Estimate, error) {
	r.offer()
	if err := r.m.engine.Run(); err != nil {
		return study.Estimate{}, fmt.Errorf("%s: %w", r.spec.name, err)
	}
	if r.failed != nil {
		return study.Estimate{}, fmt.Errorf("%s: %w", r.spec.name, r.failed)
	}
	e := r.meter.Estimate()
	s.Ran(r.spec.name, e, max(r.spec.scale, 1))
	s.Outcome.SimPs += int64(r.m.engine.Now())
	if err := r.m.check(); err != nil {
		return e, err
	}
	return e, s.Err()
}

// due returns the time at which the network delivers packet i.
func (r *ring) due(i int) simcore.Ps { return r.phase + simcore.Ps(float64(i)*r.every) }

// offer starts the writes of packets that have arrived, as far as free slots and window allow.
func (r *ring) offer() {
	now := r.m.engine.Now()
	for !r.over && r.failed == nil {
		slot := r.offered % r.spec.slots
		if r.busy[slot] || r.writing >= r.spec.window {
			return // offer is called again when a write ends or a slot becomes free
		}
		if at := r.due(r.offered); at > now {
			if !r.armed {
				r.armed, r.paced.At = true, at
				r.m.engine.Schedule(&r.paced)
			}
			return
		}
		r.busy[slot] = true
		r.writing++
		r.held++
		p := r.take()
		p.slot, p.seq, p.next = slot, uint64(r.offered), stepRead
		r.offered++
		if r.offered == r.spec.packets {
			r.over = true
		}
		p.fill()
		if r.onOffer != nil {
			r.onOffer(now)
		}
		p.access(mem.Write, uint64(slot)*uint64(r.spec.packet))
	}
}

func (r *ring) take() *packet {
	if n := len(r.idle); n > 0 {
		p := r.idle[n-1]
		r.idle = r.idle[:n-1]
		return p
	}
	p := &packet{r: r}
	p.Data = make([]byte, r.spec.packet)
	p.By, p.Done = mem.Device, func(*mem.Access) { p.done() }
	p.wake.H = p
	return p
}

// fill writes the packet's number into each of its lines.
func (p *packet) fill() {
	for i := 0; i+8 <= len(p.Data); i += mem.LineBytes {
		binary.LittleEndian.PutUint64(p.Data[i:], p.seq)
	}
}

// stale returns an error if the bytes read differ from those written.
func (p *packet) stale() error {
	for i := 0; i+8 <= len(p.Data); i += mem.LineBytes {
		if got := binary.LittleEndian.Uint64(p.Data[i:]); got != p.seq {
			return fmt.Errorf("packet %d: line %d has the bytes of packet %d", p.seq, i/mem.LineBytes, got)
		}
	}
	return nil
}

func (p *packet) access(op mem.Op, addr uint64) {
	p.Op, p.Addr, p.Span = op, addr, 0
	if op == mem.Invalidate {
		p.Span = p.r.spec.packet
	}
	p.r.m.top.Access(&p.Access)
}

// done schedules a packet's next step after memory has finished one.
func (p *packet) done() {
	r := p.r
	if p.Err != nil && r.failed == nil {
		r.failed = p.Err
	}
	switch p.next {
	case stepRead:
		r.writing--
		p.at(r.served())
		r.wakeOffer()
	case stepStage:
		if err := p.stale(); err != nil && r.failed == nil {
			r.failed = err
		}
		if r.spec.staging == 0 {
			p.next = stepInvalidate
		}
		p.at(r.m.engine.Now())
	default:
		p.at(r.m.engine.Now())
	}
}

// served returns the time at which software will read a packet that is in memory now.
func (r *ring) served() simcore.Ps {
	t := r.m.engine.Now() + r.spec.residence
	if r.spec.service == 0 {
		return t
	}
	t = max(t, r.free)
	if t >= r.spec.pause[0] && t < r.spec.pause[1] {
		t = r.spec.pause[1]
	}
	r.free = t + r.spec.service
	return t
}

// at schedules the packet's next step.
func (p *packet) at(t simcore.Ps) {
	p.wake.At = t
	p.r.m.engine.Schedule(&p.wake)
}

// wakeOffer schedules a call of offer, unless one is scheduled.
func (r *ring) wakeOffer() {
	if !r.armed {
		r.armed, r.paced.At = true, max(r.m.engine.Now(), r.due(r.offered))
		r.m.engine.Schedule(&r.paced)
	}
}

// Handle implements sim.Handler: it starts the packet's next step.
func (p *packet) Handle(sim.Event) error {
	r := p.r
	rx := uint64(p.slot) * uint64(r.spec.packet)
	switch p.next {
	case stepRead:
		p.next = stepStage
		clear(p.Data)
		p.access(mem.Read, rx)
	case stepStage:
		if r.stages.Len() == 0 {
			r.waiting.Push(p) // until a packet in the transmit ring has been sent
			return r.failed
		}
		p.stage, p.next = r.stages.Pop(), stepSend
		p.access(mem.Write, stagingBase+uint64(p.stage)*uint64(r.spec.packet))
	case stepSend:
		p.next = stepInvalidate
		p.access(mem.Read, stagingBase+uint64(p.stage)*uint64(r.spec.packet))
	case stepInvalidate:
		if r.spec.staging > 0 {
			r.stages.Push(p.stage)
			if r.waiting.Len() > 0 {
				r.waiting.Pop().at(r.m.engine.Now())
			}
		}
		if p.next = stepEnd; r.spec.invalidate {
			p.access(mem.Invalidate, rx)
			return r.failed
		}
		r.finish(p)
	case stepEnd:
		r.finish(p)
	}
	return r.failed
}

// Name implements sim.Named.
func (p *packet) Name() string { return "packet" }

// Handle implements sim.Handler: it offers the next packets.
func (r *ring) Handle(sim.Event) error {
	r.armed = false
	r.offer()
	return r.failed
}

// Name implements sim.Named.
func (r *ring) Name() string { return "ring" }

// finish frees the slot of a packet, and counts it.
func (r *ring) finish(p *packet) {
	now := r.m.engine.Now()
	r.busy[p.slot] = false
	r.held--
	r.finished++
	r.idle = append(r.idle, p)
	more := r.meter.Done(now, r.spec.packet)
	if !r.meter.Warm() {
		r.start, r.from = r.m.snapshot(), r.finished
	}
	if r.onDone != nil {
		r.onDone(now)
	}
	if !r.over {
		r.end, r.to = r.m.snapshot(), r.finished
	}
	if !more && r.spec.packets == 0 {
		r.over = true
	}
	r.wakeOffer()
}

// counted returns the bytes that crossed cache and DRAM during the measurement, and the bytes of payload.
func (r *ring) counted() (snapshot, uint64) {
	return r.end.since(r.start), uint64(r.to-r.from) * uint64(r.spec.packet)
}
