package registers

import (
	"encoding/binary"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

// doorbellLog collects the doorbells of one kind since the last observation.
type doorbellLog struct {
	count, queue uint8
	pi           uint16
}

func (r *doorbellLog) append(b []byte) []byte {
	return kit.LittleEndian.AppendUint16(append(b, r.count, r.queue), r.pi)
}

// regsState models the registers and their effects since the last observation.
type regsState struct {
	*core.Regs
	rx, tx doorbellLog
	pushes uint8
	wqe    [nicspec.WqeBytes]byte
	work   bool // work is in progress for which a reset waits
}

func newRegsState() *regsState {
	s := &regsState{Regs: kit.NewRegs()}
	for i := range nicspec.DefaultBuild().NumRules { // the wrapper initializes the rules' hits with these numbers
		for range i + 1 {
			s.Hit(i)
		}
	}
	return s
}

func regsReference() func(kit.Packet) []kit.Packet {
	s := newRegsState()
	return func(req kit.Packet) []kit.Packet {
		if req.Data[0] == regsLook {
			return []kit.Packet{s.look(nicspec.StatusReg(req.Data[1]))}
		}
		return s.request(req.Data)
	}
}

func (s *regsState) request(b []byte) []kit.Packet {
	var o core.Outcome
	s.Take((*[tlp.HeaderBytes]byte)(b[regsHdrAt:]), b[regsDataAt:], &o)
	s.endReset()
	for _, e := range o.Effects[:o.NumEffects] {
		switch r := &s.tx; {
		case e.Kind != core.EffectDoorbell && e.Kind != core.EffectDoorbellBad:
		case o.Pushed != nil:
			s.pushes, s.tx.queue = s.pushes+1, uint8(e.Index)
			copy(s.wqe[:], o.Pushed)
		default:
			if e.Rx {
				r = &s.rx
			}
			*r = doorbellLog{r.count + 1, uint8(e.Index), e.PI}
		}
	}
	if !o.Answered {
		return nil
	}
	const countBits = 0xfff
	h, res := &o.Answer.Header, make([]byte, 19)
	res[3], res[4], res[7], res[10] = h.TC, uint8(h.Attr), h.Tag, h.LowerAddr
	binary.BigEndian.PutUint16(res[5:], h.RequesterID)
	kit.LittleEndian.PutUint16(res[8:], h.ByteCount&countBits)
	if h.Kind == tlp.CplD {
		res[1], res[2] = 1, kit.Flag(h.Length == 2)
		copy(res[11:], o.Answer.Data[:h.Length*tlp.DWBytes])
	}
	return []kit.Packet{{Data: res}}
}

// endReset ends a reset unless it has to wait for work.
func (s *regsState) endReset() {
	if s.Resetting() && !s.work {
		s.EndReset()
	}
}

func (s *regsState) look(status nicspec.StatusReg) kit.Packet {
	c, l := s.Config(), s.Limits()
	b := []byte{regsLook, kit.Flag(c.RxEnable), kit.Flag(s.TxEnable()), 0}
	if a := s.DataAttr(); a != 0 {
		b[3] = kit.Flag(a&tlp.RelaxedOrder != 0)<<1 | kit.Flag(a&tlp.NoSnoop != 0)
	}
	b = kit.LittleEndian.AppendUint16(b, uint16(l.MPS))
	b = kit.LittleEndian.AppendUint16(b, uint16(l.MRRS))
	b = append(b, kit.Flag(l.RCB == 128))
	b = kit.LittleEndian.AppendUint32(b, uint32(s.CplTimeout()))
	b = append(b, kit.Flag(c.DropIPCsum), kit.Flag(c.DropL4Csum), kit.Flag(c.DropICRC), kit.Flag(c.DropCRC32C))
	b = kit.LittleEndian.AppendUint16(b, c.DefaultQueue)
	b = append(b, kit.Flag(c.DefaultAction == nicspec.ActionQueue), kit.Flag(c.DefaultAction == nicspec.ActionRss),
		min(c.DefaultLog, nicspec.RssLogMax))
	b = kit.LittleEndian.AppendUint16(b, c.RocePort)
	for i := range nicspec.RegRssKeyCount {
		b = kit.LittleEndian.AppendUint32(b, c.RssKey.Word(i))
	}
	b = s.tx.append(s.rx.append(b))
	b = append(append(b, s.pushes), s.wqe[:]...)
	s.Status = status
	s.rx, s.tx, s.pushes, s.wqe = doorbellLog{}, doorbellLog{}, 0, [nicspec.WqeBytes]byte{}
	return kit.Packet{Data: b}
}
