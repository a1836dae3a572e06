package simcore

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The measured boards check their own results; the times are not judged.
func TestMeasuredWorkIsDone(t *testing.T) {
	assert.Positive(t, ownHops(100))
	assert.Positive(t, akitaHops(100))
	assert.Positive(t, ownEvents(100, 1000))
	assert.Positive(t, akitaEvents(100, 1000))
	assert.Panics(t, func() { MeasureEvents(0) })
}

// Prints both sides and their ratio, measured in one run.
func BenchmarkAgainstAkita(b *testing.B) {
	report := func(b *testing.B, own, akita float64) {
		b.ReportMetric(own, "own-ns")
		b.ReportMetric(akita, "akita-ns")
		b.ReportMetric(akita/own, "ratio")
		b.ReportMetric(0, "ns/op")
	}
	for name, pending := range map[string]int{"Events1": 1, "Events100": 100, "Events10000": 10000} {
		b.Run(name, func(b *testing.B) {
			own, akita := MeasureEvents(pending)
			report(b, own, akita)
		})
	}
	b.Run("TwoHops", func(b *testing.B) {
		own, akita := MeasureTwoHops()
		report(b, own, akita)
	})
}
