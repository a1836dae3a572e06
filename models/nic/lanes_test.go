package nic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
	"nictwin/models/sim/simcore"
)

// twoPorts returns a NIC with two ports, eight transmit queues, few slots and a gather buffer of
// 9,216 bytes per port.
func twoPorts(t *testing.T, slots int) *rig {
	o := defaultRig()
	o.spec.Ports, o.spec.Timing.TxInFlight, o.spec.Timing.TxBufBytes = 2, slots, 9216
	r := openedTx(t, o)
	h := r.host
	var cfg [nicspec.PortEntrySize]byte
	(&nicspec.PortEntryFields{RxPause: 1}).Encode(cfg[:])
	require.Equal(t, nicspec.TableStatusOk, h.Table(nicspec.TableOpWrite, nicspec.TablePortCfg, 0, cfg[:]))
	for q := range 8 {
		h.OpenTx(q, 4)
	}
	r.run()
	return r
}

// stop lets a pause frame of so many quanta arrive on port 0.
func (r *rig) stop(quanta uint16) {
	var f [nicspec.FrameMin]byte
	core.BuildPause(&nicspec.PortEntryFields{TxMode: nicspec.PauseModePause}, [6]byte{}, quanta, &f)
	r.peers[0].send(f[:])
}

// stoppedPort returns a NIC of twoPorts whose port 0 is paused for long. Queues 0 to 5 have more
// frames for that port than there is room for.
func stoppedPort(t *testing.T, slots int) *rig {
	r := twoPorts(t, slots)
	r.stop(60000)
	r.pass(simcore.Microsecond)
	for q := range 6 {
		r.sends(q, 0, 0, 0, 0)
	}
	r.pass(3 * simcore.Microsecond)
	require.Zero(t, r.nic.Regs().Dev(nicspec.CntTxWqe))
	return r
}

func (r *rig) pass(d simcore.Ps) { require.NoError(r.t, r.eng.RunUntil(r.eng.Now()+d)) }

const nothing = 0xff // in place of a port: the entry is a Nop

// sends posts, for each element of ports, an entry that sends on that port, and rings the doorbell.
func (r *rig) sends(q int, ports ...uint8) {
	for _, port := range ports {
		r.host.PostWqe(q, nictest.Wqe(1, nil, []nictest.Piece{{Key: testKey, Addr: 0, N: 1500}}, func(w nicspec.Wqe) {
			if w.SetPort(port); port == nothing {
				w.SetPort(0)
				w.SetOpcode(nicspec.OpcodeNop)
			}
		}))
	}
	r.host.RingTx(q)
}

// TestPortsApart: a stopped port delays neither other ports nor queues without entries for it, and
// the order within a queue is kept [T13, T1].
func TestPortsApart(t *testing.T) {
	r := stoppedPort(t, 4)
	regs := r.nic.Regs()
	r.sends(6, 1, nothing, 1, 2, 1, 1, 1, 1, nothing, 1)
	r.pass(5 * simcore.Microsecond)
	require.EqualValues(t, 10, regs.Dev(nicspec.CntTxWqe))
	require.EqualValues(t, 7, regs.Port(nicspec.CntTxFrames, 1))
	r.sends(7, 1, nothing, 0, 1, nothing)
	r.sends(6, 1, 1)
	r.pass(5 * simcore.Microsecond)
	require.EqualValues(t, 14, regs.Dev(nicspec.CntTxWqe))
	require.EqualValues(t, 10, regs.Port(nicspec.CntTxFrames, 1))
	require.Zero(t, regs.Port(nicspec.CntTxFrames, 0))
	r.run()
	require.EqualValues(t, 25, regs.Port(nicspec.CntTxFrames, 0))
	require.EqualValues(t, 11, regs.Port(nicspec.CntTxFrames, 1))
	require.EqualValues(t, 24+12+5, regs.Dev(nicspec.CntTxWqe))
	require.EqualValues(t, 1, regs.Dev(nicspec.CntTxErr))
	require.False(t, r.nic.Busy())
}

// TestWaitingQueueIsDisabled: a queue that waits for room in the lane of a stopped port stops
// waiting when it is disabled. Enabled again, it can send on the other port.
func TestWaitingQueueIsDisabled(t *testing.T) {
	r := stoppedPort(t, 4)
	h, regs := r.host, r.nic.Regs()
	h.Write32(nicspec.RegCtrl, 1)
	require.Equal(t, nicspec.TableStatusOk,
		h.Table(nicspec.TableOpWrite, nicspec.TableTxq, 5, make([]byte, nicspec.TxqEntrySize)))
	h.OpenTx(5, 4)
	h.Write32(nicspec.RegCtrl, 3)
	r.sends(5, 1, 1)
	r.pass(5 * simcore.Microsecond)
	require.EqualValues(t, 2, regs.Port(nicspec.CntTxFrames, 1))
	r.run()
	require.EqualValues(t, 20, regs.Port(nicspec.CntTxFrames, 0))
	require.False(t, r.nic.Busy())
}

