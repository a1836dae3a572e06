package akita

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMeasuredWorkIsDone runs each measurement for a short time: the measured boards check their own results. It does
// not judge the times.
func TestMeasuredWorkIsDone(t *testing.T) {
	assert.Positive(t, ownHops(100))
	assert.Positive(t, akitaHops(100))
	assert.Positive(t, ownEvents(100, 1000))
	assert.Positive(t, akitaEvents(100, 1000))
	assert.Panics(t, func() { Events(0) })
}

// BenchmarkAgainstAkita reports nictwin's time, Akita's and their ratio, measured alternately in one run.
func BenchmarkAgainstAkita(b *testing.B) {
	report := func(b *testing.B, own, akita float64) {
		b.ReportMetric(own, "own-ns")
		b.ReportMetric(akita, "akita-ns")
		b.ReportMetric(akita/own, "ratio")
		b.ReportMetric(0, "ns/op")
	}
	for name, pending := range map[string]int{"Events1": 1, "Events100": 100, "Events10000": 10000} {
		b.Run(name, func(b *testing.B) {
			own, akita := Events(pending)
			report(b, own, akita)
		})
	}
	b.Run("TwoHops", func(b *testing.B) {
		own, akita := TwoHops()
		report(b, own, akita)
	})
	b.Run("Switch", func(b *testing.B) {
		own, akita, err := Switch()
		require.NoError(b, err)
		report(b, own, akita)
	})
}

// BenchmarkLinkSwitchLink measures one TLP over a link, a switch and another link.
func BenchmarkLinkSwitchLink(b *testing.B) {
	own, err := ownSwitch()
	require.NoError(b, err)
	_, err = own(1000)
	require.NoError(b, err)
	b.ReportAllocs()
	b.ResetTimer()
	_, err = own(b.N)
	require.NoError(b, err)
}

// TestSwitchCarriesEverything checks that both sides of the switch measurement deliver every TLP, and that nictwin's
// side allocates nothing.
func TestSwitchCarriesEverything(t *testing.T) {
	for _, build := range []func() (side, error){ownSwitch, akitaSwitch} {
		play, err := build()
		require.NoError(t, err)
		_, err = play(2000)
		require.NoError(t, err)
	}
	own, err := ownSwitch()
	require.NoError(t, err)
	_, err = own(5000)
	require.NoError(t, err)
	few := testing.AllocsPerRun(5, func() { _, err = own(100) })
	many := testing.AllocsPerRun(5, func() { _, err = own(10_000) })
	require.NoError(t, err)
	require.Equal(t, few, many, "per run, not per TLP")
}
