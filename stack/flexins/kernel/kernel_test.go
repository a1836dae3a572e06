package kernel

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/stack/verbs"
)

func newModule(t *testing.T, cores int) *Module {
	m, err := New(cores, verbs.DeviceAttr{MaxMR: 4, MaxCQ: 4, MaxQP: 4, MaxSRQ: 4})
	require.NoError(t, err)
	return m
}

// TestProcessesAreApart checks that a process can name only objects that it created: those of others do not exist for
// it, though their numbers are taken.
func TestProcessesAreApart(t *testing.T) {
	m := newModule(t, 1)
	mine, other := m.Open(), m.Open()
	n, err := mine.Create("alloc_pd", verbs.KindPD)
	require.NoError(t, err)
	pd := verbs.Object{Kind: verbs.KindPD, Number: n}
	require.True(t, mine.Has(pd))
	require.False(t, other.Has(pd))
	for name, err := range map[string]error{
		"destroy": other.Destroy("dealloc_pd", pd),
		"use":     other.Add("reg_mr", verbs.Object{Kind: verbs.KindMR, Number: 3}, pd),
		"end":     func() error { _, err := other.Create("create_ah", verbs.KindAH, pd); return err }(),
	} {
		require.ErrorIs(t, err, verbs.EINVAL, name)
		require.ErrorContains(t, err, "PD 1 does not exist", name)
	}
	require.NoError(t, mine.Destroy("dealloc_pd", pd), "what was refused uses nothing")
	require.ErrorIs(t, mine.Destroy("dealloc_pd", pd), verbs.EINVAL)

	n, err = other.Create("alloc_pd", verbs.KindPD)
	require.NoError(t, err)
	require.Equal(t, pd.Number, n, "the number is free again")
	require.False(t, mine.Has(pd), "it is another object now")
}

// TestProcessesShareTheCores checks that queue pairs of all processes are spread over the data cores (FN 3.2), and that
// refused ones take no core.
func TestProcessesShareTheCores(t *testing.T) {
	m := newModule(t, 2)
	a, b := m.Open(), m.Open()
	var cores []int
	var numbers []uint32
	for i := range 4 {
		p := []*Process{a, b}[i%2]
		_, _, err := p.QP(verbs.QPTRC, 0, false, verbs.Object{Kind: verbs.KindPD, Number: 9})
		require.ErrorIs(t, err, verbs.EINVAL)
		n, core, err := p.QP(verbs.QPTRC, 0, false)
		require.NoError(t, err)
		require.Equal(t, uint32(core), n&m.Mask())
		cores, numbers = append(cores, core), append(numbers, n)
	}
	require.ElementsMatch(t, []int{0, 0, 1, 1}, cores)
	require.ErrorIs(t, b.EndQP(verbs.QPTRC, numbers[0], false), verbs.EINVAL)
	require.NoError(t, a.EndQP(verbs.QPTRC, numbers[0], false))
	_, core, err := b.QP(verbs.QPTRC, 0, false)
	require.NoError(t, err)
	require.Equal(t, cores[0], core, "the core with the fewest")
}
