package core

import (
	"encoding/binary"
	"math/bits"

	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// EffectKind says what a register write did beyond being stored.
type EffectKind uint8

// The effects.
const (
	EffectNone           EffectKind = iota
	EffectConfig                    // a register that behaviour depends on was written: Reg
	EffectDoorbell                  // accepted: Rx, Index, PI
	EffectDoorbellBad               // ignored, counted DB_BAD: Rx, Index, PI
	EffectQueueEnabled              // Rx, Index
	EffectQueueDisabled             // was Off already: Rx, Index
	EffectQueueDraining             // Off from now on; the caller calls Drained when it is quiet: Rx, Index
	EffectKeyWritten                // Index
	EffectRuleWritten               // Index; Config has the new rule set
	EffectIndirection               // Index; Config has the new table
	EffectAccountWritten            // Index
	EffectCredit                    // of an account: Index, Value
	EffectPortWritten               // of table PortCfg: Index
	EffectReset                     // a function-level reset starts; the caller calls EndReset when all work is over
	EffectTableRead                 // Table, Index
	EffectTableRefused              // Table, Index, Status
	EffectRegBad                    // ignored, counted REG_BAD
)

// Effect is what one register write did.
type Effect struct {
	Kind   EffectKind
	Rx     bool // of a queue: receive, else transmit
	Index  int
	PI     uint16
	Table  nicspec.Table
	Status nicspec.TableStatus
	Reg    uint32 // offset of the register written
	Value  uint32 // that was written
}

// Outcome is what a request TLP did.
type Outcome struct {
	Kind       Inbound
	Effects    [2]Effect
	NumEffects int
	Pushed     []byte // with a doorbell: the block of a work entry that came with it, in the request's data; else nil
	Answered   bool   // Answer is to be sent
	Answer     Answer
}

// Regs is all that is behind BAR0, as a state machine: registers, tables,
// queues, counters. Every request takes effect at once.
type Regs struct {
	Counters
	Status nicspec.StatusReg // what STATUS reads; the caller keeps it

	build     nicspec.Build
	ctrl      nicspec.CtrlReg
	devctl    nicspec.DevctlReg
	timeout   uint32
	rxCtrl    nicspec.RxCtrlReg
	rxDefault nicspec.RxDefaultReg
	rocePort  uint32
	scratch   uint32

	cmd      nicspec.TblCmdReg
	data     [nicspec.TableWords]uint32
	draining bool   // the command is the disabling of a queue:
	drained  *Queue // this one,
	entry    Queue  // which becomes this

	bits  registerBits
	cfg   Config
	rxq   []Queue
	txq   []Queue
	keys  KeyTable
	rules []nicspec.RuleEntryFields

	rxParts
}

// minCplTimeout is the least completion timeout, in cycles.
const minCplTimeout = 1024

// NewRegs returns the state after reset. The build must be valid.
func NewRegs(b nicspec.Build) *Regs {
	r := &Regs{
		build: b,
		rxq:   make([]Queue, b.NumRxq), txq: make([]Queue, b.NumTxq),
		keys: make(KeyTable, b.NumKeys), rules: make([]nicspec.RuleEntryFields, b.NumRules),
		ctrl: nicspec.ResetCtrl, devctl: nicspec.ResetDevctl, timeout: nicspec.ResetCplTimeout,
		rxCtrl: nicspec.ResetRxCtrl, rxDefault: nicspec.ResetRxDefault, rocePort: nicspec.ResetRocePort,
		scratch: nicspec.ResetScratch, cmd: nicspec.ResetTblCmd, bits: registerBitsOf(&b),
	}
	r.cfg.Rss, r.cfg.CRC32C = b.Has(nicspec.PartRss), b.Has(nicspec.PartCrc32c)
	r.rxParts.init(&b)
	r.reconfigure()
	return r
}

// Config is what receive needs to know now. The copy stays as it is.
func (r *Regs) Config() Config { return r.cfg }

// Receive is the configuration of receive in force. It follows every write.
func (r *Regs) Receive() *Config { return &r.cfg }

// TxEnable is CTRL.tx_enable.
func (r *Regs) TxEnable() bool { return r.ctrl.TxEnable() }

// Limits are MPS, MRRS and RCB in bytes, as DEVCTL sets them.
func (r *Regs) Limits() tlp.Limits {
	const base, mpsMax, mrrsMax = 128, 2, 5
	l := tlp.Limits{MPS: base, MRRS: base, RCB: 64}
	if v := r.devctl.Mps(); v <= mpsMax {
		l.MPS = base << v
	}
	if v := r.devctl.Mrrs(); v <= mrrsMax {
		l.MRRS = base << v
	}
	if r.devctl.Rcb() {
		l.RCB = 128
	}
	return l
}

// DataAttr is the attributes of requests that carry frame or copy data [P11].
func (r *Regs) DataAttr() (a tlp.Attr) {
	if r.devctl.RelaxedOrdering() {
		a |= tlp.RelaxedOrder
	}
	if r.devctl.NoSnoop() {
		a |= tlp.NoSnoop
	}
	return a
}

// CplTimeout is the completion timeout in cycles.
func (r *Regs) CplTimeout() int64 { return int64(max(r.timeout, minCplTimeout)) }

// Rxq is the context of a receive queue, nil beyond the build.
func (r *Regs) Rxq(i int) *Queue { return queueAt(r.rxq, i) }

// Txq is the context of a transmit queue, nil beyond the build.
func (r *Regs) Txq(i int) *Queue { return queueAt(r.txq, i) }

func queueAt(q []Queue, i int) *Queue {
	if uint(i) >= uint(len(q)) {
		return nil
	}
	return &q[i]
}

// Keys is the live table of memory keys.
func (r *Regs) Keys() KeyTable { return r.keys }

// Busy reports whether a table command waits for a queue to drain [G7].
func (r *Regs) Busy() bool { return r.draining }

// Drained ends the disabling of a queue [Q5, T11]: it stores the entry that
// was written. Without one under way it does nothing.
func (r *Regs) Drained() {
	if r.draining {
		r.drained.store(&r.entry)
		r.draining, r.drained = false, nil
	}
}

func (r *Regs) reconfigure() {
	r.cfg.RxEnable = r.ctrl.RxEnable()
	r.cfg.DropIPCsum = r.rxCtrl.DropBadIpCsum()
	r.cfg.DropL4Csum = r.rxCtrl.DropBadL4Csum()
	r.cfg.DropICRC = r.rxCtrl.DropBadIcrc()
	r.cfg.DropCRC32C = r.rxCtrl.DropBadCrc32c()
	r.cfg.RocePort = uint16(r.rocePort)
	r.cfg.DefaultAction = nicspec.Action(r.rxDefault.Action())
	r.cfg.DefaultQueue = uint16(r.rxDefault.Queue())
	r.cfg.DefaultLog = uint8(r.rxDefault.RssLog())
}

// Take does what a TLP that came in asks for [P8, G1, G2]. Completions are not
// its business: of them it tells only that they are.
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

// wholeRegisters is the shape of a register access [G1].
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

// refuseWrite notes that a write had no effect, and counted REG_BAD.
func (o *Outcome) refuseWrite(h *tlp.Header) {
	o.Effects[0] = Effect{Kind: EffectRegBad, Reg: uint32(h.Address - nicspec.BarBase)}
	o.NumEffects = 1
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

// element finds the element of an array of 32-bit registers.
func element(off uint32, base, count int) (i int, ok bool) {
	i = (int(off) - base) / tlp.DWBytes
	return i, int(off) >= base && i < count
}

// doorbell is [Q2].
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
