// Code generated from nic.yaml by go generate ./models/nic/nicspec; DO NOT EDIT.

package nicspec

import "encoding/binary"

// RxqEntrySize is the size of a RxqEntry in bytes.
const RxqEntrySize = 64

// RxqEntry is a view of 64 bytes of memory: table Rxq.
// Accessors read and write the bytes in place and panic when there are fewer.
type RxqEntry []byte

// Enable returns enable, byte 0: 1 enables and resets the indices, 0 disables; other values BadValue.
func (b RxqEntry) Enable() uint8 { return b[0] }

// SetEnable sets enable.
func (b RxqEntry) SetEnable(v uint8) { b[0] = v }

// SplitMode returns split_mode, byte 1: header split.
func (b RxqEntry) SplitMode() SplitMode { return SplitMode(b[1]) }

// SetSplitMode sets split_mode.
func (b RxqEntry) SetSplitMode(v SplitMode) { b[1] = uint8(v) }

// LogSize returns log_size, byte 2: log2 of the ring size, 2..15; the completion ring has the same size.
func (b RxqEntry) LogSize() uint8 { return b[2] }

// SetLogSize sets log_size.
func (b RxqEntry) SetLogSize(v uint8) { b[2] = v }

// State returns state, byte 3: state of the queue; ignored on write.
func (b RxqEntry) State() QueueState { return QueueState(b[3]) }

// SetState sets state.
func (b RxqEntry) SetState(v QueueState) { b[3] = uint8(v) }

// SplitLen returns split_len, bytes 4..5: mode Fixed: bytes to split off.
func (b RxqEntry) SplitLen() uint16 { return binary.LittleEndian.Uint16(b[4:]) }

// SetSplitLen sets split_len.
func (b RxqEntry) SetSplitLen(v uint16) { binary.LittleEndian.PutUint16(b[4:], v) }

// HdrBufSize returns hdr_buf_size, bytes 6..7: bytes of a header buffer; not zero when splitting.
func (b RxqEntry) HdrBufSize() uint16 { return binary.LittleEndian.Uint16(b[6:]) }

// SetHdrBufSize sets hdr_buf_size.
func (b RxqEntry) SetHdrBufSize(v uint16) { binary.LittleEndian.PutUint16(b[6:], v) }

// PayBufSize returns pay_buf_size, bytes 8..9: bytes of a payload buffer; not zero.
func (b RxqEntry) PayBufSize() uint16 { return binary.LittleEndian.Uint16(b[8:]) }

// SetPayBufSize sets pay_buf_size.
func (b RxqEntry) SetPayBufSize(v uint16) { binary.LittleEndian.PutUint16(b[8:], v) }

// Error returns error, byte 10: why the queue is in the error state.
func (b RxqEntry) Error() Status { return Status(b[10]) }

// SetError sets error.
func (b RxqEntry) SetError(v Status) { b[10] = uint8(v) }

// Trim returns trim, byte 11: 1: pad and ICRC of RoCE frames are not written to memory; above 1 BadValue; must be zero without the part, else NotBuilt (part trim).
func (b RxqEntry) Trim() uint8 { return b[11] }

// SetTrim sets trim.
func (b RxqEntry) SetTrim(v uint8) { b[11] = v }

// RingBase returns ring_base, bytes 16..23: bus address, 64 B aligned.
func (b RxqEntry) RingBase() uint64 { return binary.LittleEndian.Uint64(b[16:]) }

// SetRingBase sets ring_base.
func (b RxqEntry) SetRingBase(v uint64) { binary.LittleEndian.PutUint64(b[16:], v) }

// CqBase returns cq_base, bytes 24..31: bus address, 64 B aligned.
func (b RxqEntry) CqBase() uint64 { return binary.LittleEndian.Uint64(b[24:]) }

// SetCqBase sets cq_base.
func (b RxqEntry) SetCqBase(v uint64) { binary.LittleEndian.PutUint64(b[24:], v) }