// TestResetOfWaitingQueues: a reset ends a pause and frees the queues that wait in a lane [L2, L5].
func TestResetOfWaitingQueues(t *testing.T) {
	r := stoppedPort(t, 4)
	h, regs := r.host, r.nic.Regs()
	h.Write32(nicspec.RegCtrl, 1<<31)
	r.run()
	require.Zero(t, uint32(h.Reg(nicspec.RegCtrl, 1)))
	require.False(t, r.nic.Busy())
	sent := regs.Port(nicspec.CntTxFrames, 0)
	require.LessOrEqual(t, sent, uint64(4))
	h.Write32(nicspec.RegCtrl, 3)
	h.setKey(5, nicspec.KeyEntryFields{Valid: 1, RightRead: true, Variant: 0x5a, Length: testSpan, BusBase: testBus})
	for q := range 6 {
		h.OpenTx(q, 4)
		r.sends(q, uint8(q%2))
	}
	r.run()
	require.EqualValues(t, sent+3, regs.Port(nicspec.CntTxFrames, 0))
	require.EqualValues(t, 3, regs.Port(nicspec.CntTxFrames, 1))
}

// TestCompletionEntriesDoNotPileUp: entries that end as soon as they start do not run ahead of
// their completion entries. A ring read brings several entries, but each completion entry leaves in
// a TLP of its own.
func TestCompletionEntriesDoNotPileUp(t *testing.T) {
	o := defaultRig()
	o.link.Credits, o.link.CreditLatency = 1, 20*simcore.Nanosecond // at most one TLP in 20 ns
	r := openedTx(t, o)
	h, regs := r.host, r.nic.Regs()
	const log, n = 10, 1000
	h.OpenTx(0, log)
	nop := nictest.Wqe(1, nil, []nictest.Piece{{Key: testKey, Addr: 0, N: 64}},
		func(w nicspec.Wqe) { w.SetOpcode(nicspec.OpcodeNop); w.SetFComplete(true) })
	for range n {
		h.PostWqe(0, nop)
	}
	h.RingTx(0)
	most := 0
	for steps := 0; regs.Dev(nicspec.CntTxWqe) < n; steps++ {
		require.Less(t, steps, 100_000, "%d of %d entries have ended", regs.Dev(nicspec.CntTxWqe), n)
		r.pass(10 * simcore.Nanosecond)
		most = max(most, r.nic.out.cqes.Len())
	}
	require.GreaterOrEqual(t, most, maxTxCqes, "the entries come faster than theirs leave")
	require.LessOrEqual(t, most, maxTxCqes+o.spec.Timing.TxInFlight)
	r.run()
	for i := range n {
		require.EqualValues(t, i, h.TxCqe(0).Index())
	}
	require.False(t, r.nic.Busy())
}

// TestKeyGoesWhileEntriesWait: an entry that waits for room is decoded again when it starts, so a
// key invalidated meanwhile fails it [T3].
func TestKeyGoesWhileEntriesWait(t *testing.T) {
	const slots = 8 // more than the gather buffer has room for: six frames
	r := stoppedPort(t, slots)
	r.host.setKey(5, nicspec.KeyEntryFields{})
	r.run()
	regs := r.nic.Regs()
	started := regs.Port(nicspec.CntTxFrames, 0)
	require.EqualValues(t, 6, started, "9,216 B are room for six frames")
	require.EqualValues(t, 24, regs.Dev(nicspec.CntTxWqe))
	require.EqualValues(t, 24-started, regs.Dev(nicspec.CntTxErr))
	require.False(t, r.nic.Busy())
}

// TestNothingLeavesTheLine: an entry that sends nothing waits in the lane of a port, behind a frame
// of its queue. When that frame has left, the entry ends, even if the port is stopped again and
// another queue has taken the slot that the frame freed [T13].
func TestNothingLeavesTheLine(t *testing.T) {
	const slots = 4
	r := twoPorts(t, slots)
	regs := r.nic.Regs()
	r.stop(60000)
	r.sends(6, 0)
	r.pass(simcore.Microsecond)
	for q := range 6 {
		r.sends(q, 0, 0, 0, 0)
	}
	r.pass(simcore.Microsecond)
	r.sends(6, nothing, nothing, nothing)
	r.pass(3 * simcore.Microsecond)
	require.Zero(t, regs.Dev(nicspec.CntTxWqe))
	r.stop(0)
	r.pass(20 * simcore.Nanosecond) // the frame of queue 6 begins
	r.stop(60000)
	r.pass(5 * simcore.Microsecond)
	require.EqualValues(t, 1, regs.Port(nicspec.CntTxFrames, 0))
	require.EqualValues(t, 4, regs.Dev(nicspec.CntTxWqe))
	r.run()
	require.EqualValues(t, 25, regs.Port(nicspec.CntTxFrames, 0))
	require.False(t, r.nic.Busy())
}
