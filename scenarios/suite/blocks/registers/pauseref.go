package registers

import (
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

// pauseState is the state of a port's flow control.
type pauseState struct {
	*core.Regs
	build   nicspec.Build
	classes [pauseQueues]uint8 // priority class of each queue
}

func PauseReference() func(kit.Packet) []kit.Packet {
	s := pauseState{Regs: kit.NewRegs(), build: nicspec.DefaultBuild()}
	return func(req kit.Packet) []kit.Packet {
		b := req.Data
		switch b[0] {
		case PauseTable:
			return []kit.Packet{kit.TableAnswer(s.Regs, req)}
		case pauseClass:
			s.classes[b[1]] = b[2]
			return nil
		case pauseMac:
			res := make([]byte, 16)
			res[0] = b[0]
			for i := range 2 {
				if b[1]>>i&1 != 0 {
					s.Write32(nicspec.RegPortMac(i), kit.LittleEndian.Uint32(b[8+4*i:]))
				}
				kit.LittleEndian.PutUint32(res[8+4*i:], s.Read32(nicspec.RegPortMac(i)))
			}
			return []kit.Packet{{Data: res}}
		case PauseFrames:
			return []kit.Packet{s.frames(b)}
		}
		return []kit.Packet{s.levels(b)}
	}
}

// frames applies pause frames by the rules [F1] to [F4].
func (s *pauseState) frames(b []byte) kit.Packet {
	res := []byte{PauseFrames, 0, 0, 0, 0}
	rules := s.Config().Pause[0]
	apart, probe := int64(kit.LittleEndian.Uint32(b[8:])), int64(kit.LittleEndian.Uint32(b[12:]))
	var stops core.PauseStops
	for i := range 2 {
		p, ok := core.ParsePause(b[pauseFrameAt+i*pauseLine:][:pauseLine])
		switch {
		case !ok, p.Priority && rules.Classes == 0, !p.Priority && !rules.Port:
			continue
		}
		res[1+i] = 1
		if b[2]>>i&1 == 0 {
			stops.Take(&p, rules, int64(i)*apart, s.build.EthBits)
		}
	}
	stopped, _ := stops.Classes(apart + probe)
	for q, c := range s.classes {
		res[3] |= kit.Flag(stops.Frame(c) <= apart+probe) << q
		res[4] |= stopped >> c & 1 << q
	}
	return kit.Packet{Data: res}
}

// levels applies [F6]: the buffer stays at each level for some cycles.
func (s *pauseState) levels(b []byte) kit.Packet {
	cfg := s.PortCfg(0)
	res := make([]byte, 8+pauseSteps*pauseLine)
	res[0] = PauseLevels
	var sender core.PauseSender
	begin := int64(0)
	for i := range pauseSteps {
		held := pauseLine * int(kit.LittleEndian.Uint16(b[8+2*i:]))
		end := begin + int64(kit.LittleEndian.Uint32(b[8+2*pauseSteps+4*i:]))
		for now := begin; now <= end; {
			again := sender.Watch(cfg, held, now, s.build.EthBits)
			if sender.Due() {
				res[1+i]++
				core.BuildPause(cfg, s.PortMAC(0), sender.Begin(cfg, now),
					(*[nicspec.FrameMin]byte)(res[8+i*pauseLine:]))
				continue // the renewal timer starts some time after this frame
			}
			now = again
		}
		begin = end
	}
	return kit.Packet{Data: res}
}
