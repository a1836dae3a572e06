// Code generated from nic.yaml by go generate ./models/nic/nicspec; DO NOT EDIT.

package nicspec

import "encoding/binary"

// PortEntrySize is the size of a PortEntry in bytes.
const PortEntrySize = 16

// PortEntry is a view of 16 bytes of memory: table PortCfg.
// Accessors read and write the bytes in place and panic when there are fewer.
type PortEntry []byte

// RxPause returns rx_pause, byte 0: 1: pause frames are honoured; above 1 BadValue.
func (b PortEntry) RxPause() uint8 { return b[0] }

// SetRxPause sets rx_pause.
func (b PortEntry) SetRxPause(v uint8) { b[0] = v }

// RxPfc returns rx_pfc, byte 1: classes whose priority pauses are honoured, class i in bit i.
func (b PortEntry) RxPfc() uint8 { return b[1] }

// SetRxPfc sets rx_pfc.
func (b PortEntry) SetRxPfc(v uint8) { b[1] = v }

// TxMode returns tx_mode, byte 2: kind of pause frames sent; above 2 BadValue.
func (b PortEntry) TxMode() PauseMode { return PauseMode(b[2]) }

// SetTxMode sets tx_mode.
func (b PortEntry) SetTxMode(v PauseMode) { b[2] = uint8(v) }

// TxClasses returns tx_classes, byte 3: mode Priority: classes that are paused.
func (b PortEntry) TxClasses() uint8 { return b[3] }

// SetTxClasses sets tx_classes.
func (b PortEntry) SetTxClasses(v uint8) { b[3] = v }

// PauseTime returns pause_time, bytes 4..5: pause time of the frames sent, quanta.
func (b PortEntry) PauseTime() uint16 { return binary.LittleEndian.Uint16(b[4:]) }

// SetPauseTime sets pause_time.
func (b PortEntry) SetPauseTime(v uint16) { binary.LittleEndian.PutUint16(b[4:], v) }

// Xoff returns xoff, bytes 8..11: pause the peer when the receive buffer holds more bytes than this.
func (b PortEntry) Xoff() uint32 { return binary.LittleEndian.Uint32(b[8:]) }

// SetXoff sets xoff.
func (b PortEntry) SetXoff(v uint32) { binary.LittleEndian.PutUint32(b[8:], v) }

// Xon returns xon, bytes 12..15: end the pause when the receive buffer holds no more bytes than this.
func (b PortEntry) Xon() uint32 { return binary.LittleEndian.Uint32(b[12:]) }

// SetXon sets xon.
func (b PortEntry) SetXon(v uint32) { binary.LittleEndian.PutUint32(b[12:], v) }

// PortEntryFields holds the fields of PortEntry as plain values.
type PortEntryFields struct {
	RxPause   uint8     // 1: pause frames are honoured; above 1 BadValue
	RxPfc     uint8     // classes whose priority pauses are honoured, class i in bit i
	TxMode    PauseMode // kind of pause frames sent; above 2 BadValue
	TxClasses uint8     // mode Priority: classes that are paused
	PauseTime uint16    // pause time of the frames sent, quanta
	Xoff      uint32    // pause the peer when the receive buffer holds more bytes than this
	Xon       uint32    // end the pause when the receive buffer holds no more bytes than this
}

// DecodePortEntry reads all fields; it panics when b is shorter than 16 bytes.
func DecodePortEntry(b []byte) (f PortEntryFields) {
	v := PortEntry(b[:16])
	f.RxPause = v.RxPause()
	f.RxPfc = v.RxPfc()
	f.TxMode = v.TxMode()
	f.TxClasses = v.TxClasses()
	f.PauseTime = v.PauseTime()
	f.Xoff = v.Xoff()
	f.Xon = v.Xon()
	return f
}

// Encode writes all fields and zeros the reserved bits of dst's first 16 bytes; it panics when
// there are fewer.
func (f *PortEntryFields) Encode(dst []byte) {
	v := PortEntry(dst[:16])
	clear(v)
	v.SetRxPause(f.RxPause)
	v.SetRxPfc(f.RxPfc)
	v.SetTxMode(f.TxMode)
	v.SetTxClasses(f.TxClasses)
	v.SetPauseTime(f.PauseTime)
	v.SetXoff(f.Xoff)
	v.SetXon(f.Xon)
}

// DiffPortEntry compares two structures: it returns ok if they are equal, else the first field that differs
// and both values, as StructInfo.Diff does.
func DiffPortEntry(exp, got []byte) (field, e, g string, ok bool) {
	return PortEntryInfo.Diff(exp, got)
}

// String lists the fields that are not zero.
func (b PortEntry) String() string { return PortEntryInfo.Format(b) }
