package contract

import (
	"encoding/binary"

	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
	"nictwin/stack/driver"
)

// command carries out a table command and tells how it ended.
func (r *rig) command(op nicspec.TableOp, t nicspec.Table, index int, entry []byte) nicspec.TableStatus {
	r.t.Helper()
	r.commandLater(op, t, index, entry)
	return r.commandEnd()
}

// commandLater begins a table command.
func (r *rig) commandLater(op nicspec.TableOp, t nicspec.Table, index int, entry []byte) {
	r.t.Helper()
	r.stage(entry)
	r.write(nicspec.RegTblCmd, commandWord(op, t, index))
}

// stage writes TBL_DATA, two words at a time.
func (r *rig) stage(entry []byte) {
	r.t.Helper()
	if len(entry)%8 > 0 {
		entry = append(entry[:len(entry):len(entry)], make([]byte, 8-len(entry)%8)...)
	}
	for i := 0; i < len(entry); i += 8 {
		r.write2(nicspec.RegTblData(i/4), binary.LittleEndian.Uint32(entry[i:]), binary.LittleEndian.Uint32(entry[i+4:]))
	}
}

func commandWord(op nicspec.TableOp, t nicspec.Table, index int) uint32 {
	return uint32(nicspec.NewTblCmd(op, t, index))
}

// commandEnd waits for the end of a table command.
func (r *rig) commandEnd() nicspec.TableStatus {
	r.t.Helper()
	var c nicspec.TblCmdReg
	r.until("the table command ends", func() bool {
		c = nicspec.TblCmdReg(r.read(nicspec.RegTblCmd))
		return !c.Busy()
	})
	return nicspec.TableStatus(c.Status())
}

// commit writes a table entry, which must go well.
func (r *rig) commit(t nicspec.Table, index int, entry []byte) {
	r.t.Helper()
	require.Equal(r.t, nicspec.TableStatusOk, r.command(nicspec.TableOpWrite, t, index, entry), "%v %d", t, index)
}

// entry reads a table entry: all of TBL_DATA.
func (r *rig) entry(t nicspec.Table, index int) []byte {
	r.t.Helper()
	require.Equal(r.t, nicspec.TableStatusOk, r.command(nicspec.TableOpRead, t, index, nil), "%v %d", t, index)
	return r.staged()
}

// staged is TBL_DATA.
func (r *rig) staged() []byte {
	r.t.Helper()
	b, left := make([]byte, 4*nicspec.TableWords), 0
	for i := 0; i < nicspec.TableWords; i += 2 {
		left++
		r.readLater(nicspec.RegTblData(i), 8, func(v uint64) { binary.LittleEndian.PutUint64(b[4*i:], v); left-- })
	}
	r.until("TBL_DATA is read", func() bool { return left == 0 })
	return b
}

// ring is what receive and transmit queues have in common.
type ring = driver.RawQueue

// rxRing is an enabled receive queue.
type rxRing struct {
	ring
	nicspec.RxqEntryFields
	posted [][2]uint64 // buffers, by index since the enabling
}

// txRing is an enabled transmit queue.
type txRing struct {
	ring
	nicspec.TxqEntryFields
}

// Completion rings are cleared when a queue is enabled, so that an old entry is never taken for a new one.
func (r *rig) newRing(tx bool, q, log int) ring {
	r.t.Helper()
	g := driver.NewRawQueue(tx, q, log)
	g.Base = r.alloc(q%2, g.Bytes(), 64)
	g.CQ = r.alloc((q+1)%2, g.CQBytes(), 64)
	r.store(g.CQ, make([]byte, g.CQBytes()))
	return g
}

// openRx enables a receive queue with a ring of 2^log entries, whole frames to one buffer unless mod says otherwise.
func (r *rig) openRx(q, log int, mod func(*nicspec.RxqEntryFields)) *rxRing {
	r.t.Helper()
	x := &rxRing{ring: r.newRing(false, q, log)}
	x.RxqEntryFields = nicspec.RxqEntryFields{
		Enable: 1, LogSize: uint8(log), RingBase: x.Base, CqBase: x.CQ, PayBufSize: nicspec.FrameMax, HdrBufSize: 256,
	}
	for _, mod := range []func(*nicspec.RxqEntryFields){r.rxMod, mod} {
		if mod != nil {
			mod(&x.RxqEntryFields)
		}
	}
	r.commit(nicspec.TableRxq, q, encode(&x.RxqEntryFields, nicspec.RxqEntrySize))
	r.rx[q] = x
	return x
}

// openTx enables a transmit queue.
func (r *rig) openTx(q, log int) *txRing {
	r.t.Helper()
	x := &txRing{ring: r.newRing(true, q, log)}
	x.TxqEntryFields = nicspec.TxqEntryFields{Enable: 1, LogSize: uint8(log), RingBase: x.Base, CqBase: x.CQ}
	if r.txMod != nil {
		r.txMod(&x.TxqEntryFields)
	}
	r.commit(nicspec.TableTxq, q, encode(&x.TxqEntryFields, nicspec.TxqEntrySize))
	r.tx[q] = x
	return x
}

func encode(f interface{ Encode([]byte) }, n int) []byte {
	b := make([]byte, n)
	f.Encode(b)
	return b
}

// disable turns a queue off and waits until it is.
func (r *rig) disable(t nicspec.Table, q int) {
	r.t.Helper()
	r.commit(t, q, make([]byte, nicspec.RxqEntrySize))
	r.flush() // its last entries
}

// buffers takes room for a frame from both memories: header and payload buffer, at odd offsets if asked for.
func (r *rig) buffers(skewH, skewP int) (hdr, pay uint64) {
	return r.alloc(nicspec.EndpointArm, nicspec.FrameMax+128, 64) + uint64(skewH),
		r.alloc(nicspec.EndpointHost, nicspec.FrameMax+128, 64) + uint64(skewP)
}

// put writes a descriptor into its ring.
func (r *rig) put(x *rxRing, hdr, pay uint64) {
	r.t.Helper()
	d := nicspec.RxDescFields{HdrAddr: hdr, PayAddr: pay}
	r.store(x.NextSlot(), encode(&d, nicspec.RxDescBytes))
	x.posted = append(x.posted, [2]uint64{hdr, pay})
}

// post posts n descriptors with buffers of their own and rings the doorbell.
func (r *rig) post(x *rxRing, n int) {
	r.t.Helper()
	for i := range n {
		h, p := r.buffers(i*7%64, i*5%64)
		r.put(x, h, p)
	}
	r.tell(&x.ring)
}

// next takes the next completion entry of a ring, nil if there is none yet.
func (r *rig) next(g *ring) []byte {
	r.t.Helper()
	e := r.load(g.NextCqe(), nicspec.CqeBytes)
	if e[0] == 0 || !g.Take(e) {
		return nil
	}
	r.flush()
	return e
}

// rxCqe waits for the next completion entry of a receive queue.
func (r *rig) rxCqe(x *rxRing) nicspec.RxCqe {
	r.t.Helper()
	return r.cqe(&x.ring, "receive")
}

// txCqe waits for the next completion entry of a transmit queue.
func (r *rig) txCqe(x *txRing) nicspec.TxCqe {
	r.t.Helper()
	return r.cqe(&x.ring, "transmit")
}

func (r *rig) cqe(g *ring, what string) []byte {
	r.t.Helper()
	var e []byte
	r.until("completion entry of "+what+" queue", func() bool { e = r.next(g); return e != nil })
	return e
}
