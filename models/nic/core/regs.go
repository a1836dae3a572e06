package core

import (
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

// EffectKind is the kind of effect of a register write, beyond storing the value.
type EffectKind uint8

// The effects, with the fields of Effect that they set.
const (
	EffectNone           EffectKind = iota
	EffectConfig                    // a register was written whose value the NIC's behaviour depends on; sets Reg
	EffectDoorbell                  // a doorbell was accepted; sets Rx, Index, PI
	EffectDoorbellBad               // a doorbell was ignored, and counted in DB_BAD; sets Rx, Index, PI
	EffectQueueEnabled              // sets Rx, Index
	EffectQueueDisabled             // the queue was Off before; sets Rx, Index
	EffectQueueDraining             // the queue is Off; Drained must follow once its work is done; sets Rx, Index
	EffectKeyWritten                // sets Index
	EffectRuleWritten               // sets Index; Config has the new rule set
	EffectIndirection               // sets Index; Config has the new table
	EffectAccountWritten            // sets Index
	EffectCredit                    // ACCOUNT_CREDIT was written; sets Index, Value
	EffectPortWritten               // an entry of table PortCfg was written; sets Index
	EffectReset                     // a function-level reset starts; the caller calls EndReset when all work is over
	EffectTableRead                 // sets Table, Index
	EffectTableRefused              // sets Table, Index, Status
	EffectRegBad                    // ignored, counted REG_BAD
)

// Effect is the effect of one register write.
type Effect struct {
	Kind   EffectKind
	Rx     bool // direction of the queue: receive, else transmit
	Index  int
	PI     uint16
	Table  nicspec.Table
	Status nicspec.TableStatus
	Reg    uint32 // offset of the register written
	Value  uint32 // value written
}

// Outcome is the outcome of a request TLP.
type Outcome struct {
	Kind       Inbound
	Effects    [2]Effect
	NumEffects int
	Pushed     []byte // block of a work entry that came with a doorbell, aliasing the request's data; else nil
	Answered   bool   // Answer must be sent
	Answer     Answer
}

// Regs is everything behind BAR0 as one state machine: registers, tables, queues, counters. Every
// request takes effect at once.
type Regs struct {
	Counters
	Status nicspec.StatusReg // value of STATUS, maintained by the caller

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
	draining bool   // a table command is disabling a queue
	drained  *Queue // the queue being disabled
	entry    Queue  // context to store when the queue has drained

	bits  registerBits
	cfg   Config
	rxq   []Queue
	txq   []Queue
	keys  KeyTable
	rules []nicspec.RuleEntryFields

	rxParts
}

// minCplTimeout is the shortest completion timeout, in cycles.
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

// Config returns a copy of the receive configuration.
func (r *Regs) Config() Config { return r.cfg }

// Receive returns the receive configuration in force. Later writes change it in place.
func (r *Regs) Receive() *Config { return &r.cfg }

// TxEnable returns CTRL.tx_enable.
func (r *Regs) TxEnable() bool { return r.ctrl.TxEnable() }

// Limits returns MPS, MRRS and RCB in bytes, as set by DEVCTL.
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

// DataAttr returns the attributes of requests that carry frame or copy data [P11].
func (r *Regs) DataAttr() (a tlp.Attr) {
	if r.devctl.RelaxedOrdering() {
		a |= tlp.RelaxedOrder
	}
	if r.devctl.NoSnoop() {
		a |= tlp.NoSnoop
	}
	return a
}

// CplTimeout returns the completion timeout in cycles.
func (r *Regs) CplTimeout() int64 { return int64(max(r.timeout, minCplTimeout)) }

// Rxq returns the context of a receive queue, nil beyond the build.
func (r *Regs) Rxq(i int) *Queue { return queueAt(r.rxq, i) }

// Txq returns the context of a transmit queue, nil beyond the build.
func (r *Regs) Txq(i int) *Queue { return queueAt(r.txq, i) }

func queueAt(q []Queue, i int) *Queue {
	if uint(i) >= uint(len(q)) {
		return nil
	}
	return &q[i]
}

// Keys returns the live table of memory keys.
func (r *Regs) Keys() KeyTable { return r.keys }

// Busy reports whether a table command waits for a queue to drain [G7].
func (r *Regs) Busy() bool { return r.draining }

// Drained ends the disabling of a queue [Q5, T11] by storing the entry that was written. It does
// nothing if no disabling is under way.
func (r *Regs) Drained() {
	if r.draining {
		r.drained.store(&r.entry)
		r.draining, r.drained = false, nil
	}
}

// The registers of the receive configuration that one write changes as a whole [R6]. Tables, the
// RSS key and PortCfg belong to the configuration too, but are written entry by entry or word by
// word.
const (
	SettingGate    = iota // CTRL
	SettingChecks         // RX_CTRL
	SettingDefault        // RX_DEFAULT
	SettingRoce           // ROCE_PORT
	NumSettings
)

// settings holds two functions for each of the registers SettingGate to SettingRoce: word returns the bits of
// its value that the receive side uses, set stores them in a Config.
var settings = [NumSettings]struct {
	word func(r *Regs) uint32
	set  func(c *Config, word uint32)
}{
	SettingGate: {
		func(r *Regs) (word uint32) {
			(*nicspec.CtrlReg)(&word).SetRxEnable(r.ctrl.RxEnable())
			return word
		},
		func(c *Config, word uint32) { c.RxEnable = nicspec.CtrlReg(word).RxEnable() },
	},
	SettingChecks: {
		func(r *Regs) uint32 { return uint32(r.rxCtrl) },
		func(c *Config, word uint32) {
			v := nicspec.RxCtrlReg(word)
			c.DropIPCsum, c.DropL4Csum = v.DropBadIpCsum(), v.DropBadL4Csum()
			c.DropICRC, c.DropCRC32C = v.DropBadIcrc(), v.DropBadCrc32c()
		},
	},
	SettingDefault: {
		func(r *Regs) uint32 { return uint32(r.rxDefault) },
		func(c *Config, word uint32) {
			v := nicspec.RxDefaultReg(word)
			c.DefaultAction, c.DefaultQueue, c.DefaultLog = nicspec.Action(v.Action()), uint16(v.Queue()),
				uint8(v.RssLog())
		},
	},
	SettingRoce: {
		func(r *Regs) uint32 { return r.rocePort },
		func(c *Config, word uint32) { c.RocePort = uint16(word) },
	},
}

// Setting returns the bits of a register, SettingGate to SettingRoce, that the receive side uses.
func (r *Regs) Setting(i int) uint32 { return settings[i].word(r) }

// Set applies a value returned by Setting to a configuration.
func (c *Config) Set(i int, word uint32) { settings[i].set(c, word) }

func (r *Regs) reconfigure() {
	for i := range settings {
		r.cfg.Set(i, r.Setting(i))
	}
}

// registerBits holds the writable bits of registers: the fields of parts that the build has [G3].
type registerBits struct{ ctrl, devctl, rxCtrl, rxDefault, rocePort uint32 }

func registerBitsOf(b *nicspec.Build) registerBits {
	const ctrl = 0x3 // CTRL.flr is not stored
	return registerBits{
		ctrl: ctrl, devctl: fieldsOf(b, nicspec.RegDevctl), rxCtrl: fieldsOf(b, nicspec.RegRxCtrl),
		rxDefault: fieldsOf(b, nicspec.RegRxDefault), rocePort: 0xffff,
	}
}

// fieldsOf returns the mask of a register's fields, except fields of parts that the build lacks.
func fieldsOf(b *nicspec.Build, off uint32) (bits uint32) {
	reg, _, _ := nicspec.RegisterAt(off)
	for i := range reg.Fields {
		if f := &reg.Fields[i]; b.Has(f.Part) {
			bits |= (1<<f.Width - 1) << f.Bit
		}
	}
	return bits
}

// startReset begins a function-level reset [L1]: until EndReset register writes have no effect.
func (r *Regs) startReset() Effect {
	r.ctrl = 0
	r.ctrl.SetFlr(true)
	r.reconfigure()
	return Effect{Kind: EffectReset, Reg: nicspec.RegCtrl}
}

// Resetting reports whether a function-level reset is under way.
func (r *Regs) Resetting() bool { return r.ctrl.Flr() }

// EndReset ends a function-level reset [L3]: the state is that of new Regs, except for counters and
// hits. Keys and queues obtained before no longer belong to the device.
func (r *Regs) EndReset() {
	fresh := NewRegs(r.build)
	fresh.Counters, fresh.Status = r.Counters, r.Status
	*r = *fresh
}
