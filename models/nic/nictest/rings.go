package nictest

import (
	"encoding/binary"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

// Ring is a ring of an Endpoint's driver, with its completion ring.
type Ring struct {
	Base, Cq uint64
	Log      int
	PI       uint16 // descriptors, or blocks of work entries, posted so far
	Taken    uint16 // completion entries taken
}

// Slot returns the address of the descriptor, block or entry with an index, each of so many bytes.
func (r *Ring) Slot(index uint16, bytes int) uint64 {
	return r.Base + uint64(bytes)*uint64(index&(1<<r.Log-1))
}

// RxRing, RxCq, TxRing and TxCq return the addresses of queue q's rings in memory.
func RxRing(q int) uint64 { return 0x1000_0000 + uint64(q)<<20 }
func RxCq(q int) uint64   { return 0x0100_0000_3000_0000 + uint64(q)<<22 }
func TxRing(q int) uint64 { return 0x2000_0000 + uint64(q)<<22 + 64 }
func TxCq(q int) uint64   { return 0x6000_0000 + uint64(q)<<22 }

// TableLater issues a table command and does not wait for its end.
func (p *Endpoint) TableLater(op nicspec.TableOp, t nicspec.Table, i int, entry []byte) {
	p.t.Helper()
	for w := 0; 4*w < len(entry); w++ {
		p.Write32(nicspec.RegTblData(w), binary.LittleEndian.Uint32(entry[4*w:]))
	}
	p.Write32(nicspec.RegTblCmd, uint32(nicspec.NewTblCmd(op, t, i)))
}

// Table carries out a table command, waits for its end and returns its status.
func (p *Endpoint) Table(op nicspec.TableOp, t nicspec.Table, i int, entry []byte) nicspec.TableStatus {
	p.t.Helper()
	p.TableLater(op, t, i, entry)
	const polls = 10_000
	for range polls {
		if got := nicspec.TblCmdReg(p.Reg(nicspec.RegTblCmd, 1)); !got.Busy() {
			return nicspec.TableStatus(got.Status())
		}
	}
	require.FailNow(p.t, "a table command stays busy")
	return 0
}

func (p *Endpoint) enable(t nicspec.Table, q int, entry []byte) {
	p.t.Helper()
	require.Equal(p.t, nicspec.TableStatusOk, p.Table(nicspec.TableOpWrite, t, q, entry))
}

// OpenRx enables a receive queue of 1<<log entries.
func (p *Endpoint) OpenRx(q, log int, mods ...func(*nicspec.RxqEntryFields)) {
	p.t.Helper()
	f := nicspec.RxqEntryFields{Enable: 1, LogSize: uint8(log), RingBase: RxRing(q), CqBase: RxCq(q), PayBufSize: 9216,
		HdrBufSize: 256}
	for _, mod := range mods {
		if mod != nil {
			mod(&f)
		}
	}
	var b [nicspec.RxqEntrySize]byte
	f.Encode(b[:])
	p.enable(nicspec.TableRxq, q, b[:])
	p.Rx[q] = Ring{Base: f.RingBase, Cq: f.CqBase, Log: log}
}

// OpenTx enables a transmit queue of 1<<log entries.
func (p *Endpoint) OpenTx(q, log int, mods ...func(*nicspec.TxqEntryFields)) {
	p.t.Helper()
	f := nicspec.TxqEntryFields{Enable: 1, LogSize: uint8(log), RingBase: TxRing(q), CqBase: TxCq(q)}
	for _, mod := range mods {
		mod(&f)
	}
	var b [nicspec.TxqEntrySize]byte
	f.Encode(b[:])
	p.enable(nicspec.TableTxq, q, b[:])
	p.Tx[q] = Ring{Base: f.RingBase, Cq: f.CqBase, Log: log}
}

// Post writes a receive descriptor; RingRx notifies the NIC.
func (p *Endpoint) Post(q int, hdr, pay uint64) {
	r := &p.Rx[q]
	var b [nicspec.RxDescBytes]byte
	(&nicspec.RxDescFields{HdrAddr: hdr, PayAddr: pay}).Encode(b[:])
	p.Write(r.Slot(r.PI, len(b)), b[:])
	r.PI++
}

// RingRx rings the doorbell of a receive queue for what was posted.
func (p *Endpoint) RingRx(q int) { p.Write32(nicspec.RegRxDoorbell(q), uint32(p.Rx[q].PI)) }

// PostWqe writes a work entry, block by block; RingTx notifies the NIC.
func (p *Endpoint) PostWqe(q int, raw []byte) {
	r := &p.Tx[q]
	for ; len(raw) > 0; raw = raw[nicspec.WqeBytes:] {
		p.Write(r.Slot(r.PI, nicspec.WqeBytes), raw[:nicspec.WqeBytes])
		r.PI++
	}
}

// RingTx rings the doorbell of a transmit queue for what was posted.
func (p *Endpoint) RingTx(q int) { p.Write32(nicspec.RegTxDoorbell(q), uint32(p.Tx[q].PI)) }

// PushWqe writes a work entry, block by block, and pushes each block [W1]. The doorbell must have
// been rung for earlier entries.
func (p *Endpoint) PushWqe(q int, raw []byte) {
	p.t.Helper()
	for ; len(raw) > 0; raw = raw[nicspec.WqeBytes:] {
		p.PostWqe(q, raw[:nicspec.WqeBytes])
		p.Push(q, raw[:nicspec.WqeBytes])
	}
}

// Push writes a block to the push window of a transmit queue.
func (p *Endpoint) Push(q int, block []byte) {
	p.t.Helper()
	const words = nicspec.WqeBytes / tlp.DWBytes
	p.Send(tlp.Header{Kind: tlp.MWr, Addr64: true, Length: words, FirstBE: 0xf, LastBE: 0xf,
		Address: nicspec.BarBase + uint64(nicspec.RegTxPush(q))}, block)
}

// RxCqe takes the next completion entry of a receive queue, or returns nil.
func (p *Endpoint) RxCqe(q int) nicspec.RxCqe { return p.next(&p.Rx[q]) }

// TxCqe takes the next completion entry of a transmit queue, or returns nil.
func (p *Endpoint) TxCqe(q int) nicspec.TxCqe { return p.next(&p.Tx[q]) }

func (p *Endpoint) next(r *Ring) []byte {
	b := p.Bytes(r.Cq+nicspec.CqeBytes*uint64(r.Taken&(1<<r.Log-1)), nicspec.CqeBytes)
	if b[0] == 0 || b[nicspec.CqeBytes-1] != uint8(^r.Taken>>r.Log&1) {
		return nil
	}
	r.Taken++
	return b
}
