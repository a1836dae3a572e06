package core

import (
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
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

// The registers of the receive configuration [R6]: what one write changes at
// once. Tables, the key of RSS and PortCfg are part of it, too, but are not
// registers of their own.
const (
	SettingGate    = iota // CTRL
	SettingChecks         // RX_CTRL
	SettingDefault        // RX_DEFAULT
	SettingRoce           // ROCE_PORT
	NumSettings
)

// settings says of each of these which of its bits receive looks at, and what
// they mean.
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

// Setting is the bits that receive looks at of one of these registers.
func (r *Regs) Setting(i int) uint32 { return settings[i].word(r) }

// Set makes one of these registers what Setting returned.
func (c *Config) Set(i int, word uint32) { settings[i].set(c, word) }

func (r *Regs) reconfigure() {
	for i := range settings {
		r.cfg.Set(i, r.Setting(i))
	}
}

// registerBits are the bits of the registers that can be written: fields of
// parts that are there [G3].
type registerBits struct{ ctrl, devctl, rxCtrl, rxDefault, rocePort uint32 }

func registerBitsOf(b *nicspec.Build) registerBits {
	const ctrl = 0x3 // CTRL.flr is no bit that stays as written
	return registerBits{
		ctrl: ctrl, devctl: fieldsOf(b, nicspec.RegDevctl), rxCtrl: fieldsOf(b, nicspec.RegRxCtrl),
		rxDefault: fieldsOf(b, nicspec.RegRxDefault), rocePort: 0xffff,
	}
}

// fields is the bits of a register's fields, without those of parts that the
// build lacks.
func fieldsOf(b *nicspec.Build, off uint32) (bits uint32) {
	reg, _, _ := nicspec.RegisterAt(off)
	for i := range reg.Fields {
		if f := &reg.Fields[i]; b.Has(f.Part) {
			bits |= (1<<f.Width - 1) << f.Bit
		}
	}
	return bits
}

// startReset is the beginning of a function-level reset [L1]: until EndReset
// register writes have no effect.
func (r *Regs) startReset() Effect {
	r.ctrl = 0
	r.ctrl.SetFlr(true)
	r.reconfigure()
	return Effect{Kind: EffectReset, Reg: nicspec.RegCtrl}
}

// Resetting reports whether a function-level reset is under way.
func (r *Regs) Resetting() bool { return r.ctrl.Flr() }

// EndReset ends it [L3]: all is as in new Regs, but for counters and hits. Keys
// and queues taken from here before are not those of the device any more.
func (r *Regs) EndReset() {
	fresh := NewRegs(r.build)
	fresh.Counters, fresh.Status = r.Counters, r.Status
	*r = *fresh
}
