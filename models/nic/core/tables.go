package core

import (
	"encoding/binary"

	"nictwin/models/nic/nicspec"
)

// command carries out a table command, a write of TBL_CMD [G6, G7].
func (r *Regs) command(v nicspec.TblCmdReg) Effect {
	e := Effect{
		Reg: nicspec.RegTblCmd, Table: nicspec.Table(v.Table()), Index: int(v.Index()),
		Kind: EffectTableRead,
	}
	if r.draining {
		r.Step(nicspec.CntRegBad)
		e.Kind = EffectRegBad
		return e
	}
	r.cmd.SetIndex(v.Index())
	r.cmd.SetTable(v.Table())
	r.cmd.SetOp(v.Op())
	e.Status = r.locate(nicspec.TableOp(v.Op()), e.Table, e.Index)
	if e.Status == nicspec.TableStatusOk {
		if nicspec.TableOp(v.Op()) == nicspec.TableOpRead {
			r.readEntry(e.Table, e.Index)
		} else {
			r.writeEntry(&e)
		}
	}
	if e.Status != nicspec.TableStatusOk {
		e.Kind = EffectTableRefused
	}
	r.cmd.SetStatus(uint32(e.Status))
	return e
}

// locate checks operation, table and index of a table command: all that does not need TBL_DATA.
func (r *Regs) locate(op nicspec.TableOp, t nicspec.Table, i int) nicspec.TableStatus {
	if op != nicspec.TableOpWrite && op != nicspec.TableOpRead {
		return nicspec.TableStatusBadOp
	}
	entries := 0
	switch {
	case !t.Known():
		return nicspec.TableStatusBadTable
	case !r.build.Has(t.Part()):
		return nicspec.TableStatusNotBuilt
	}
	switch t {
	case nicspec.TableRxq:
		entries = len(r.rxq)
	case nicspec.TableTxq:
		entries = len(r.txq)
	case nicspec.TableKey:
		entries = len(r.keys)
	case nicspec.TableRule:
		entries = len(r.rules)
	case nicspec.TableIndirection:
		entries = nicspec.RssEntries
	case nicspec.TableAccount:
		entries = len(r.accounts)
	case nicspec.TablePortCfg:
		entries = len(r.portCfg)
	default:
		return nicspec.TableStatusNotBuilt
	}
	if i >= entries {
		return nicspec.TableStatusBadIndex
	}
	return nicspec.TableStatusOk
}

// staged returns TBL_DATA as bytes.
func (r *Regs) staged() (b [4 * nicspec.TableWords]byte) {
	for i, w := range r.data {
		binary.LittleEndian.PutUint32(b[4*i:], w)
	}
	return b
}

func (r *Regs) readEntry(t nicspec.Table, i int) {
	var b [4 * nicspec.TableWords]byte
	switch t {
	case nicspec.TableRxq:
		r.rxq[i].encodeRx(b[:])
	case nicspec.TableTxq:
		r.txq[i].encodeTx(b[:])
	case nicspec.TableKey:
		r.keys[i].encode(b[:])
	case nicspec.TableRule:
		r.rules[i].Encode(b[:])
	case nicspec.TableIndirection:
		(&nicspec.IndirectionEntryFields{Queue: r.cfg.Indirection.At(i)}).Encode(b[:])
	case nicspec.TableAccount:
		r.accounts[i].encode(b[:])
	case nicspec.TablePortCfg:
		r.portCfg[i].Encode(b[:])
	}
	for w := range r.data {
		r.data[w] = binary.LittleEndian.Uint32(b[4*w:])
	}
}

func (r *Regs) writeEntry(e *Effect) {
	b := r.staged()
	switch e.Table {
	case nicspec.TableRxq:
		f := nicspec.DecodeRxqEntry(b[:])
		r.writeQueue(&r.rxq[e.Index], r.rxContext(&f), r.checkRxq(&f), e)
	case nicspec.TableTxq:
		f := nicspec.DecodeTxqEntry(b[:])
		r.writeQueue(&r.txq[e.Index], r.txContext(&f), r.checkTxq(&f), e)
	case nicspec.TableKey:
		r.writeKey(b[:], e)
	case nicspec.TableRule:
		r.writeRule(b[:], e)
	case nicspec.TableIndirection:
		r.writeIndirection(b[:], e)
	case nicspec.TableAccount:
		r.writeAccount(b[:], e)
	case nicspec.TablePortCfg:
		r.writePort(b[:], e)
	}
}

