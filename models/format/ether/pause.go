package ether

import "encoding/binary"

// PauseClasses is the number of priority classes of a port.
const PauseClasses = 8

// Pause is the content of a pause frame (IEEE 802.3 annex 31B, IEEE 802.1Qbb). A quantum is 512 bit
// times of the port.
type Pause struct {
	Priority bool                 // pause of priority classes (802.1Qbb), else of the whole port
	Classes  uint8                // classes that a priority pause names, one bit each
	Quanta   [PauseClasses]uint16 // pause time by class; a pause of the whole port uses the first
}

// PauseQuantumBits is the unit of pause times, in bit times of the port.
const PauseQuantumBits = 512

// MAC control codes, and offsets of fields in a pause frame.
const (
	macControlType = 0x8808
	pauseOpcode    = 0x0001
	pfcOpcode      = 0x0101

	sourceOff     = 6
	macControlOff = 12
	pauseOpOff    = 14
	pauseTimeOff  = 16
	pfcTimesOff   = 18
)

var pauseAddress = [6]byte{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01}

// ParsePause decodes a frame and reports whether it is a pause frame.
func ParsePause(frame []byte) (p Pause, ok bool) {
	if len(frame) < MinLen || [6]byte(frame) != pauseAddress ||
		binary.BigEndian.Uint16(frame[macControlOff:]) != macControlType {
		return p, false
	}
	switch binary.BigEndian.Uint16(frame[pauseOpOff:]) {
	case pauseOpcode:
		p.Quanta[0] = binary.BigEndian.Uint16(frame[pauseTimeOff:])
	case pfcOpcode:
		p.Priority, p.Classes = true, uint8(binary.BigEndian.Uint16(frame[pauseTimeOff:]))
		for i := range p.Quanta {
			p.Quanta[i] = binary.BigEndian.Uint16(frame[pfcTimesOff+2*i:])
		}
	default:
		return p, false
	}
	return p, true
}

// Put writes the pause frame, MinLen bytes, with the sender's MAC address.
func (p *Pause) Put(frame []byte, source [6]byte) {
	_ = frame[MinLen-1]
	clear(frame[:MinLen])
	copy(frame, pauseAddress[:])
	copy(frame[sourceOff:], source[:])
	binary.BigEndian.PutUint16(frame[macControlOff:], macControlType)
	if !p.Priority {
		binary.BigEndian.PutUint16(frame[pauseOpOff:], pauseOpcode)
		binary.BigEndian.PutUint16(frame[pauseTimeOff:], p.Quanta[0])
		return
	}
	binary.BigEndian.PutUint16(frame[pauseOpOff:], pfcOpcode)
	binary.BigEndian.PutUint16(frame[pauseTimeOff:], uint16(p.Classes))
	for i, q := range p.Quanta {
		if p.Classes>>i&1 != 0 {
			binary.BigEndian.PutUint16(frame[pfcTimesOff+2*i:], q)
		}
	}
}
