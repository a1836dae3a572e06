package registers

import (
	"slices"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// messagesUnseen leaves an entry without a message until the time limit has passed. Until then busy must be 1, and
// STATUS 0.
func messagesUnseen(r *kit.Rig) {
	const units = 200
	m := withMessages(r)
	r.ReceiveAll(1)
	x, a := m.openRx(1, 3, 40, units)
	r.Post(x, 1)
	first := r.Ordinal()
	r.Play(kit.FrameOf(100))
	r.Delivered(x, first, nicspec.RuleNone)
	r.Quiet()
	r.Run(64 * units / 2)
	require.Zero(r.T, r.Read(nicspec.RegStatus))
	r.Synced()
	require.Zero(r.T, a.messages, "no message has left yet")
	require.Less(r.T, r.IdleAt, a.oldest, "busy is 1 until the message has left")
	m.settled()
	r.BusyFalls()
}

// messagesLarge uses counts and time limits of more than eight bits: no message one entry before the count, one with
// the last entry, and one after a long time limit.
func messagesLarge(r *kit.Rig) {
	const count, units = 300, 300
	m := withMessages(r)
	r.TxSetup(9, 2)
	nop := nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true}
	x, a := m.openTx(1, 9, count, 0)
	r.Transmit(x, slices.Repeat([]nicspec.WqeFields{nop}, count-1)...)
	m.settled()
	require.Zero(r.T, a.messages)
	r.Transmit(x, nop)
	m.settled()
	require.Equal(r.T, 1, a.messages)
	y, b := m.openTx(2, 3, count, units)
	r.Transmit(y, nop)
	m.settled()
	require.Equal(r.T, 1, b.messages)
	require.LessOrEqual(r.T, b.last-b.oldest, int64(64*units+2*1024), "cycles from the entry to its message")
}