// writeQueue stores an entry that enables or disables a queue [Q5, T11]. values is the outcome of
// the checks that apply if the entry enables the queue.
func (r *Regs) writeQueue(q *Queue, entry Queue, values nicspec.TableStatus, e *Effect) {
	e.Rx = e.Table == nicspec.TableRxq
	switch {
	case entry.Enable == 1 && q.State != nicspec.QueueStateOff:
		e.Status = nicspec.TableStatusEnabled
		return
	case entry.Enable > 1:
		e.Status = nicspec.TableStatusBadValue
		return
	case entry.Enable == 1 && values != nicspec.TableStatusOk:
		e.Status = values
		return
	}
	switch {
	case entry.Enable == 1:
		q.store(&entry)
		q.start()
		e.Kind = EffectQueueEnabled
	case q.State == nicspec.QueueStateOff:
		q.store(&entry)
		e.Kind = EffectQueueDisabled
	default:
		// Work in flight still needs the old rings: the entry is stored in Drained.
		q.State, q.Enable = nicspec.QueueStateOff, 0
		r.draining, r.drained, r.entry = true, q, entry
		e.Kind = EffectQueueDraining
	}
}

// store applies a table write to the queue.
func (q *Queue) store(entry *Queue) {
	entry.PI, entry.CI, entry.CQI, entry.Epoch = q.PI, q.CI, q.CQI, q.Epoch
	*q = *entry
}

func (r *Regs) rxContext(f *nicspec.RxqEntryFields) Queue {
	q := Queue{
		Enable: f.Enable, LogSize: f.LogSize, RingBase: f.RingBase, CqBase: f.CqBase,
		SplitMode: f.SplitMode, SplitLen: f.SplitLen, HdrBufSize: f.HdrBufSize, PayBufSize: f.PayBufSize,
		Vector: r.vector(f.MsixAddr, f.MsixData, f.ModCount, f.ModCycles),
	}
	if r.build.Has(nicspec.PartCrc32c) {
		q.CrcMode = f.CrcMode
	}
	if r.build.Has(nicspec.PartEcn) {
		q.EcnMode = f.EcnMode
	}
	if r.build.Has(nicspec.PartTrim) {
		q.Trim, q.HasPayLen = f.Trim, true
	}
	return q
}

func (r *Regs) txContext(f *nicspec.TxqEntryFields) Queue {
	q := Queue{
		Enable: f.Enable, LogSize: f.LogSize, RingBase: f.RingBase, CqBase: f.CqBase,
		Vector: r.vector(f.MsixAddr, f.MsixData, f.ModCount, f.ModCycles),
	}
	if r.build.Has(nicspec.PartEcn) {
		q.EcnMode = f.EcnMode
	}
	if r.build.Has(nicspec.PartPause) {
		q.PfcClass = f.PfcClass
	}
	return q
}

// lacks reports whether a field is used whose part the build lacks [N2].
func (r *Regs) lacks(part nicspec.Cap1Reg, value uint8) bool { return value != 0 && !r.build.Has(part) }

// Largest valid values of fields.
const (
	rxEcnMax    = 1
	trimMax     = 1
	txEcnMax    = 3
	pfcClassMax = 7
)

