package contract

import (
	"slices"

	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
)

// messagesUnseen has an entry wait to be reported by time: busy is 1 all along, and STATUS 0.
func messagesUnseen(r *rig) {
	const units = 200
	m := r.withMessages()
	r.receiveAll(1)
	x, a := m.openRx(1, 3, 40, units)
	r.post(x, 1)
	first := r.ordinal()
	r.play(frameOf(100))
	r.delivered(x, first, nicspec.RuleNone)
	r.quiet()
	r.run(64 * units / 2)
	require.Zero(r.t, r.read(nicspec.RegStatus))
	r.synced()
	require.Zero(r.t, a.messages, "the message is still to come")
	require.Less(r.t, r.idleAt, a.oldest, "busy is 1 until the message has left")
	m.settled()
	r.busyFalls()
}

// messagesLarge has numbers that need more than eight bits: as many entries as make a message due, but for one, and then that
// one; and a time that is longer than most.
func messagesLarge(r *rig) {
	const count, units = 300, 300
	m := r.withMessages()
	r.txSetup(9, 2)
	nop := nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true}
	x, a := m.openTx(1, 9, count, 0)
	r.transmit(x, slices.Repeat([]nicspec.WqeFields{nop}, count-1)...)
	m.settled()
	require.Zero(r.t, a.messages)
	r.transmit(x, nop)
	m.settled()
	require.Equal(r.t, 1, a.messages)
	y, b := m.openTx(2, 3, count, units)
	r.transmit(y, nop)
	m.settled()
	require.Equal(r.t, 1, b.messages)
	require.LessOrEqual(r.t, b.last-b.oldest, int64(64*units+2*1024), "cycles from the entry to its message")
}
