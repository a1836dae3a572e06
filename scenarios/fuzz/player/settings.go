package player

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"nictwin/models/fabric/root"
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/bed/testbed"
	"nictwin/scenarios/fuzz/program"
	"nictwin/stack/driver"
)

// readLater sends a read of a register as soon as a tag is free; done receives the value.
func (x *player) readLater(off uint32, n int, done func(uint64)) error {
	var failed, refused error
	ask := func() bool {
		refused = x.b.Arm.Read(off, n, func(v uint64, err error) {
			if err != nil && failed == nil {
				failed = err
			}
			done(v)
		})
		return !errors.Is(refused, root.ErrNoTag)
	}
	if !ask() {
		if err := x.until("a tag for a register read is free", ask); err != nil {
			return err
		}
	}
	return errors.Join(refused, failed)
}

// read reads a register and waits for the answer.
func (x *player) read(off uint32) (uint32, error) {
	var v uint64
	there := false
	if err := x.readLater(off, 4, func(a uint64) { v, there = a, true }); err != nil {
		return 0, err
	}
	return uint32(v), x.until("a register read is answered", func() bool { return there })
}

// command carries out a table command.
func (x *player) command(op nicspec.TableOp, t nicspec.Table, index int, entry []byte) (status nicspec.TableStatus,
	err error) {
	return x.commandLate(op, t, index, entry, 0)
}

// commandLate carries out a table command and writes two words of TBL_DATA `late` times while it may still be busy
// [G7].
func (x *player) commandLate(op nicspec.TableOp, t nicspec.Table, index int, entry []byte,
	late int) (status nicspec.TableStatus, err error) {
	for off, word := range driver.Staged(entry) {
		if err := x.b.Arm.Write32(off, word); err != nil {
			return 0, err
		}
	}
	if err := x.b.Arm.Write32(nicspec.RegTblCmd, uint32(nicspec.NewTblCmd(op, t, index))); err != nil {
		return 0, err
	}
	for i := range late {
		x.watcher.late()
		if err := x.b.Arm.Write(nicspec.RegTblData(2*i), make([]byte, 8)); err != nil {
			return 0, err
		}
	}
	err = x.poll(nicspec.RegTblCmd, fmt.Sprintf("table command %v %v %d is over [G7]", op, t, index),
		func(v uint32) bool {
			status = nicspec.TableStatus(nicspec.TblCmdReg(v).Status())
			return !nicspec.TblCmdReg(v).Busy()
		})
	if err == nil {
		x.watcher.command(op, t, index, status)
	}
	return status, err
}

func (x *player) table(t *program.Table) error {
	if x.enables(t) {
		return nil
	}
	off := x.disables(t)
	if off != nil {
		x.watcher.disabling(off)
	}
	var entry []byte
	for _, w := range t.Words {
		entry = binary.LittleEndian.AppendUint32(entry, w)
	}
	op := nicspec.TableOp(t.Op)
	status, err := x.command(op, t.Table, t.Index, entry)
	if err != nil || status != nicspec.TableStatusOk {
		return err
	}
	switch {
	case off != nil:
		x.forget(program.Queue{Tx: off.Tx, Queue: off.Number})
	case op == nicspec.TableOpWrite && t.Table == nicspec.TablePortCfg:
		x.watcher.portCfg(t.Index, t.Words)
	}
	return nil
}

func (x *player) rule(r *program.Rule) error {
	f := nicspec.RuleEntryFields{Valid: 1, Action: r.Action, Queue: r.Queue}
	if r.Off {
		f.Valid = 0
	}
	if x.sizes.Has(nicspec.PartRss) {
		f.RssLog = r.RssLog
	}
	if r.Account != nil && x.sizes.Has(nicspec.PartAccounts) {
		f.AccountEn, f.Account, f.SlowQueue = 1, r.Account.Account, r.Account.Slow
	}
	for i := range r.Match {
		m := &r.Match[i]
		field := program.SteerField(m.Field)
		for k := range field.Width {
			bit := field.Bit + k // bit k of the match's number: the key is little-endian
			set(f.Value[:], bit, m.Value>>k&1)
			set(f.Mask[:], bit, ^m.Skip>>k&1)
		}
	}
	entry := make([]byte, nicspec.RuleEntrySize)
	f.Encode(entry)
	status, err := x.command(nicspec.TableOpWrite, nicspec.TableRule, r.Index, entry)
	if status == nicspec.TableStatusOk && err == nil {
		x.watcher.ruled(r.Index, &f)
	}
	return err
}

func set(b []byte, bit int, v uint64) {
	b[bit/8] = b[bit/8]&^(1<<(bit%8)) | byte(v)<<(bit%8)
}

// enables reports whether a table command may enable a queue that the player would not serve.
func (x *player) enables(t *program.Table) bool {
	if t.Op != uint8(nicspec.TableOpWrite) || len(t.Words) == 0 || t.Words[0]&0xff != 1 {
		return false
	}
	notBuilt := !x.sizes.Has(nicspec.PartMsix) && len(t.Words) > 8 && t.Words[8] != 0
	switch t.Table {
	case nicspec.TableRxq:
		return x.rx[t.Index] == nil && !notBuilt && t.Index < x.sizes.NumRxq
	case nicspec.TableTxq:
		return x.tx[t.Index] == nil && !notBuilt && t.Index < x.sizes.NumTxq
	}
	return false
}

