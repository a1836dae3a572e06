package counters

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
)

func between(b *Bounds, index int) [2]uint64 {
	lo, hi := b.Between(index)
	return [2]uint64{lo, hi}
}

// Each method that counts a step must move the right bounds.
func TestBounds(t *testing.T) {
	b := new(Bounds)
	for _, x := range []struct {
		name string
		do   func()
		want [2]uint64
	}{
		{"it may have been stepped", func() { b.May(3, 2) }, [2]uint64{0, 2}},
		{"once it was", func() { b.Confirm(3, 1) }, [2]uint64{1, 2}},
		{"and for sure again", func() { b.Sure(3, 5) }, [2]uint64{6, 7}},
		{"a step that was sure is in doubt", func() { b.Unsure(3) }, [2]uint64{5, 7}},
		{"a step is taken back", func() { b.Withdraw(3) }, [2]uint64{4, 6}},
	} {
		x.do()
		require.Equal(t, x.want, between(b, 3), x.name)
		require.Equal(t, [2]uint64{}, between(b, 4), x.name)
	}
}

// Least must include a step for reads accepted more than VisibleCycles after it [G5], even in a run that reads the
// counter rarely.
func TestStepsBecomeVisible(t *testing.T) {
	const steps = 5000
	b := new(Bounds)
	b.Step(7, 3, 100)
	b.Settle(100 + nicspec.VisibleCycles)
	require.Zero(t, b.Least(7))
	b.Settle(101 + nicspec.VisibleCycles)
	require.EqualValues(t, 3, b.Least(7))
	for i := range int64(steps) {
		b.Step(8, 1, 1000+i)
		b.Trim(1000 + i)
	}
	require.Less(t, b.waiting.Len(), 1024, "steps that have settled are not kept")
	b.Settle(1 << 40)
	require.EqualValues(t, steps, b.Least(8))
	require.Equal(t, [2]uint64{steps, steps}, between(b, 8))
}

// Latest returns the result of the latest read.
func TestReads(t *testing.T) {
	b := new(Bounds)
	_, _, known := b.Latest(0)
	require.False(t, known)
	b.Read(0, 4, 10)
	b.Read(0, 5, 20)
	value, asked, known := b.Latest(0)
	require.True(t, known)
	require.EqualValues(t, 5, value)
	require.EqualValues(t, 20, asked)
}

// Every counter has a name and two words in BAR0; At finds no counter anywhere else.
func TestPlaces(t *testing.T) {
	index, word, ok := At(nicspec.RegCounterBase + 8*5 + 4)
	require.Equal(t, []any{5, 1, true}, []any{index, word, ok})
	index, word, ok = At(nicspec.RegRuleHitsBase)
	require.Equal(t, []any{HitsBase, 0, true}, []any{index, word, ok})
	require.Equal(t, "RULE_HITS[0]", NameOf(index))
	_, _, ok = At(nicspec.RegCtrl)
	require.False(t, ok)
	names := map[string]bool{}
	for i := range Num {
		if n := NameOf(i); n != "" {
			require.False(t, names[n], n)
			names[n] = true
		}
	}
}

func TestDrops(t *testing.T) {
	m := Drop(nicspec.CntRxDropRunt)
	c, ok := m.Single()
	require.True(t, ok)
	require.Equal(t, nicspec.CntRxDropRunt, c)
	m |= Pause
	_, ok = m.Single()
	require.False(t, ok)
	require.True(t, m.Has(nicspec.CntRxPause))
	require.False(t, m.Has(nicspec.CntRxDropRule))
	require.Equal(t, "RX_DROP_RUNT or RX_PAUSE", m.String())
	require.Equal(t, "no drop", Drops(0).String())
	require.Len(t, Fates, len(nicspec.DropCounters)+1)
}
