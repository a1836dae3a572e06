package provider_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/simcore"
	"nictwin/stack/ceio/bypass"
	"nictwin/stack/driver"
	"nictwin/stack/rnicverbs/provider"
	"nictwin/stack/verbs/verbstest"
)

// TestContractWithAccounts runs the verbs contract with credits for what queue pairs receive: as many as they need, one
// a queue pair, and none. Applications notice nothing.
func TestContractWithAccounts(t *testing.T) {
	const slowMemory = 64 << 20 // behind the memory of the contract's applications
	for name, credits := range map[string]int{"plenty": 64 << 10, "scarce": 64, "none": 0} {
		var all []*bypass.Controller
		verbstest.RunContract(t, name, func(t *testing.T) *verbstest.Bench {
			b, devs := newBenchOn(t, func(_ *simcore.Engine, b driver.Bus) driver.Bus { return b })
			for i, d := range devs {
				s := bypass.DefaultSpec()
				s.Flows, s.Credits, s.Batch, s.LogSlots = 64, credits, 1, 6
				c, err := bypass.New(d, s, mem.Bus(0, slowMemory))
				require.NoError(t, err)
				b.Sides[i].Context.(*provider.Context).SetAccounts(c)
				all = append(all, c)
			}
			return b
		})
		copies := uint64(0)
		for _, c := range all {
			copies += c.Stats().Copies
		}
		require.Equal(t, name != "plenty", copies > 0, "%s: %d copies", name, copies)
	}
}
