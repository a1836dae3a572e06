// Code generated from nic.yaml by go generate ./models/nic/nicspec; DO NOT EDIT.

package nicspec

import "encoding/binary"

// TxqEntrySize is the size of a TxqEntry in bytes.
const TxqEntrySize = 64

// TxqEntry is a view of 64 bytes of memory: table Txq.
// Accessors read and write the bytes in place and panic when there are fewer.
type TxqEntry []byte

// Enable returns enable, byte 0: as in RxqEntry.
func (b TxqEntry) Enable() uint8 { return b[0] }

// SetEnable sets enable.
func (b TxqEntry) SetEnable(v uint8) { b[0] = v }

// LogSize returns log_size, byte 2: as in RxqEntry.
func (b TxqEntry) LogSize() uint8 { return b[2] }

// SetLogSize sets log_size.
func (b TxqEntry) SetLogSize(v uint8) { b[2] = v }

// State returns state, byte 3: state of the queue; ignored on write.
func (b TxqEntry) State() QueueState { return QueueState(b[3]) }

// SetState sets state.
func (b TxqEntry) SetState(v QueueState) { b[3] = uint8(v) }

// Error returns error, byte 10: why the queue is in the error state.
func (b TxqEntry) Error() Status { return Status(b[10]) }

// SetError sets error.
func (b TxqEntry) SetError(v Status) { b[10] = uint8(v) }

// RingBase returns ring_base, bytes 16..23: bus address, 64 B aligned.
func (b TxqEntry) RingBase() uint64 { return binary.LittleEndian.Uint64(b[16:]) }

// SetRingBase sets ring_base.
func (b TxqEntry) SetRingBase(v uint64) { binary.LittleEndian.PutUint64(b[16:], v) }

// CqBase returns cq_base, bytes 24..31: bus address, 64 B aligned.
func (b TxqEntry) CqBase() uint64 { return binary.LittleEndian.Uint64(b[24:]) }

// SetCqBase sets cq_base.
func (b TxqEntry) SetCqBase(v uint64) { binary.LittleEndian.PutUint64(b[24:], v) }

// MsixAddr returns msix_addr, bytes 32..39: as in RxqEntry (part msix).
func (b TxqEntry) MsixAddr() uint64 { return binary.LittleEndian.Uint64(b[32:]) }

// SetMsixAddr sets msix_addr.
func (b TxqEntry) SetMsixAddr(v uint64) { binary.LittleEndian.PutUint64(b[32:], v) }

// MsixData returns msix_data, bytes 40..43: as in RxqEntry (part msix).
func (b TxqEntry) MsixData() uint32 { return binary.LittleEndian.Uint32(b[40:]) }

// SetMsixData sets msix_data.
func (b TxqEntry) SetMsixData(v uint32) { binary.LittleEndian.PutUint32(b[40:], v) }

// ModCount returns mod_count, bytes 44..45: as in RxqEntry (part msix).
func (b TxqEntry) ModCount() uint16 { return binary.LittleEndian.Uint16(b[44:]) }

// SetModCount sets mod_count.
func (b TxqEntry) SetModCount(v uint16) { binary.LittleEndian.PutUint16(b[44:], v) }

// ModCycles returns mod_cycles, bytes 46..47: as in RxqEntry (part msix).
func (b TxqEntry) ModCycles() uint16 { return binary.LittleEndian.Uint16(b[46:]) }

// SetModCycles sets mod_cycles.
func (b TxqEntry) SetModCycles(v uint16) { binary.LittleEndian.PutUint16(b[46:], v) }

// Pi returns pi, bytes 48..49: producer index; ignored on write.
func (b TxqEntry) Pi() uint16 { return binary.LittleEndian.Uint16(b[48:]) }

// SetPi sets pi.
func (b TxqEntry) SetPi(v uint16) { binary.LittleEndian.PutUint16(b[48:], v) }

// Ci returns ci, bytes 50..51: blocks of work entries that ended; ignored on write.
func (b TxqEntry) Ci() uint16 { return binary.LittleEndian.Uint16(b[50:]) }

// SetCi sets ci.
func (b TxqEntry) SetCi(v uint16) { binary.LittleEndian.PutUint16(b[50:], v) }

