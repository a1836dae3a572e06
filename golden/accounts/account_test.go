package accounts

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// A frame that came in after the window of a write must see the write; a frame delivered before the write must not;
// a frame in between may see either [A5].
func TestAccountWindow(t *testing.T) {
	const wrote = 1000
	for _, x := range []struct {
		last, out  int64
		fast, slow bool
	}{
		{wrote - 50, wrote - 1, false, true},
		{wrote - 50, wrote, true, true},
		{wrote + nicspec.VisibleCycles, wrote + 500, true, true},
		{wrote + nicspec.VisibleCycles + 1, wrote + 500, true, false},
	} {
		for _, slow := range []bool{false, true} {
			a := Account{states: make([]state, 1), since: never, writes: []write{{cycle: wrote, credit: 1}}}
			ok := a.step(&FrameFacts{Last: x.last, Out: x.out, Drew: true, Slow: slow})
			require.Equal(t, slow && x.slow || !slow && x.fast, ok, "%+v, slow %v", x, slow)
		}
	}
}

// Once a frame has shown which writes came before it, later frames are checked against that order alone: credit that
// has been drawn cannot be drawn again.
func TestAccountKeepsWhatFramesShow(t *testing.T) {
	a := Account{states: []state{{Account: core.Account{Balance: 1}}}, since: never,
		writes: []write{{cycle: 1000, credit: 1<<30 | 5}, {cycle: 1001, credit: 1}}}
	take := func(seq uint32, slow bool) bool {
		return a.step(&FrameFacts{Last: 990, Out: 1010, Drew: true, Seq: seq, Slow: slow})
	}
	require.True(t, take(0, true), "between the writes")
	require.True(t, take(1, false), "after both")
	require.False(t, take(2, false), "and the credit is gone")
	require.True(t, take(2, true))
	require.Len(t, a.states, 1)
	require.Equal(t, state{core.Account{Drawn: 1, Seq: 3}, 2}, a.states[0])
}

// A dropped frame can switch a latching account to the slow path [A2], so a later frame may take that path. A frame
// that certainly reached the account can only be dropped for a cause on the path, fast or slow, that the account's
// state selects.
func TestDroppedFrameLatches(t *testing.T) {
	for _, others := range []bool{false, true} {
		a := Account{states: []state{{Account: core.Account{Latch: true}}}, since: never,
			writes: []write{{cycle: 1000, credit: 5}}}
		require.Equal(t, others, a.step(&FrameFacts{Last: 2000, Out: 2010, Others: others, Drew: true, Slow: true}))
	}
	a := Account{states: []state{{Account: core.Account{Latch: true}}}, since: never}
	k := FrameFacts{Last: 10, Out: 20, Certain: true, FastCauses: 1, SlowCauses: 0}
	require.False(t, a.step(&k), "no cause on the slow way: it had to be delivered")
	k = FrameFacts{Last: 10, Out: 20, Certain: true, FastCauses: 1, SlowCauses: 2}
	require.True(t, a.step(&k))
	require.EqualValues(t, 2, k.why)
	require.True(t, a.states[0].Slow)
}

// A frame that came in after the window of a table write shows that the write took effect, even if no frame with an
// earlier number is missing.
func TestAccountSetBeforeAFrame(t *testing.T) {
	a := &Account{states: []state{{Account: core.Account{Seq: 1}}}, since: never, doubtTo: never,
		seen: make([]latest, 1)}
	a.Written(578, 0, &core.Account{Balance: 1, Latch: true})
	a.Delivered(Event{Frame: 1, Last: 719, Out: 736})
	e, ok := a.Next(RxState{Now: 736, Oldest: 736, Linger: 1 << 14})
	require.True(t, ok)
	require.True(t, a.Follow(&e, false))
	_, left := a.Left()
	require.False(t, left)
	require.Equal(t, []state{{core.Account{Latch: true, Drawn: 1, Seq: 1}, 1}}, a.states)
}

// Next returns delivered frames in the order of account_seq, in whatever order they were delivered; a frame whose
// predecessor is missing waits.
func TestTurns(t *testing.T) {
	build := nicspec.DefaultBuild()
	build.Parts |= nicspec.PartAccounts
	a := &New(&build)[0]
	a.Written(0, 10, nil)
	x := RxState{Now: 1000, Oldest: 1000}
	var got []uint32
	take := func() {
		for e, ok := a.Next(x); ok; e, ok = a.Next(x) {
			got = append(got, e.Seq)
			require.True(t, a.Follow(&e, false))
		}
	}
	for _, seq := range []uint32{2, 1, 4, 0} {
		a.Delivered(Event{Seq: seq, Frame: seq, Last: 500, Out: 600})
		take()
	}
	require.Equal(t, []uint32{0, 1, 2}, got)
	require.EqualValues(t, 3, a.Seq())
	e, left := a.Left()
	require.True(t, left)
	require.EqualValues(t, 4, e.Seq)
	_, wrong := a.After(&Event{Frame: 2})
	require.True(t, wrong, "frame 2 came before")
	require.False(t, a.Sure(0, 1, 500), "a later frame of the port was followed")
}

// A read sees the writes accepted before it, and any number of the frames under way [A5].
func TestRange(t *testing.T) {
	a := &Account{states: []state{{Account: core.Account{Balance: 5, Seq: 7}}}, since: never, Pending: 2,
		writes: []write{{cycle: 100, credit: 4}}}
	for asked, want := range map[int64][2]uint32{99: {2, 9}, 100: {6, 9}} {
		c := a.Range(asked, 1)
		for v := range uint32(12) {
			require.Equal(t, v >= want[0] && v <= want[1], c.Balance.Has(v), "asked in cycle %d, balance %d", asked, v)
		}
		require.Equal(t, "7 to 10", c.Seq.String())
		require.True(t, c.State(false))
		require.False(t, c.State(true))
	}
}