// MsixAddr returns msix_addr, bytes 32..39: bus address that messages are written to, zero for none; must be zero without the part, else NotBuilt (part msix).
func (b RxqEntry) MsixAddr() uint64 { return binary.LittleEndian.Uint64(b[32:]) }

// SetMsixAddr sets msix_addr.
func (b RxqEntry) SetMsixAddr(v uint64) { binary.LittleEndian.PutUint64(b[32:], v) }

// MsixData returns msix_data, bytes 40..43: data of messages; ignored without the part (part msix).
func (b RxqEntry) MsixData() uint32 { return binary.LittleEndian.Uint32(b[40:]) }

// SetMsixData sets msix_data.
func (b RxqEntry) SetMsixData(v uint32) { binary.LittleEndian.PutUint32(b[40:], v) }

// ModCount returns mod_count, bytes 44..45: completion entries per message; ignored without the part (part msix).
func (b RxqEntry) ModCount() uint16 { return binary.LittleEndian.Uint16(b[44:]) }

// SetModCount sets mod_count.
func (b RxqEntry) SetModCount(v uint16) { binary.LittleEndian.PutUint16(b[44:], v) }

// ModCycles returns mod_cycles, bytes 46..47: longest wait of a completion entry for its message in units of 64 cycles, zero for no limit; ignored without the part (part msix).
func (b RxqEntry) ModCycles() uint16 { return binary.LittleEndian.Uint16(b[46:]) }

// SetModCycles sets mod_cycles.
func (b RxqEntry) SetModCycles(v uint16) { binary.LittleEndian.PutUint16(b[46:], v) }

// Pi returns pi, bytes 48..49: producer index; ignored on write.
func (b RxqEntry) Pi() uint16 { return binary.LittleEndian.Uint16(b[48:]) }

// SetPi sets pi.
func (b RxqEntry) SetPi(v uint16) { binary.LittleEndian.PutUint16(b[48:], v) }

// Ci returns ci, bytes 50..51: descriptors consumed; ignored on write.
func (b RxqEntry) Ci() uint16 { return binary.LittleEndian.Uint16(b[50:]) }

// SetCi sets ci.
func (b RxqEntry) SetCi(v uint16) { binary.LittleEndian.PutUint16(b[50:], v) }

// Cqi returns cqi, bytes 52..53: completion entries written; ignored on write.
func (b RxqEntry) Cqi() uint16 { return binary.LittleEndian.Uint16(b[52:]) }

// SetCqi sets cqi.
func (b RxqEntry) SetCqi(v uint16) { binary.LittleEndian.PutUint16(b[52:], v) }

// CrcMode returns crc_mode, byte 54: payload CRC-32C; must be zero without the part, else NotBuilt (part crc32c).
func (b RxqEntry) CrcMode() CrcMode { return CrcMode(b[54]) }

// SetCrcMode sets crc_mode.
func (b RxqEntry) SetCrcMode(v CrcMode) { b[54] = uint8(v) }

// EcnMode returns ecn_mode, byte 55: 1: frames with ECN 1 or 2 are written with ECN 3; above 1 BadValue; must be zero without the part, else NotBuilt (part ecn).
func (b RxqEntry) EcnMode() uint8 { return b[55] }

// SetEcnMode sets ecn_mode.
func (b RxqEntry) SetEcnMode(v uint8) { b[55] = v }

