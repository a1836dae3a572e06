package kit

import (
	"encoding/binary"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/stack/driver"
)

// Command carries out a table command and returns its status.
func (r *Rig) Command(op nicspec.TableOp, t nicspec.Table, index int, entry []byte) nicspec.TableStatus {
	r.T.Helper()
	r.CommandLater(op, t, index, entry)
	return r.CommandEnd()
}

// CommandLater starts a table command without waiting for its end; CommandEnd waits.
func (r *Rig) CommandLater(op nicspec.TableOp, t nicspec.Table, index int, entry []byte) {
	r.T.Helper()
	r.Stage(entry)
	r.Write(nicspec.RegTblCmd, CommandWord(op, t, index))
}

// Stage writes TBL_DATA, two words at a time.
func (r *Rig) Stage(entry []byte) {
	r.T.Helper()
	if len(entry)%8 > 0 {
		entry = append(entry[:len(entry):len(entry)], make([]byte, 8-len(entry)%8)...)
	}
	for i := 0; i < len(entry); i += 8 {
		r.Write2(nicspec.RegTblData(i/4), binary.LittleEndian.Uint32(entry[i:]),
			binary.LittleEndian.Uint32(entry[i+4:]))
	}
}

func CommandWord(op nicspec.TableOp, t nicspec.Table, index int) uint32 {
	return uint32(nicspec.NewTblCmd(op, t, index))
}

// CommandEnd waits for the end of a table command and returns its status.
func (r *Rig) CommandEnd() nicspec.TableStatus {
	r.T.Helper()
	var c nicspec.TblCmdReg
	r.Until("the table command ends", func() bool {
		c = nicspec.TblCmdReg(r.Read(nicspec.RegTblCmd))
		return !c.Busy()
	})
	return nicspec.TableStatus(c.Status())
}

// Commit writes a table entry and fails the test if the command is refused.
func (r *Rig) Commit(t nicspec.Table, index int, entry []byte) {
	r.T.Helper()
	require.Equal(r.T, nicspec.TableStatusOk, r.Command(nicspec.TableOpWrite, t, index, entry), "%v %d", t, index)
}

// Entry reads a table entry and returns all of TBL_DATA.
func (r *Rig) Entry(t nicspec.Table, index int) []byte {
	r.T.Helper()
	require.Equal(r.T, nicspec.TableStatusOk, r.Command(nicspec.TableOpRead, t, index, nil), "%v %d", t, index)
	return r.Staged()
}

// Staged reads TBL_DATA.
func (r *Rig) Staged() []byte {
	r.T.Helper()
	b, left := make([]byte, 4*nicspec.TableWords), 0
	for i := 0; i < nicspec.TableWords; i += 2 {
		left++
		r.ReadLater(nicspec.RegTblData(i), 8, func(v uint64) { binary.LittleEndian.PutUint64(b[4*i:], v); left-- })
	}
	r.Until("TBL_DATA is read", func() bool { return left == 0 })
	return b
}

// Ring is the common part of receive and transmit queues.
type Ring = driver.RawQueue

// RxRing is an enabled receive queue.
type RxRing struct {
	Ring
	nicspec.RxqEntryFields
	Posted [][2]uint64 // header and payload buffer of each descriptor since the queue was enabled
}

// TxRing is an enabled transmit queue.
type TxRing struct {
	Ring
	nicspec.TxqEntryFields
}

// newRing clears the completion ring, so that no old entry is taken for a new one.
func (r *Rig) newRing(tx bool, q, log int) Ring {
	r.T.Helper()
	g := driver.NewRawQueue(tx, q, log)
	g.Base = r.Alloc(q%2, g.Bytes(), 64)
	g.CQ = r.Alloc((q+1)%2, g.CQBytes(), 64)
	r.Store(g.CQ, make([]byte, g.CQBytes()))
	return g
}

