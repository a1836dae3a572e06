package core

import (
	"encoding/binary"

	"nictwin/models/nicspec"
)

// PauseClasses is the priority classes of a port.
const PauseClasses = 8

// PauseRules is which pause frames a port honours [F2].
type PauseRules struct {
	Port    bool  // those for the whole port
	Classes uint8 // priority ones, for these classes
}

// PauseFrame is what a pause frame says [F1].
type PauseFrame struct {
	Priority bool
	Classes  uint8                // of a priority pause: those it names
	Quanta   [PauseClasses]uint16 // by class; of any other pause the first
}

// Places in a pause frame, from its start.
const (
	macControlOff = 12
	pauseOpOff    = 14
	pauseTimeOff  = 16
	pfcTimesOff   = 18
)

var pauseAddress = [6]byte{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01}

// ParsePause reads a frame of 60 bytes or more, and reports whether it is a
// pause frame [F1].
func ParsePause(frame []byte) (p PauseFrame, ok bool) {
	if [6]byte(frame) != pauseAddress || binary.BigEndian.Uint16(frame[macControlOff:]) != nicspec.MacControlType {
		return p, false
	}
	switch binary.BigEndian.Uint16(frame[pauseOpOff:]) {
	case nicspec.PauseOpcode:
		p.Quanta[0] = binary.BigEndian.Uint16(frame[pauseTimeOff:])
	case nicspec.PfcOpcode:
		p.Priority, p.Classes = true, uint8(binary.BigEndian.Uint16(frame[pauseTimeOff:]))
		for i := range p.Quanta {
			p.Quanta[i] = binary.BigEndian.Uint16(frame[pfcTimesOff+2*i:])
		}
	default:
		return p, false
	}
	return p, true
}

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
	*dst = [nicspec.FrameMin]byte{}
	copy(dst[:], pauseAddress[:])
	copy(dst[6:], mac[:])
	binary.BigEndian.PutUint16(dst[macControlOff:], nicspec.MacControlType)
	if cfg.TxMode != nicspec.PauseModePriority {
		binary.BigEndian.PutUint16(dst[pauseOpOff:], nicspec.PauseOpcode)
		binary.BigEndian.PutUint16(dst[pauseTimeOff:], quanta)
		return
	}
	binary.BigEndian.PutUint16(dst[pauseOpOff:], nicspec.PfcOpcode)
	binary.BigEndian.PutUint16(dst[pauseTimeOff:], uint16(cfg.TxClasses))
	for i := range PauseClasses {
		if cfg.TxClasses>>i&1 != 0 {
			binary.BigEndian.PutUint16(dst[pfcTimesOff+2*i:], quanta)
		}
	}
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