// RxqEntryFields holds the fields of RxqEntry as plain values.
type RxqEntryFields struct {
	Enable     uint8      // 1 enables and resets the indices, 0 disables; other values BadValue
	SplitMode  SplitMode  // header split
	LogSize    uint8      // log2 of the ring size, 2..15; the completion ring has the same size
	State      QueueState // state of the queue; ignored on write
	SplitLen   uint16     // mode Fixed: bytes to split off
	HdrBufSize uint16     // bytes of a header buffer; not zero when splitting
	PayBufSize uint16     // bytes of a payload buffer; not zero
	Error      Status     // why the queue is in the error state
	Trim       uint8      // 1: pad and ICRC of RoCE frames are not written to memory; above 1 BadValue; must be zero without the part, else NotBuilt (part trim)
	RingBase   uint64     // bus address, 64 B aligned
	CqBase     uint64     // bus address, 64 B aligned
	MsixAddr   uint64     // bus address that messages are written to, zero for none; must be zero without the part, else NotBuilt (part msix)
	MsixData   uint32     // data of messages; ignored without the part (part msix)
	ModCount   uint16     // completion entries per message; ignored without the part (part msix)
	ModCycles  uint16     // longest wait of a completion entry for its message in units of 64 cycles, zero for no limit; ignored without the part (part msix)
	Pi         uint16     // producer index; ignored on write
	Ci         uint16     // descriptors consumed; ignored on write
	Cqi        uint16     // completion entries written; ignored on write
	CrcMode    CrcMode    // payload CRC-32C; must be zero without the part, else NotBuilt (part crc32c)
	EcnMode    uint8      // 1: frames with ECN 1 or 2 are written with ECN 3; above 1 BadValue; must be zero without the part, else NotBuilt (part ecn)
}

// DecodeRxqEntry reads all fields; it panics when b is shorter than 64 bytes.
func DecodeRxqEntry(b []byte) (f RxqEntryFields) {
	v := RxqEntry(b[:64])
	f.Enable = v.Enable()
	f.SplitMode = v.SplitMode()
	f.LogSize = v.LogSize()
	f.State = v.State()
	f.SplitLen = v.SplitLen()
	f.HdrBufSize = v.HdrBufSize()
	f.PayBufSize = v.PayBufSize()
	f.Error = v.Error()
	f.Trim = v.Trim()
	f.RingBase = v.RingBase()
	f.CqBase = v.CqBase()
	f.MsixAddr = v.MsixAddr()
	f.MsixData = v.MsixData()
	f.ModCount = v.ModCount()
	f.ModCycles = v.ModCycles()
	f.Pi = v.Pi()
	f.Ci = v.Ci()
	f.Cqi = v.Cqi()
	f.CrcMode = v.CrcMode()
	f.EcnMode = v.EcnMode()
	return f
}

// Encode writes all fields and zeros the reserved bits of dst's first 64 bytes; it panics when
// there are fewer.
func (f *RxqEntryFields) Encode(dst []byte) {
	v := RxqEntry(dst[:64])
	clear(v)
	v.SetEnable(f.Enable)
	v.SetSplitMode(f.SplitMode)
	v.SetLogSize(f.LogSize)
	v.SetState(f.State)
	v.SetSplitLen(f.SplitLen)
	v.SetHdrBufSize(f.HdrBufSize)
	v.SetPayBufSize(f.PayBufSize)
	v.SetError(f.Error)
	v.SetTrim(f.Trim)
	v.SetRingBase(f.RingBase)
	v.SetCqBase(f.CqBase)
	v.SetMsixAddr(f.MsixAddr)
	v.SetMsixData(f.MsixData)
	v.SetModCount(f.ModCount)
	v.SetModCycles(f.ModCycles)
	v.SetPi(f.Pi)
	v.SetCi(f.Ci)
	v.SetCqi(f.Cqi)
	v.SetCrcMode(f.CrcMode)
	v.SetEcnMode(f.EcnMode)
}

// DiffRxqEntry compares two structures: it returns ok if they are equal, else the first field that differs
// and both values, as StructInfo.Diff does.
func DiffRxqEntry(exp, got []byte) (field, e, g string, ok bool) { return RxqEntryInfo.Diff(exp, got) }

// String lists the fields that are not zero.
func (b RxqEntry) String() string { return RxqEntryInfo.Format(b) }
