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

// ringSpec describes a receive ring, and what is done with each packet in it.
type ringSpec struct {
	name       string
	cache      *armcache.Spec // nil: none
	dram       dram.Spec
	packet     int
	slots      int        // of the receive ring
	gbps       float64    // offered payload
	window     int        // packets being written to memory
	residence  simcore.Ps // from when a packet is in memory to when it is read
	invalidate bool       // drop its lines after it has been read
	staging    int        // slots of a cyclic transmit ring that each packet is copied to and sent from; 0: none
	warm       int        // packets not counted
	scale      float64    // by which sizes and times are smaller than the paper's; 0: 1

	// Backlog: packets are served one after another, each for this time; none is served from pause[0] to
	// pause[1].
	service simcore.Ps
	pause   [2]simcore.Ps
	packets int // packets until the run ends; 0: until its rate is known
}

// ring is the state of such a ring: a device writes packets, and reads each after its residence.
type ring struct {
	spec  ringSpec
	m     *memory
	meter *study.Meter
	every float64

	offered  int // packets that began
	writing  int
	busy     []bool
	idle     []*packet
	paced    simcore.Event
	armed    bool
	over     bool
	free     simcore.Ps          // when the server is free
	stages   fifo.Queue[int]     // free slots of the transmit ring, used in the order in which they became free
	waiting  fifo.Queue[*packet] // for a free slot
	held     int                 // packets in the ring
	finished int
	failed   error

	start, end mark                 // counters at begin and end of the counted part
	from, to   int                  // packets finished at these times
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

// step is a packet's next step.
type step uint8

const (
	stepRead step = iota
	stepStage
	stepSend
	stepInvalidate
	stepEnd
)

// stagingBase is the offset of the transmit ring.
const stagingBase = 1 << 31

func newRing(s *study.Session, spec ringSpec) (*ring, error) {
	m, err := newMemory(spec.cache, spec.dram)
	if err != nil {
		return nil, err
	}
	r := &ring{spec: spec, m: m, busy: make([]bool, spec.slots), every: float64(spec.packet) * 8e3 / spec.gbps,
		meter: s.NewMeterAfter(spec.warm, 4000)}
	r.paced.H = r
	for i := range spec.staging {
		r.stages.Push(i)
	}
	return r, nil
}

// run plays until the rate is known, or until the packets of the spec have ended.
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

// due returns when the network delivers a packet.
func (r *ring) due(i int) simcore.Ps { return simcore.Ps(float64(i) * r.every) }

// offer starts the writes of the packets that have arrived, as far as ring and window allow.
func (r *ring) offer() {
	now := r.m.engine.Now()
	for !r.over && r.failed == nil {
		slot := r.offered % r.spec.slots
		if r.busy[slot] || r.writing >= r.spec.window {
			return // the end of a write, or a freed slot, calls offer again
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

// fill writes the number of the packet into each of its lines.
func (p *packet) fill() {
	for i := 0; i+8 <= len(p.Data); i += mem.LineBytes {
		binary.LittleEndian.PutUint64(p.Data[i:], p.seq)
	}
}

// stale returns an error if the bytes read are not the bytes written.
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

// done continues a packet after memory has finished a step.
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

// served returns when a packet that has now reached memory will be read.
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

// at continues a packet at a time, in an event of its own.
func (p *packet) at(t simcore.Ps) {
	p.wake.At = t
	p.r.m.engine.Schedule(&p.wake)
}

// wakeOffer calls offer in an event of its own.
func (r *ring) wakeOffer() {
	if !r.armed {
		r.armed, r.paced.At = true, max(r.m.engine.Now(), r.due(r.offered))
		r.m.engine.Schedule(&r.paced)
	}
}

// Handle implements sim.Handler: the step of a packet is due.
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
			r.waiting.Push(p) // until a slot of the transmit ring has been sent
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

// Handle implements sim.Handler: the next packet is due.
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
		r.start, r.from = r.m.mark(), r.finished
	}
	if r.onDone != nil {
		r.onDone(now)
	}
	if !r.over {
		r.end, r.to = r.m.mark(), r.finished
	}
	if !more && r.spec.packets == 0 {
		r.over = true
	}
	r.wakeOffer()
}

// counted returns what crossed cache and DRAM during the counted part, and its payload.
func (r *ring) counted() (mark, uint64) {
	return r.end.since(r.start), uint64(r.to-r.from) * uint64(r.spec.packet)
}
