package simcore

import "testing"

func BenchmarkEventsOwn(b *testing.B) {
	for range b.N {
		for _, n := range []int{1, 10, 100, 1000, 10000} {
			o, a := MeasureEvents(n)
			b.Logf("%d: own %.1f akita %.1f ratio %.2f", n, o, a, a/o)
		}
	}
}

func BenchmarkHops(b *testing.B) {
	for range b.N {
		o, a := MeasureTwoHops()
		b.Logf("own %.1f akita %.1f ratio %.2f", o, a, a/o)
	}
}