// OpenRx enables a receive queue with a ring of 2^log entries. Whole frames go to one buffer unless
// mod changes that.
func (r *Rig) OpenRx(q, log int, mod func(*nicspec.RxqEntryFields)) *RxRing {
	r.T.Helper()
	x := &RxRing{Ring: r.newRing(false, q, log)}
	x.RxqEntryFields = nicspec.RxqEntryFields{
		Enable: 1, LogSize: uint8(log), RingBase: x.Base, CqBase: x.CQ, PayBufSize: nicspec.FrameMax, HdrBufSize: 256,
	}
	for _, mod := range []func(*nicspec.RxqEntryFields){r.RxMod, mod} {
		if mod != nil {
			mod(&x.RxqEntryFields)
		}
	}
	r.Commit(nicspec.TableRxq, q, Encode(&x.RxqEntryFields, nicspec.RxqEntrySize))
	r.Rx[q] = x
	return x
}

// OpenTx enables a transmit queue.
func (r *Rig) OpenTx(q, log int) *TxRing {
	r.T.Helper()
	x := &TxRing{Ring: r.newRing(true, q, log)}
	x.TxqEntryFields = nicspec.TxqEntryFields{Enable: 1, LogSize: uint8(log), RingBase: x.Base, CqBase: x.CQ}
	if r.TxMod != nil {
		r.TxMod(&x.TxqEntryFields)
	}
	r.Commit(nicspec.TableTxq, q, Encode(&x.TxqEntryFields, nicspec.TxqEntrySize))
	r.Tx[q] = x
	return x
}

func Encode(f interface{ Encode([]byte) }, n int) []byte {
	b := make([]byte, n)
	f.Encode(b)
	return b
}

// Disable turns a queue off and waits until it is off.
func (r *Rig) Disable(t nicspec.Table, q int) {
	r.T.Helper()
	r.Commit(t, q, make([]byte, nicspec.RxqEntrySize))
	r.flush() // until the queue's last entries are in memory
}

// Buffers reserves buffers for a frame in both memories, header and payload, each at the given odd
// offset.
func (r *Rig) Buffers(skewH, skewP int) (hdr, pay uint64) {
	return r.Alloc(nicspec.EndpointArm, nicspec.FrameMax+128, 64) + uint64(skewH),
		r.Alloc(nicspec.EndpointHost, nicspec.FrameMax+128, 64) + uint64(skewP)
}

// Put writes a descriptor into its ring.
func (r *Rig) Put(x *RxRing, hdr, pay uint64) {
	r.T.Helper()
	d := nicspec.RxDescFields{HdrAddr: hdr, PayAddr: pay}
	r.Store(x.NextSlot(), Encode(&d, nicspec.RxDescBytes))
	x.Posted = append(x.Posted, [2]uint64{hdr, pay})
}

// Post posts n descriptors with buffers of their own and rings the doorbell.
func (r *Rig) Post(x *RxRing, n int) {
	r.T.Helper()
	for i := range n {
		h, p := r.Buffers(i*7%64, i*5%64)
		r.Put(x, h, p)
	}
	r.RingDoorbell(&x.Ring)
}

// Next takes the next completion entry of a ring; it returns nil if none has arrived yet.
func (r *Rig) Next(g *Ring) []byte {
	r.T.Helper()
	e := r.Load(g.NextCqe(), nicspec.CqeBytes)
	if e[0] == 0 || !g.Take(e) {
		return nil
	}
	r.flush()
	return e
}

// RxCqe waits for the next completion entry of a receive queue.
func (r *Rig) RxCqe(x *RxRing) nicspec.RxCqe {
	r.T.Helper()
	return r.cqe(&x.Ring, "receive")
}

// TxCqe waits for the next completion entry of a transmit queue.
func (r *Rig) TxCqe(x *TxRing) nicspec.TxCqe {
	r.T.Helper()
	return r.cqe(&x.Ring, "transmit")
}

func (r *Rig) cqe(g *Ring, what string) []byte {
	r.T.Helper()
	var e []byte
	r.Until("completion entry of "+what+" queue", func() bool { e = r.Next(g); return e != nil })
	return e
}
