package shrink_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/generate"
	"nictwin/scenarios/fuzz/program"
	"nictwin/scenarios/fuzz/shrink"
)

// Applying a reduction again and again ends after at most 64 steps, and every result is a legal program.
func TestReductionsEndAndStayLegal(t *testing.T) {
	faults := 0
	for number := range 4 {
		p := generate.Generate(uint64(number), generate.Shape{Sizes: nicspec.DefaultBuild(), Stall: -1, Overlap: true})
		for i := range p.Ops {
			if p.Ops[i].Fault != nil {
				faults++
			}
			for k := range shrink.Reductions(&p.Ops[i]) {
				o, _ := shrink.Less(&p.Ops[i], k)
				const most = 64 // steps of a reduction, since it halves numbers of at most 64 bits
				for n := 0; o != nil; n++ {
					require.Less(t, n, most, "operation %d of program %d, reduction %d", i, number, k)
					require.NoError(t, shrink.With(p, i, o).Validate(), "operation %d of program %d, reduction %d", i,
						number, k)
					o, _ = shrink.Less(o, k)
				}
			}
		}
	}
	require.Positive(t, faults)
}

// Shrinking simplifies a fault: it affects the first read and its first completion if the program still fails that way.
// Fields that the failure depends on keep their values.
func TestFaultsShrink(t *testing.T) {
	p := &program.Program{Ops: []program.Op{{Fault: &program.Fault{Kind: "UR", Of: program.OfTxRing, Skip: 3, Count: 2,
		Nth: 2, Delay: 600, Gap: 3000}}}}
	for _, c := range []struct {
		name  string
		fails func(*program.Fault) bool
		want  program.Fault
	}{
		{"any", func(*program.Fault) bool { return true }, program.Fault{Kind: "UR", Of: program.OfTxRing, Count: 2}},
		{"a later read", func(f *program.Fault) bool { return f.Skip >= 1 },
			program.Fault{Kind: "UR", Of: program.OfTxRing, Skip: 1, Count: 2}},
		{"a later completion", func(f *program.Fault) bool { return f.Nth == 2 && f.Gap > 100 },
			program.Fault{Kind: "UR", Of: program.OfTxRing, Count: 2, Nth: 2, Gap: 187}},
	} {
		t.Run(c.name, func(t *testing.T) {
			small, trials := shrink.Shrink(context.Background(), p,
				func(p *program.Program) bool { return len(p.Ops) == 1 && c.fails(p.Ops[0].Fault) })
			require.Less(t, trials, 100)
			require.Equal(t, c.want, *small.Ops[0].Fault)
		})
	}
}
