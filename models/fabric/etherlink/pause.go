package etherlink

import (
	"math/bits"

	"nictwin/models/fabric/etherlink/core"
	"nictwin/models/format/ether"
	"nictwin/models/sim/simcore"
)

// stops records until when the peer has paused a port and its classes.
type stops struct {
	port  simcore.Ps
	class [core.Classes]simcore.Ps
	last  simcore.Ps // latest end of any pause: no pause is active from then on

	begun [core.Classes]simcore.Ps // start of the current or most recent pause of a class
	spent [core.Classes]simcore.Ps // total time of earlier pauses of a class
}

// classes returns a bit for each class that is paused now.
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

// since returns the end of the most recent pause of a class, which may have been one of the whole
// port.
func (s *stops) since(c int) simcore.Ps { return max(s.port, s.class[c]) }

// set pauses a class until a time; until = now ends its pause.
func (s *stops) set(c int, until, now simcore.Ps) {
	s.spent[c] += max(min(now, s.class[c])-s.begun[c], 0)
	s.begun[c], s.class[c] = now, until
	s.last = max(s.last, until)
}

// total returns how long class pauses have stopped a class up to now; pauses of the whole port are
// not counted.
func (s *stops) total(c int, now simcore.Ps) simcore.Ps {
	return s.spent[c] + max(min(now, s.class[c])-s.begun[c], 0)
}

func lowest(m uint8) int { return bits.TrailingZeros8(m) }

// quanta returns the duration of n pause quanta on the port's link.
func (p *port) quanta(n uint16) simcore.Ps { return p.line.TimeOf(int(n) * ether.PauseQuantumBits / 8) }

// obey applies a pause frame received from the peer.
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

// pauseDue reports whether the port must send a pause frame: a refresh, or a changed set of paused
// classes.
func (p *port) pauseDue() bool { return p.refresh || p.s.pool.Xoff(p.index) != p.paused }

// checkThresholds schedules the port to send a pause frame if one is due.
func (p *port) checkThresholds() {
	if p.pauseDue() {
		p.s.toSend |= p.bit
	}
}

// refreshPause schedules another pause frame when half of the last one's pause time has passed.
func (p *port) refreshPause(now simcore.Ps) {
	if !p.refresh && now >= p.pausedAt+p.quanta(p.s.spec.Quanta)/2 {
		p.refresh = true
		p.s.toSend |= p.bit
	}
}

// sendPause sends a pause frame: it pauses the classes above XOFF, and resumes the others that were
// paused.
func (p *port) sendPause(now simcore.Ps) {
	stop := p.s.pool.Xoff(p.index)
	pause := ether.Pause{Priority: true, Classes: stop | p.paused}
	for m := stop; m != 0; m &= m - 1 {
		pause.Quanta[lowest(m)] = p.s.spec.Quanta
	}
	p.paused, p.pausedAt, p.refresh = stop, now, false
	if stop != 0 {
		p.s.pausing |= p.bit
		p.s.wake(max(now+p.quanta(p.s.spec.Quanta)/2, now+1))
	} else {
		p.s.pausing &^= p.bit
	}
	f := p.s.frames.Get(ether.MinLen)
	pause.Put(f.Data, p.mac)
	p.count.PausesOut.Add(ether.MinLen)
	p.out = queued{}
	p.send(f, now, now)
}
