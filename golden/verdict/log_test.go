package verdict

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/ether"
	"nictwin/models/nic/boundary"
)

func newLog(most int) (l *Log, told *[]*Mismatch) {
	told = &[]*Mismatch{}
	return NewLog("A", most, func(m *Mismatch) { *told = append(*told, m) }, 1, 2, 2), told
}

// All mismatches are counted by kind. The first ones, as many as requested, are kept in full and reported to the
// hook.
func TestMismatchesAreCountedAndKept(t *testing.T) {
	l, told := newLog(2)
	for i := range 5 {
		l.At(&boundary.Crossing{Last: int64(10 * i)})
		l.Fail(Txq(i%2), "T3", "status", "0", "5", "entry 7")
	}
	l.FailOf(Subject{Frame: &FrameID{N: 9}, Index: 4}, Port(0), "F6", "frame", "none", "one")
	require.EqualValues(t, 6, l.Mismatches())
	require.Equal(t, l.List(), *told)
	require.Len(t, l.List(), 2)
	require.Equal(t, "NIC A, cycle 10, txq 1 [T3] status: expected 0, got 5", l.List()[1].String())
	require.Equal(t, NoIndex, l.List()[0].Index)
	require.Equal(t, []Tally{
		{Rule: "T3", Domain: "txq 0", Field: "status", Count: 3},
		{Rule: "T3", Domain: "txq 1", Field: "status", Count: 2},
		{Rule: "F6", Domain: "port 0", Field: "frame", Count: 1},
	}, l.Tallies())
}

// FirstMismatch returns the first mismatch since Begin.
func TestFirstMismatchOfACrossing(t *testing.T) {
	l, _ := newLog(9)
	l.Fail(Device, "P2", "Tag", "1", "2")
	l.Begin()
	require.Nil(t, l.FirstMismatch())
	m := l.Fail(Rxq(1), "R10", "status", "0", "1")
	l.Fail(Rxq(0), "R10", "status", "0", "1")
	require.Same(t, m, l.FirstMismatch())
}

// A mismatch must show the latest crossings of its own domain, and of no other.
func TestHistoryIsOfTheDomain(t *testing.T) {
	l, _ := newLog(9)
	for i := range historyLen + 4 {
		l.At(&boundary.Crossing{Kind: boundary.FrameIn, First: int64(i), Last: int64(i),
			Frame: &ether.Frame{Data: make([]byte, 64)}})
		l.AddCrossing(Rxq(1))
	}
	require.Empty(t, l.Fail(Rxq(0), "R10", "status", "0", "1").Past)
	m := l.Fail(Rxq(1), "R10", "status", "0", "1")
	require.Len(t, m.Past, historyLen)
	require.EqualValues(t, historyLen+3, l.Latest(Rxq(1)))
}

// If notes are left out, the list ends with their number. A bound that was never exceeded is not listed.
func TestNotesAndLimits(t *testing.T) {
	l, _ := newLog(1)
	l.At(&boundary.Crossing{Last: 3})
	for range maxNotes + 8 {
		l.Note("a completion of %d B", 4)
	}
	list := l.NoteList()
	require.Len(t, list, maxNotes+1)
	require.Equal(t, "cycle 3: a completion of 4 B", list[0])
	require.Equal(t, "40 notes in all", list[maxNotes])
	require.Empty(t, l.Limits())
	l.CountLimit(LimitStops, 2)
	require.Equal(t, []Limit{{LimitNames[LimitStops], 2}}, l.Limits())
}
