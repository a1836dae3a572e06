package player

import (
	"encoding/binary"
	"fmt"

	"nictwin/models/board"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/coverage"
)

// pauseMAC is the address of pause frames [F1].
var pauseMAC = [6]byte{1, 0x80, 0xc2, 0, 0, 1}

// sendingCycles is the time after its last frame, in cycles, for which a port counts as sending.
const sendingCycles = 64

// pausePort tracks the pauses of a port.
type pausePort struct {
	cfg     nicspec.PortEntryFields
	left    int64 // cycle of the last beat of the latest frame that left; 0: none has left
	stopped bool  // the NIC has sent a pause frame that stops the other end of the cable
}

type pauseWatch [board.MaxPorts]pausePort

// pauses counts pause frames that came in or left [F1] [F6].
func (w *watcher) pauses(c *boundary.Crossing) {
	b := c.Frame.Data
	p := &w.ports[c.Port]
	opcode := uint16(0)
	if len(b) >= nicspec.FrameMin && binary.BigEndian.Uint16(b[12:]) == nicspec.MacControlType {
		opcode = binary.BigEndian.Uint16(b[14:])
	}
	switch {
	case c.Kind == boundary.FrameIn && opcode != 0 && [6]byte(b[:6]) == pauseMAC:
		w.paused(p, c, opcode)
	case c.Kind == boundary.FrameOut && c.Frame.Queue == nicspec.PauseQueue:
		w.pausedOther(p, c, opcode)
	case c.Kind == boundary.FrameOut:
		p.left = c.Last
	}
}

// paused counts an incoming pause, class by class.
func (w *watcher) paused(p *pausePort, c *boundary.Crossing, opcode uint16) {
	load, port, b := "idle", fmt.Sprintf("port %d", c.Port), c.Frame.Data
	if p.left > 0 && c.Last-p.left < sendingCycles {
		load = "sending"
	}
	switch {
	case opcode == nicspec.PauseOpcode && p.cfg.RxPause == 1:
		w.cov.Hit("pauses taken", "port", coverage.StopWord(binary.BigEndian.Uint16(b[16:])), port, load)
	case opcode == nicspec.PfcOpcode && p.cfg.RxPfc != 0:
		for i := range 8 {
			if b[17]&p.cfg.RxPfc>>i&1 != 0 {
				w.cov.Hit("pauses taken", coverage.ScopeWords[1+i],
					coverage.StopWord(binary.BigEndian.Uint16(b[18+2*i:])), port, load)
			}
		}
	case opcode == nicspec.PauseOpcode || opcode == nicspec.PfcOpcode:
		w.cov.Hit("pauses not honoured", coverage.ModeWords[opcode>>8&1], port)
	}
}

// pausedOther counts a pause frame that the NIC sent.
func (w *watcher) pausedOther(p *pausePort, c *boundary.Crossing, opcode uint16) {
	time := binary.BigEndian.Uint16(c.Frame.Data[16:])
	if opcode == nicspec.PfcOpcode {
		time = 0
		for i := range 8 {
			time |= binary.BigEndian.Uint16(c.Frame.Data[18+2*i:])
		}
	}
	what := coverage.StopWord(time)
	if time != 0 && p.stopped {
		what = coverage.SentWords[1]
		w.cov.Hit("rare", "pause renewed")
	}
	p.stopped = time != 0
	w.cov.Hit("pauses sent", coverage.ModeWords[opcode>>8&1], what, fmt.Sprintf("port %d", c.Port))
}

// portCfg counts and keeps a port's committed settings.
func (w *watcher) portCfg(port int, words []uint32) {
	b := make([]byte, nicspec.PortEntrySize)
	for i, v := range words[:min(len(words), len(b)/4)] {
		binary.LittleEndian.PutUint32(b[4*i:], v)
	}
	w.ports[port].cfg = nicspec.DecodePortEntry(b)
}