// Cqi returns cqi, bytes 52..53: completion entries written; ignored on write.
func (b TxqEntry) Cqi() uint16 { return binary.LittleEndian.Uint16(b[52:]) }

// SetCqi sets cqi.
func (b TxqEntry) SetCqi(v uint16) { binary.LittleEndian.PutUint16(b[52:], v) }

// PfcClass returns pfc_class, byte 54: priority class 0..7 of the queue's frames, above 7 BadValue; must be zero without the part, else NotBuilt (part pause).
func (b TxqEntry) PfcClass() uint8 { return b[54] }

// SetPfcClass sets pfc_class.
func (b TxqEntry) SetPfcClass(v uint8) { b[54] = v }

// EcnMode returns ecn_mode, byte 55: 1..3: ECN bits that the queue's IP frames get; above 3 BadValue; must be zero without the part, else NotBuilt (part ecn).
func (b TxqEntry) EcnMode() uint8 { return b[55] }

// SetEcnMode sets ecn_mode.
func (b TxqEntry) SetEcnMode(v uint8) { b[55] = v }

// TxqEntryFields holds the fields of TxqEntry as plain values.
type TxqEntryFields struct {
	Enable    uint8      // as in RxqEntry
	LogSize   uint8      // as in RxqEntry
	State     QueueState // state of the queue; ignored on write
	Error     Status     // why the queue is in the error state
	RingBase  uint64     // bus address, 64 B aligned
	CqBase    uint64     // bus address, 64 B aligned
	MsixAddr  uint64     // as in RxqEntry (part msix)
	MsixData  uint32     // as in RxqEntry (part msix)
	ModCount  uint16     // as in RxqEntry (part msix)
	ModCycles uint16     // as in RxqEntry (part msix)
	Pi        uint16     // producer index; ignored on write
	Ci        uint16     // blocks of work entries that ended; ignored on write
	Cqi       uint16     // completion entries written; ignored on write
	PfcClass  uint8      // priority class 0..7 of the queue's frames, above 7 BadValue; must be zero without the part, else NotBuilt (part pause)
	EcnMode   uint8      // 1..3: ECN bits that the queue's IP frames get; above 3 BadValue; must be zero without the part, else NotBuilt (part ecn)
}

// DecodeTxqEntry reads all fields; it panics when b is shorter than 64 bytes.
func DecodeTxqEntry(b []byte) (f TxqEntryFields) {
	v := TxqEntry(b[:64])
	f.Enable = v.Enable()
	f.LogSize = v.LogSize()
	f.State = v.State()
	f.Error = v.Error()
	f.RingBase = v.RingBase()
	f.CqBase = v.CqBase()
	f.MsixAddr = v.MsixAddr()
	f.MsixData = v.MsixData()
	f.ModCount = v.ModCount()
	f.ModCycles = v.ModCycles()
	f.Pi = v.Pi()
	f.Ci = v.Ci()
	f.Cqi = v.Cqi()
	f.PfcClass = v.PfcClass()
	f.EcnMode = v.EcnMode()
	return f
}

// Encode writes all fields and zeros the reserved bits of dst's first 64 bytes; it panics when
// there are fewer.
func (f *TxqEntryFields) Encode(dst []byte) {
	v := TxqEntry(dst[:64])
	clear(v)
	v.SetEnable(f.Enable)
	v.SetLogSize(f.LogSize)
	v.SetState(f.State)
	v.SetError(f.Error)
	v.SetRingBase(f.RingBase)
	v.SetCqBase(f.CqBase)
	v.SetMsixAddr(f.MsixAddr)
	v.SetMsixData(f.MsixData)
	v.SetModCount(f.ModCount)
	v.SetModCycles(f.ModCycles)
	v.SetPi(f.Pi)
	v.SetCi(f.Ci)
	v.SetCqi(f.Cqi)
	v.SetPfcClass(f.PfcClass)
	v.SetEcnMode(f.EcnMode)
}

// DiffTxqEntry compares two structures: it returns ok if they are equal, else the first field that differs
// and both values, as StructInfo.Diff does.
func DiffTxqEntry(exp, got []byte) (field, e, g string, ok bool) { return TxqEntryInfo.Diff(exp, got) }

// String lists the fields that are not zero.
func (b TxqEntry) String() string { return TxqEntryInfo.Format(b) }
