package cpu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/memory/mem"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/simcore"
)

// BenchmarkStep measures the work for a packet: an entry, a header, a copy of 512 B, an answer and
// a doorbell.
func BenchmarkStep(b *testing.B) {
	e := simcore.NewEngine()
	space, err := mem.NewSpace(1<<20, 1<<20)
	require.NoError(b, err)
	step := newSteady(b, e, space)
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
}

// BenchmarkWake measures a wake beside sleeping loops: its cost must not grow with their number.
func BenchmarkWake(b *testing.B) {
	for name, loops := range map[string]int{"1 loop": 1, "2000 loops": 2000} {
		b.Run(name, func(b *testing.B) {
			e := simcore.NewEngine()
			x := newBench(b, e, plain(), 0)
			var last *cpu.Loop
			for range loops {
				l, err := x.core.Add(cpu.LoopSpec{Name: "L", Poll: 25}, func(*cpu.Core) bool { return false })
				require.NoError(b, err)
				last = l
			}
			require.NoError(b, e.Run())
			b.ReportAllocs()
			for b.Loop() {
				last.Wake()
				if err := e.Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
