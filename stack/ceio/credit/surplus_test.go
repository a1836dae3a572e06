package credit

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSurplus checks, in every history of up to 5 events, that a flow gives the credits that Surplus says, or all that
// it has if these are fewer.
func TestSurplus(t *testing.T) {
	const flows = 3
	compared := 0
	_, _, err := explore(5, flows, 5, Options{}, func(l *Ledger) error {
		for f := range flows {
			before, most := balances(l), make([]int, flows)
			next, on := l.copied(), !l.Active(f)
			if l.Surplus(most, on, f); on {
				next.Activate(f)
			} else {
				next.Deactivate(f)
			}
			for i, was := range before {
				if gave := was - next.Balance(i); gave > 0 || most[i] > 0 {
					require.Equal(t, min(most[i], was), gave, "flow %d of %v", i, before)
					compared++
				}
			}
			require.Equal(t, before, balances(l), "Surplus changes nothing")
		}
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, compared, 100)
}
