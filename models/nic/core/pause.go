package core

import (
	"encoding/binary"

	"nictwin/models/ether"
	"nictwin/models/nicspec"
)

// PauseClasses is the priority classes of a port.
const PauseClasses = ether.PauseClasses

// PauseRules is which pause frames a port honours [F2].
type PauseRules struct {
	Port    bool  // those for the whole port
	Classes uint8 // priority ones, for these classes
}

// PauseFrame is what a pause frame says [F1].
type PauseFrame = ether.Pause

// ParsePause reads a frame of 60 bytes or more, and reports whether it is a
// pause frame [F1].
func ParsePause(frame []byte) (PauseFrame, bool) { return ether.ParsePause(frame) }

// honours is [F2].
func (r PauseRules) honours(frame []byte) bool {
	if !r.Port && r.Classes == 0 {
		return false
	}
	p, ok := ParsePause(frame)
	return ok && (p.Priority && r.Classes != 0 || !p.Priority && r.Port)
}

// BuildPause writes the pause frame that a port sends [F6], of 60 bytes; quanta
// is 0 for the one that ends a pause.
func BuildPause(cfg *nicspec.PortEntryFields, mac [6]byte, quanta uint16, dst *[nicspec.FrameMin]byte) {
	p := ether.Pause{Priority: cfg.TxMode == nicspec.PauseModePriority, Classes: cfg.TxClasses}
	for i := range p.Quanta {
		p.Quanta[i] = quanta
	}
	p.Put(dst[:], mac)
}

// PortCfg is the entry of table PortCfg of a port.
func (r *Regs) PortCfg(port int) *nicspec.PortEntryFields { return &r.portCfg[port] }

// PortMAC is the source address of a port's pause frames.
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
