package credit

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func balances(l *Ledger) (b []int) {
	for i := range l.flows {
		b = append(b, l.Balance(i))
	}
	return b
}

// TestArrivals checks Equations 1 and 2 and lines 1 to 16 of Algorithm 1: shares of flows without credits in use.
func TestArrivals(t *testing.T) {
	l := New(3000, 6, Options{})
	l.Activate(0)
	require.Equal(t, []int{3000, 0, 0, 0, 0, 0}, balances(l), "the first flow gets all credits")
	l.Activate(1, 2, 3)
	require.Equal(t, []int{750, 750, 750, 750, 0, 0}, balances(l))
	l.Activate(4, 5)
	require.Equal(t, []int{500, 500, 500, 500, 500, 500}, balances(l))
}

// TestDebts checks lines 8 to 25: a flow whose balance does not suffice divides it, owes the rest, and pays from
// credits that come back.
func TestDebts(t *testing.T) {
	l := New(3000, 6, Options{})
	l.Activate(0, 1, 2, 3)
	require.True(t, l.Take(0, 650)) // keeps 100 of the 250 that it has to give
	l.Activate(4, 5)
	require.Equal(t, []int{0, 500, 500, 500, 425, 425}, balances(l))
	require.Equal(t, []int{0, 0, 0, 0, 75, 75}, l.owes[0])
	l.Release(0, 101)
	require.Equal(t, []int{0, 500, 500, 500, 476, 475}, balances(l), "all is paid, the odd credit to one of them")
	l.Release(0, 549)
	require.Equal(t, []int{500, 500, 500, 500, 500, 500}, balances(l))
	require.NoError(t, l.Check())
}

// TestAsPrinted checks that the printed algorithm loses the credits of debts: 4 flows with all credits in use, then 2
// more.
func TestAsPrinted(t *testing.T) {
	left := func(o Options) int {
		l := New(3000, 6, o)
		l.Activate(0, 1, 2, 3)
		for i := range 4 {
			require.True(t, l.Take(i, 750))
		}
		l.Activate(4, 5)
		for i := range 4 {
			l.Release(i, 750)
		}
		sum := 0
		for _, b := range balances(l) {
			sum += b
		}
		return sum
	}
	require.Equal(t, 3000, left(Options{}))
	require.Equal(t, 0, left(Options{AsPrinted: true}))
}

// TestLost checks that unassigned credits are not lost, and that those are which Algorithm 1 as printed pays to nobody.
func TestLost(t *testing.T) {
	l := New(10, 2, Options{})
	require.Zero(t, l.Lost(), "all credits are unassigned")
	l.Activate(0)
	require.True(t, l.Take(0, 4))
	l.Deactivate(0)
	require.Zero(t, l.Lost(), "6 are unassigned, 4 in use")
	l = New(10, 2, Options{AsPrinted: true})
	l.Activate(0)
	require.True(t, l.Take(0, 10))
	l.Activate(1)
	l.Release(0, 10)
	require.Equal(t, 10, l.Lost(), "flow 0 owed 5 and paid all that it had, and flow 1 got none")
}
