package core

import (
	"encoding/binary"
	"slices"

	"nictwin/models/format/ether"
	"nictwin/models/nic/nicspec"
)

// PauseClasses is the number of priority classes of a port.
const PauseClasses = ether.PauseClasses

// PauseRules determines which pause frames a port honours [F2].
type PauseRules struct {
	Port    bool  // whole-port pause frames (802.3x)
	Classes uint8 // priority pause frames (802.1Qbb), for these classes, one bit each
}

// PauseSet holds the PauseRules of every port.
type PauseSet [maxPorts]PauseRules

// PauseFrame is a decoded pause frame [F1].
type PauseFrame = ether.Pause

// ParsePause decodes a frame of 60 bytes or more, and reports whether it is a pause frame [F1].
func ParsePause(frame []byte) (PauseFrame, bool) { return ether.ParsePause(frame) }

// honours reports whether a frame is a pause frame that the port honours [F2].
func (r PauseRules) honours(frame []byte) bool {
	if !r.Port && r.Classes == 0 {
		return false
	}
	p, ok := ParsePause(frame)
	return ok && (p.Priority && r.Classes != 0 || !p.Priority && r.Port)
}

// BuildPause writes the pause frame that a port sends [F6], of 60 bytes; quanta 0 ends a pause.
func BuildPause(cfg *nicspec.PortEntryFields, mac [6]byte, quanta uint16, dst *[nicspec.FrameMin]byte) {
	p := ether.Pause{Priority: cfg.TxMode == nicspec.PauseModePriority, Classes: cfg.TxClasses}
	for i := range p.Quanta {
		p.Quanta[i] = quanta
	}
	p.Put(dst[:], mac)
}

// PortCfg returns the entry of table PortCfg of a port.
func (r *Regs) PortCfg(port int) *nicspec.PortEntryFields { return &r.portCfg[port] }

// PortMAC returns the source address of a port's pause frames.
func (r *Regs) PortMAC(port int) (mac [6]byte) {
	binary.LittleEndian.PutUint32(mac[:], r.portMAC[2*port])
	binary.LittleEndian.PutUint16(mac[4:], uint16(r.portMAC[2*port+1]))
	return mac
}

// writePort stores an entry of table PortCfg [F7].
func (r *Regs) writePort(b []byte, e *Effect) {
	f := nicspec.DecodePortEntry(b)
	if f.RxPause > 1 || f.TxMode > nicspec.PauseModePriority ||
		f.TxMode != nicspec.PauseModeNone &&
			(f.Xon >= f.Xoff || f.Xoff > nicspec.RxBufBytes || f.PauseTime < nicspec.PauseTimeMin) {
		e.Status = nicspec.TableStatusBadValue
		return
	}
	r.portCfg[e.Index] = f
	r.cfg.Pause[e.Index] = PauseRules{Port: f.RxPause == 1, Classes: f.RxPfc}
	e.Kind = EffectPortWritten
}

// PauseCycles converts a pause time in quanta to cycles of a port with beats of ethBits bits [F3].
func PauseCycles(quanta uint16, ethBits int) int64 {
	const quantum = 512 // bit times
	return int64(quanta) * quantum / int64(ethBits)
}

// PauseStops holds the cycles until which a port must not begin frames because its peer paused it
// [F3, F4]. Cycles are arguments; the zero value stops nothing.
type PauseStops struct {
	port    int64               // first cycle in which frames may begin again
	classes [PauseClasses]int64 // by class: first cycle in which frames of the class may begin again
	latest  int64               // maximum of `classes`: no class is stopped from this cycle on
}

// Take applies a pause frame that the port honours. Its pause times begin in cycle `from`.
func (s *PauseStops) Take(p *PauseFrame, rules PauseRules, from int64, ethBits int) {
	if !p.Priority {
		s.port = from + PauseCycles(p.Quanta[0], ethBits)
		return
	}
	for i := range s.classes {
		if p.Classes&rules.Classes>>i&1 != 0 {
			s.classes[i] = from + PauseCycles(p.Quanta[i], ethBits)
		}
	}
	s.latest = slices.Max(s.classes[:])
}

// Classes returns the classes stopped in a cycle, one bit each, and the cycle in which the first of
// these stops ends, Never if no class is stopped. No entry of a stopped class may be started.
func (s *PauseStops) Classes(cycle int64) (stopped uint8, again int64) {
	again = Never
	if s.latest <= cycle {
		return 0, again
	}
	for i, end := range s.classes {
		if end > cycle {
			stopped |= 1 << i
			again = min(again, end)
		}
	}
	return stopped, again
}

// Frame returns the cycle from which a frame of a class may begin.
func (s *PauseStops) Frame(class uint8) int64 { return max(s.port, s.classes[class]) }

// PauseSender decides when a port sends pause frames, by the fill of its receive buffer [F6].
// Cycles are arguments; the zero value sends none.
type PauseSender struct {
	paused   bool  // the latest pause frame paused the peer
	lastSent int64 // cycle in which the latest pause frame began
	due      bool  // a pause frame must be sent
	end      bool  // the due frame ends the pause
}

// Watch decides from the fill of the receive buffer in a cycle, held bytes, whether a pause frame
// is due. It returns the cycle in which to call it again even if the fill does not change, or
// Never.
func (s *PauseSender) Watch(cfg *nicspec.PortEntryFields, held int, cycle int64, ethBits int) int64 {
	switch {
	case cfg.TxMode == nicspec.PauseModeNone:
		s.Reset()
	case s.due:
	case !s.paused:
		s.due, s.end = held > int(cfg.Xoff), false
	case held <= int(cfg.Xon):
		s.due, s.end = true, true
	default:
		renew := s.lastSent + PauseCycles(cfg.PauseTime, ethBits)/2
		if renew > cycle {
			return renew
		}
		s.due, s.end = true, false
	}
	return Never
}

// Due reports whether a pause frame is due.
func (s *PauseSender) Due() bool { return s.due }

// Begin starts the due pause frame in a cycle and returns its time in quanta, 0 if it ends the
// pause.
func (s *PauseSender) Begin(cfg *nicspec.PortEntryFields, cycle int64) (quanta uint16) {
	if !s.end {
		quanta = cfg.PauseTime
	}
	s.paused, s.lastSent, s.due = !s.end, cycle, false
	return quanta
}

// Reset forgets the pause: nothing is due, and the peer counts as not paused.
func (s *PauseSender) Reset() { s.paused, s.due = false, false }