// disables returns the ring of the queue that a table command disables, or nil.
func (x *player) disables(t *program.Table) *ring {
	queues := t.Table == nicspec.TableRxq || t.Table == nicspec.TableTxq
	if t.Op != uint8(nicspec.TableOpWrite) || !queues || len(t.Words) == 0 || t.Words[0]&0xff != 0 {
		return nil
	}
	return x.ringOf(program.Queue{Tx: t.Table == nicspec.TableTxq, Queue: t.Index})
}

// reset starts a function-level reset and waits for its end.
func (x *player) reset() error {
	if !x.sizes.Has(nicspec.PartFlr) {
		return nil
	}
	state := "idle"
	if v, err := x.read(nicspec.RegStatus); err != nil {
		return err
	} else if v != 0 {
		state = "at work"
	}
	if err := x.b.Arm.Write32(nicspec.RegCtrl, 1<<31); err != nil {
		return err
	}
	if err := x.poll(nicspec.RegCtrl, "a function-level reset is over",
		func(v uint32) bool { return v>>31 == 0 }); err != nil {
		return err
	}
	x.watcher.cov.Hit("resets", state)
	x.watcher.resetEnds()
	x.ctrl = 0
	if err := testbed.SetWaits(x.b.Driver, x.b.Waits); err != nil { // undone by the reset
		return err
	}
	clear(x.rx)
	clear(x.tx)
	clear(x.keys)
	x.watcher.ports = pauseWatch{}
	return nil
}

// harmless changes the value of a register write so that it starts no function-level reset, after which the driver
// would have to configure everything again, and so that the NIC's writes fit the card's links.
func (x *player) harmless(w *program.Write) uint32 {
	if w.Reg == "CTRL" && x.sizes.Has(nicspec.PartFlr) {
		return w.Value &^ (1 << 31)
	}
	if w.Reg == "DEVCTL" && x.cardMPS > 0 {
		v, most := nicspec.DevctlReg(w.Value), uint32(0)
		for 256<<most <= x.cardMPS {
			most++
		}
		v.SetMps(min(v.Mps(), most))
		return uint32(v)
	}
	return w.Value
}

// tlp sends a raw TLP.
func (x *player) tlp(t *program.TLP) error {
	b, err := hex.DecodeString(t.Header)
	if err != nil {
		return err
	}
	for i := range max(1, t.Count) {
		p := new(msg.TLP)
		p.Own(t.Data)
		copy(p.Hdr[:], b)
		var h tlp.Header
		if core.DecodeInbound(&p.Hdr, &h) == core.InCompletion {
			p.Hdr[10] += uint8(i) // byte of the tag
		} else {
			if err := x.freeTag(h.RequesterID); err != nil {
				return err
			}
			p.Hdr[6] = x.tag
			x.tag++
		}
		if x.cardMPS > 0 && !x.carried(p) {
			continue
		}
		if h.Kind == tlp.MRd {
			x.reads.begin(h.RequesterID, p.Hdr[6])
		}
		x.root.Send(p)
	}
	return nil
}

// carried reports whether the links and the switch of a card carry a TLP to the NIC, and its answer to a root. They
// check TLPs against the standard and route them by address or ID, so malformed TLPs and unexpected completions never
// reach the NIC.
func (x *player) carried(p *msg.TLP) bool {
	h, err := p.Header()
	if err != nil || int(h.Length)*tlp.DWBytes > x.cardMPS {
		return false
	}
	const bus = 8 // bits of an ID below its bus number
	root := h.RequesterID>>bus == nicspec.RequesterArm>>bus || h.RequesterID>>bus == nicspec.RequesterHost>>bus
	return root && (h.Kind == tlp.MRd || h.Kind == tlp.MWr) && h.Address-nicspec.BarBase < nicspec.BarBytes
}

// fault makes reads fail from now on.
func (x *player) fault(f *program.Fault) error {
	kind, err := inject.ParseFault(f.Kind)
	if err != nil {
		return err
	}
	h := inject.Fault{Kind: kind, Skip: f.Skip, Count: f.Count, Nth: f.Nth, Delay: x.b.Cycles(f.Delay),
		Gap: x.b.Cycles(f.Gap)}
	switch {
	case f.Of == program.OfMemory:
		h.From = x.at[f.Place.Region()]
		h.To = h.From + program.PieceBytes
	case f.Of == program.OfRxRing && x.rx[f.Queue] != nil:
		r := x.rx[f.Queue]
		h.From, h.To = r.Base+uint64(min(f.At, r.Size()-1)*r.Slot), r.Base+uint64(r.Bytes())
	case f.Of == program.OfTxRing && x.tx[f.Queue] != nil:
		r := x.tx[f.Queue]
		h.From, h.To = r.Base+uint64(min(f.At, r.Size()-1)*r.Slot), r.Base+uint64(r.Bytes())
	default:
		return nil
	}
	x.watcher.faultOf[h.From] = f.Of
	return x.b.Faults.Add(h)
}