// checkRxq checks the values of an entry that enables a receive queue [Q6], then that the build has
// the parts that it uses.
func (r *Regs) checkRxq(f *nicspec.RxqEntryFields) nicspec.TableStatus {
	switch {
	case f.SplitMode > nicspec.SplitModeHeaders, !ringFits(f.LogSize, f.RingBase, f.CqBase), f.PayBufSize == 0,
		f.HdrBufSize == 0 && f.SplitMode != nicspec.SplitModeNone, r.badVector(f.MsixAddr),
		r.build.Has(nicspec.PartCrc32c) && !f.CrcMode.Known(), r.build.Has(nicspec.PartEcn) && f.EcnMode > rxEcnMax,
		r.build.Has(nicspec.PartTrim) && f.Trim > trimMax:
		return nicspec.TableStatusBadValue
	case f.MsixAddr != 0 && !r.build.Has(nicspec.PartMsix), r.lacks(nicspec.PartCrc32c, uint8(f.CrcMode)),
		r.lacks(nicspec.PartEcn, f.EcnMode),
		r.lacks(nicspec.PartTrim, f.Trim):
		return nicspec.TableStatusNotBuilt
	}
	return nicspec.TableStatusOk
}

// checkTxq checks the values of an entry that enables a transmit queue [T11], then that the build
// has the parts that it uses.
func (r *Regs) checkTxq(f *nicspec.TxqEntryFields) nicspec.TableStatus {
	switch {
	case !ringFits(f.LogSize, f.RingBase, f.CqBase), r.badVector(f.MsixAddr),
		r.build.Has(nicspec.PartPause) && f.PfcClass > pfcClassMax, r.build.Has(nicspec.PartEcn) &&
			f.EcnMode > txEcnMax:
		return nicspec.TableStatusBadValue
	case f.MsixAddr != 0 && !r.build.Has(nicspec.PartMsix), r.lacks(nicspec.PartPause, f.PfcClass),
		r.lacks(nicspec.PartEcn, f.EcnMode):
		return nicspec.TableStatusNotBuilt
	}
	return nicspec.TableStatusOk
}

func ringFits(log uint8, ring, cq uint64) bool {
	const align = 64
	return log >= nicspec.LogSizeMin && log <= nicspec.LogSizeMax && ring%align == 0 && cq%align == 0
}

func (q *Queue) encodeRx(dst []byte) {
	f := nicspec.RxqEntryFields{
		Enable: q.Enable, SplitMode: q.SplitMode, LogSize: q.LogSize, State: q.State,
		SplitLen: q.SplitLen, HdrBufSize: q.HdrBufSize, PayBufSize: q.PayBufSize, Error: q.Err,
		RingBase: q.RingBase, CqBase: q.CqBase, Pi: q.PI, Ci: q.CI, Cqi: q.CQI,
		CrcMode: q.CrcMode, EcnMode: q.EcnMode, Trim: q.Trim,
		MsixAddr: q.Addr, MsixData: q.Data, ModCount: q.Count, ModCycles: q.Cycles,
	}
	f.Encode(dst)
}

func (q *Queue) encodeTx(dst []byte) {
	f := nicspec.TxqEntryFields{
		Enable: q.Enable, LogSize: q.LogSize, State: q.State, Error: q.Err,
		RingBase: q.RingBase, CqBase: q.CqBase, Pi: q.PI, Ci: q.CI, Cqi: q.CQI,
		PfcClass: q.PfcClass, EcnMode: q.EcnMode,
		MsixAddr: q.Addr, MsixData: q.Data, ModCount: q.Count, ModCycles: q.Cycles,
	}
	f.Encode(dst)
}

func (r *Regs) writeKey(b []byte, e *Effect) {
	f := nicspec.DecodeKeyEntry(b)
	const offsets = uint64(1) << nicspec.EndpointShift // size of an endpoint's address space
	switch {
	case f.Valid > 1,
		f.Length != 0 && f.VaBase+(f.Length-1) < f.VaBase,
		f.Length > offsets-f.BusBase%offsets:
		e.Status = nicspec.TableStatusBadValue
		return
	}
	r.keys[e.Index] = Key{
		VABase: f.VaBase, Length: f.Length, BusBase: f.BusBase,
		Valid: f.Valid == 1, Read: f.RightRead, Write: f.RightWrite, Variant: f.Variant,
	}
	e.Kind = EffectKeyWritten
}

func (k *Key) encode(dst []byte) {
	f := nicspec.KeyEntryFields{
		Valid: bit(k.Valid, 0), RightRead: k.Read, RightWrite: k.Write, Variant: k.Variant,
		VaBase: k.VABase, Length: k.Length, BusBase: k.BusBase,
	}
	f.Encode(dst)
}
