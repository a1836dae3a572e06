package blocks

import (
	"nictwin/models/nic"
	"nictwin/models/nicspec"
)

// pauseState is what a port knows of pauses.
type pauseState struct {
	*nic.Regs
	spec    nic.Spec
	classes [pauseQueues]uint8 // of queues
}

func pauseReference() func(Packet) []Packet {
	s := pauseState{Regs: newRegs(), spec: nic.DefaultSpec()}
	return func(req Packet) []Packet {
		b := req.Data
		switch b[0] {
		case pauseTable:
			return []Packet{tableAnswer(s.Regs, req)}
		case pauseClass:
			s.classes[b[1]] = b[2]
			return nil
		case pauseMac:
			res := make([]byte, 16)
			res[0] = b[0]
			for i := range 2 {
				if b[1]>>i&1 != 0 {
					s.Write32(nicspec.RegPortMac(i), le.Uint32(b[8+4*i:]))
				}
				le.PutUint32(res[8+4*i:], s.Read32(nicspec.RegPortMac(i)))
			}
			return []Packet{{Data: res}}
		case pauseFrames:
			return []Packet{s.frames(b)}
		}
		return []Packet{s.levels(b)}
	}
}

// frames is [F1] to [F4].
func (s *pauseState) frames(b []byte) Packet {
	res := []byte{pauseFrames, 0, 0, 0, 0}
	rules := s.Config().Pause[0]
	apart, probe := int64(le.Uint32(b[8:])), int64(le.Uint32(b[12:]))
	var port int64 // when its stop ends
	var class [nic.PauseClasses]int64
	for i := range 2 {
		p, ok := nic.ParsePause(b[pauseFrameAt+i*pauseLine:][:pauseLine])
		came := int64(i) * apart
		switch {
		case !ok, p.Priority && rules.Classes == 0, !p.Priority && !rules.Port:
			continue
		}
		res[1+i] = 1
		if b[2]>>i&1 != 0 {
			continue
		}
		if !p.Priority {
			port = came + s.spec.PauseCycles(p.Quanta[0])
		}
		for c := range class {
			if p.Priority && p.Classes&rules.Classes>>c&1 != 0 {
				class[c] = came + s.spec.PauseCycles(p.Quanta[c])
			}
		}
	}
	for q, c := range s.classes {
		held := class[c] > apart+probe
		res[3] |= flag(!held && port <= apart+probe) << q
		res[4] |= flag(held) << q
	}
	return Packet{Data: res}
}

// levels is [F6].
func (s *pauseState) levels(b []byte) Packet {
	cfg := s.PortCfg(0)
	res := make([]byte, 8+pauseSteps*pauseLine)
	res[0] = pauseLevels
	paused := false
	for i := range pauseSteps {
		if cfg.TxMode == nicspec.PauseModeNone {
			break
		}
		held := pauseLine * uint32(le.Uint16(b[8+2*i:]))
		frames, quanta := uint8(0), cfg.PauseTime
		switch {
		case !paused && held > cfg.Xoff:
			half := s.spec.PauseCycles(cfg.PauseTime) / 2
			frames, paused = 1+uint8(int64(le.Uint32(b[8+2*pauseSteps+4*i:]))/half), true
		case paused && held <= cfg.Xon:
			frames, quanta, paused = 1, 0, false
		}
		if res[1+i] = frames; frames != 0 {
			nic.BuildPause(cfg, s.PortMAC(0), quanta, (*[nicspec.FrameMin]byte)(res[8+i*pauseLine:]))
		}
	}
	return Packet{Data: res}
}
