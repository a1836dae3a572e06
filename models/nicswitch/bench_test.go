package nicswitch

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Prints both sides and their ratio.
func BenchmarkAgainstAkita(b *testing.B) {
	own, akita, err := MeasureHops()
	require.NoError(b, err)
	b.ReportMetric(own, "own-ns")
	b.ReportMetric(akita, "akita-ns")
	b.ReportMetric(akita/own, "ratio")
	b.ReportMetric(0, "ns/op")
}

// One TLP over link, switch and link.
func BenchmarkLinkSwitchLink(b *testing.B) {
	own, err := ownHops()
	require.NoError(b, err)
	_, err = own(1000)
	require.NoError(b, err)
	b.ReportAllocs()
	b.ResetTimer()
	_, err = own(b.N)
	require.NoError(b, err)
}

// Both sides of the measurement carry every TLP, and ours allocates nothing on the way.
func TestHopsCarryEverything(t *testing.T) {
	for _, build := range []func() (side, error){ownHops, akitaHops} {
		play, err := build()
		require.NoError(t, err)
		_, err = play(2000)
		require.NoError(t, err)
	}
	own, err := ownHops()
	require.NoError(t, err)
	_, err = own(5000)
	require.NoError(t, err)
	few := testing.AllocsPerRun(5, func() { _, err = own(100) })
	many := testing.AllocsPerRun(5, func() { _, err = own(10_000) })
	require.NoError(t, err)
	require.Equal(t, few, many, "per run, not per TLP")
}
