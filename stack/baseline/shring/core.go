package shring

import (
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
)

// hostCore is a core of the host that goes through the ring.
type hostCore struct {
	s       *Server
	bus     *corebus.Bus
	number  int // in the ring
	paths   []*path
	stepped simcore.Ps // beginning of the step that went through the ring last
	entry   [nicspec.CqeBytes]byte
	unlock  func()
}

// memory is the list of processed buffers, and the lock of posting, in host memory. Their bytes mean nothing: they are
// there to be paid for.
type memory struct {
	lock, list uint64
	places     uint64
	pushed     uint64 // buffers put on the list since the beginning
	popped     uint64
	locked     bool
	word       [8]byte
	line       [nicspec.LineBytes]byte
}

// wordBytes is the length of an entry of the list, and of the lock.
const wordBytes = 8

func (m *memory) alloc(d *driver.Driver, buffers int) (err error) {
	m.places = uint64(buffers)
	if m.lock, err = d.Alloc(nicspec.EndpointHost, nicspec.LineBytes, nicspec.LineBytes); err != nil {
		return err
	}
	m.list, err = d.Alloc(nicspec.EndpointHost, m.places*wordBytes, nicspec.LineBytes)
	return err
}

// begin posts buffers and goes through the ring, once in a step of the core: one of path `by`. Nothing else of the step
// comes before, so the lock is held for no longer than posting takes. The scan of the slowest core makes room for
// buffers that others have freed, with or without packets of its own: the path is woken to post them in its next step.
// While the lock is taken, its holder does so.
func (k *hostCore) begin(by *path) {
	now := k.bus.Core().Now()
	if now == k.stepped {
		return
	}
	k.stepped = now
	if k.refill() {
		by.worked = true
	}
	k.scan(by)
	if s := k.s; s.err == nil && s.due() && !s.shared.locked {
		by.c.Loop.Wake()
	}
}

// scan goes through all completion entries that have arrived.
func (k *hostCore) scan(by *path) {
	s := k.s
	s.bus.Bus = k.bus
	for s.err == nil {
		if s.ring.Behind(k.number) {
			k.load()
		} else if s.queue.PollSome(1); !s.ring.Behind(k.number) {
			break
		}
		k.look(s.ring.Pass(k.number), by)
	}
}

// ahead is the number of completion entries that a core fetches before it looks at them, as prefetchers of cores do for
// a stream of lines: assumption. An entry then takes a hit in the core's own caches, not in the one that cores share.
const ahead = 8

// load loads a completion entry that another core has read before, and fetches a later one.
func (k *hostCore) load() {
	s, l := k.s, k.s.queue.Layout()
	i := uint16(s.ring.At(k.number))
	s.check(k.bus.Core().Load(l.CqeAt(i), k.entry[:]))
	k.bus.Prefetch(l.CqeAt(i+ahead), nicspec.CqeBytes)
}

// look gives the packet at a place to its flow, if that is one of this core, and wakes the flow, if that is not `by`.
func (k *hostCore) look(place int, by *path) {
	s := k.s
	k.bus.Core().Compute(s.spec.ScanCycles)
	s.stats.Looked++
	by.worked = true
	f := &s.frames[place]
	p := s.rules[int(f.Cqe.Rule())]
	switch {
	case p == nil:
		s.check(errRule(f.Cqe.Rule()))
	case p.core != k:
		s.stats.Others++
	default:
		p.arrived(f)
		if p != by {
			p.c.Loop.Wake()
		}
	}
}

// free puts a processed buffer on the list, without the lock: it stores to a place of its own.
func (k *hostCore) free(buffer int) {
	s, m := k.s, &k.s.shared
	s.check(s.ring.Done(buffer))
	s.check(k.bus.Core().Store(m.list+m.pushed%m.places*wordBytes, m.word[:]))
	m.pushed++
}

// due reports whether there are enough buffers to announce them by a doorbell.
func (s *Server) due() bool { return s.ring.Room() >= max(1, min(s.repost, s.ring.Size()/4)) }

// refill posts the buffers on the list under the lock, if there are enough and no other core is at it. It reports
// whether it posted any.
func (k *hostCore) refill() bool {
	s, m := k.s, &k.s.shared
	if s.err != nil || !s.due() {
		return false
	}
	core := k.bus.Core()
	s.check(core.Load(m.lock, m.word[:]))
	if m.locked {
		s.stats.Contended++
		return false
	}
	m.locked = true
	s.check(core.Store(m.lock, m.word[:]))
	n := s.ring.Room()
	for left := uint64(n); left > 0; {
		at := m.popped % m.places
		count := min(left, m.places-at, uint64(len(m.line)/wordBytes))
		s.check(core.Load(m.list+at*wordBytes, m.line[:count*wordBytes]))
		m.popped, left = m.popped+count, left-count
	}
	s.bus.Bus = k.bus
	s.check(s.post(n))
	s.stats.Refills++
	core.Call(k.unlock)
	return true
}

// unlock is called when descriptors and doorbell have left the core: the lock is free again. If there is enough to post
// by now, which others have left, the core posts it.
func (s *Server) unlock(k *hostCore) {
	s.shared.locked = false
	if s.due() {
		k.paths[0].c.Loop.Wake()
	}
}
