package core

import (
	"encoding/binary"
	"math/bits"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

// Take carries out a received request TLP and fills in its outcome [P8, G1, G2]. For a completion
// it sets o.Kind and does nothing else.
func (r *Regs) Take(hdr *[tlp.HeaderBytes]byte, data []byte, o *Outcome) {
	var h tlp.Header
	o.NumEffects, o.Answered, o.Pushed = 0, false, nil
	o.Kind = DecodeInbound(hdr, &h)
	switch o.Kind {
	case InWrite:
		r.takeWrite(&h, data, o)
	case InRead:
		o.Answered = true
		if !wholeRegisters(&h) {
			r.Step(nicspec.CntRegBad)
			o.Answer.refuse(&h)
			return
		}
		off := uint32(h.Address - nicspec.BarBase)
		words := [2]uint32{r.Read32(off)}
		if h.Length == 2 {
			words[1] = r.Read32(off + tlp.DWBytes)
		}
		o.Answer.supply(&h, words)
	case InRefused:
		r.Step(nicspec.CntTlpUnsupported)
		o.Answered = true
		o.Answer.refuse(&h)
	case InDropped:
		r.Step(nicspec.CntTlpUnsupported)
	}
}

// wholeRegisters reports whether a request has the shape of a register access [G1].
func wholeRegisters(h *tlp.Header) bool {
	switch h.Length {
	case 1:
		return h.FirstBE == 0xf && h.LastBE == 0
	case 2:
		return h.FirstBE == 0xf && h.LastBE == 0xf && h.Address&7 == 0
	}
	return false
}

func (r *Regs) takeWrite(h *tlp.Header, data []byte, o *Outcome) {
	if r.Resetting() {
		o.refuseWrite(h)
		r.Step(nicspec.CntRegBad)
		return
	}
	if q, ok := r.pushQueue(h, data); ok {
		r.push(q, data, o)
		return
	}
	if !wholeRegisters(h) || len(data) < int(h.Length)*tlp.DWBytes {
		o.refuseWrite(h)
		r.Step(nicspec.CntRegBad)
		return
	}
	off := uint32(h.Address - nicspec.BarBase)
	for i := range int(h.Length) {
		v := binary.LittleEndian.Uint32(data[i*tlp.DWBytes:])
		o.Effects[i] = r.Write32(off+uint32(i*tlp.DWBytes), v)
	}
	o.NumEffects = int(h.Length)
}

// refuseWrite records that a write had no effect and counted REG_BAD.
func (o *Outcome) refuseWrite(h *tlp.Header) {
	o.Effects[0] = Effect{Kind: EffectRegBad, Reg: uint32(h.Address - nicspec.BarBase)}
	o.NumEffects = 1
}

// pushQueue returns the transmit queue that a write pushes a block of a work entry to [W1].
func (r *Regs) pushQueue(h *tlp.Header, data []byte) (queue int, ok bool) {
	const words, bytes = nicspec.WqeBytes / tlp.DWBytes, nicspec.RegTxPushCount * nicspec.RegTxPushStride
	at := h.Address - nicspec.BarBase - nicspec.RegTxPushBase
	whole := h.Length == words && h.FirstBE == 0xf && h.LastBE == 0xf && len(data) >= nicspec.WqeBytes
	return int(at / nicspec.RegTxPushStride), whole && at < bytes && at%nicspec.RegTxPushStride == 0 &&
		r.build.Has(nicspec.PartPush)
}

// push carries out a push: it counts as a doorbell for one more block, whose bytes the write
// contains [W1].
func (r *Regs) push(queue int, data []byte, o *Outcome) {
	e := Effect{Index: queue, Reg: nicspec.RegTxPush(queue)}
	q := r.Txq(queue)
	if q != nil {
		e.PI = q.PI + 1
	}
	o.Effects[0], o.NumEffects = r.doorbell(q, e), 1
	o.Pushed = data[:nicspec.WqeBytes]
}

// Write32 writes one 32-bit register.
func (r *Regs) Write32(off, v uint32) Effect {
	e := Effect{Kind: EffectConfig, Reg: off}
	switch off {
	case nicspec.RegCtrl:
		if nicspec.CtrlReg(v).Flr() && r.build.Has(nicspec.PartFlr) {
			return r.startReset()
		}
		r.ctrl = nicspec.CtrlReg(v & r.bits.ctrl)
	case nicspec.RegDevctl:
		r.devctl = nicspec.DevctlReg(v & r.bits.devctl)
	case nicspec.RegCplTimeout:
		r.timeout = v
	case nicspec.RegRxCtrl:
		r.rxCtrl = nicspec.RxCtrlReg(v & r.bits.rxCtrl)
	case nicspec.RegRxDefault:
		r.rxDefault = nicspec.RxDefaultReg(v & r.bits.rxDefault)
	case nicspec.RegRocePort:
		r.rocePort = v & r.bits.rocePort
	case nicspec.RegScratch:
		r.scratch = v
		e.Kind = EffectNone
	case nicspec.RegTblCmd:
		return r.command(nicspec.TblCmdReg(v))
	default:
		return r.writeArray(off, v)
	}
	r.reconfigure()
	return e
}

func (r *Regs) writeArray(off, v uint32) Effect {
	if i, ok := element(off, nicspec.RegTblDataBase, nicspec.RegTblDataCount); ok {
		if r.draining {
			r.Step(nicspec.CntRegBad)
			return Effect{Kind: EffectRegBad, Reg: off}
		}
		r.data[i] = v
	} else if i, ok := element(off, nicspec.RegRxDoorbellBase, nicspec.RegRxDoorbellCount); ok {
		return r.doorbell(r.Rxq(i), Effect{Rx: true, Index: i, PI: uint16(v), Reg: off})
	} else if i, ok := element(off, nicspec.RegTxDoorbellBase, nicspec.RegTxDoorbellCount); ok {
		return r.doorbell(r.Txq(i), Effect{Index: i, PI: uint16(v), Reg: off})
	}
	return r.writePart(off, v)
}

// doorbell applies a doorbell [Q2].
func (r *Regs) doorbell(q *Queue, e Effect) Effect {
	if q != nil && q.Ring(e.PI) {
		e.Kind = EffectDoorbell
		return e
	}
	r.Step(nicspec.CntDbBad)
	e.Kind = EffectDoorbellBad
	return e
}

// Read32 reads one 32-bit register, or half of a 64-bit one.
func (r *Regs) Read32(off uint32) uint32 {
	switch off {
	case nicspec.RegId:
		return nicspec.DeviceMagic
	case nicspec.RegVersion:
		return nicspec.ContractVersion
	case nicspec.RegCap0:
		return r.cap0()
	case nicspec.RegCap1:
		return uint32(r.build.Parts)
	case nicspec.RegCtrl:
		return uint32(r.ctrl)
	case nicspec.RegStatus:
		return uint32(r.Status)
	case nicspec.RegDevctl:
		return uint32(r.devctl)
	case nicspec.RegCplTimeout:
		return r.timeout
	case nicspec.RegRxCtrl:
		return uint32(r.rxCtrl)
	case nicspec.RegRxDefault:
		return uint32(r.rxDefault)
	case nicspec.RegRocePort:
		return r.rocePort
	case nicspec.RegScratch:
		return r.scratch
	case nicspec.RegTblCmd:
		cmd := r.cmd
		cmd.SetBusy(r.draining)
		return uint32(cmd)
	}
	return r.readArray(off)
}

func (r *Regs) readArray(off uint32) uint32 {
	if i, ok := element(off, nicspec.RegTblDataBase, nicspec.RegTblDataCount); ok {
		return r.data[i]
	}
	const half = 2 // 32-bit words of a 64-bit register
	if i, ok := element(off, nicspec.RegCounterBase, half*nicspec.RegCounterCount); ok {
		return word(r.c[i/half], i%half)
	}
	if i, ok := element(off, nicspec.RegRuleHitsBase, half*nicspec.RegRuleHitsCount); ok {
		return word(r.hits[i/half], i%half)
	}
	return r.readPart(off)
}

func word(v uint64, i int) uint32 { return uint32(v >> (32 * i)) }

func (r *Regs) cap0() uint32 {
	var c nicspec.Cap0Reg
	c.SetPorts(uint32(r.build.Ports))
	c.SetLogRxq(log2(r.build.NumRxq))
	c.SetLogTxq(log2(r.build.NumTxq))
	c.SetLogKeys(log2(r.build.NumKeys))
	c.SetRules(uint32(r.build.NumRules))
	return uint32(c)
}

func log2(n int) uint32 { return uint32(bits.Len(uint(n)) - 1) }
