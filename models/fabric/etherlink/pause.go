package etherlink

import (
	"math/bits"

	"nictwin/models/fabric/etherlink/core"
	"nictwin/models/format/ether"
	"nictwin/models/sim/simcore"
)

// stops is until when a port must not begin frames, because its peer told it to.
type stops struct {
	port  simcore.Ps
	class [core.Classes]simcore.Ps
	last  simcore.Ps // of all of them

	begun [core.Classes]simcore.Ps // of the stop of a class that is on, or was last
	spent [core.Classes]simcore.Ps // in stops before that
}

// classes are those that are stopped, a bit each.
func (s *stops) classes(now simcore.Ps) (m uint8) {
	if s.last <= now {
		return 0
	}
	if s.port > now {
		return 0xff
	}
	for c, end := range s.class {
		if end > now {
			m |= 1 << c
		}
	}
	return m
}

// since is when a class was last allowed to go on.
func (s *stops) since(c int) simcore.Ps { return max(s.port, s.class[c]) }

// set stops a class until a time, and ends its stop if that is now.
func (s *stops) set(c int, until, now simcore.Ps) {
	s.spent[c] += max(min(now, s.class[c])-s.begun[c], 0)
	s.begun[c], s.class[c] = now, until
	s.last = max(s.last, until)
}

// total is how long a class was stopped by its own pauses up to now.
func (s *stops) total(c int, now simcore.Ps) simcore.Ps {
	return s.spent[c] + max(min(now, s.class[c])-s.begun[c], 0)
}

func lowest(m uint8) int { return bits.TrailingZeros8(m) }

// quanta is the time of so many quanta on the port's link.
func (p *port) quanta(n uint16) simcore.Ps { return p.line.TimeOf(int(n) * ether.PauseQuantumBits / 8) }

// obey does what a pause frame says.
func (p *port) obey(f *ether.Pause, now simcore.Ps) {
	if !f.Priority {
		p.stops.port = now + p.quanta(f.Quanta[0])
		p.stops.last = max(p.stops.last, p.stops.port)
		p.s.wake(max(p.stops.port, now+1))
		return
	}
	for m := f.Classes; m != 0; m &= m - 1 {
		c := lowest(m)
		until := now + p.quanta(f.Quanta[c])
		p.stops.set(c, until, now)
		if until > now {
			p.s.wake(until)
		}
	}
}

// owes reports whether a pause frame is to be sent.
func (p *port) owes() bool { return p.again || p.s.pool.Xoff(p.index) != p.told }

// watch has a pause frame sent where the buffer's marks have been crossed.
func (p *port) watch() {
	if p.owes() {
		p.s.going |= p.bit
	}
}

// remind has the pause told again when half of it is over.
func (p *port) remind(now simcore.Ps) {
	if !p.again && now >= p.at+p.quanta(p.s.spec.Quanta)/2 {
		p.again = true
		p.s.going |= p.bit
	}
}

// tell sends a pause frame: it stops the classes above their mark, and ends the stops of those no longer.
func (p *port) tell(now simcore.Ps) {
	stop := p.s.pool.Xoff(p.index)
	pause := ether.Pause{Priority: true, Classes: stop | p.told}
	for m := stop; m != 0; m &= m - 1 {
		pause.Quanta[lowest(m)] = p.s.spec.Quanta
	}
	p.told, p.at, p.again = stop, now, false
	if stop != 0 {
		p.s.telling |= p.bit
		p.s.wake(max(now+p.quanta(p.s.spec.Quanta)/2, now+1))
	} else {
		p.s.telling &^= p.bit
	}
	f := p.s.frames.Get(ether.MinLen)
	pause.Put(f.Data, p.mac)
	p.count.PausesOut.Add(ether.MinLen)
	p.out = queued{}
	p.send(f, now, now)
}
