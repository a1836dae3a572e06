package play

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"nictwin/models/ref"
)

// Every value drawn from a range with a step is a multiple of the step above the start, even at the range's ends.
func TestSteps(t *testing.T) {
	var v Values
	require.NoError(t, yaml.Unmarshal([]byte("[3..0x4003 step 8, 0x10000]"), &v))
	r := rand.New(rand.NewPCG(1, 1))
	seen := map[uint64]bool{}
	for range 4000 {
		x := v.draw(r)
		require.True(t, x == 0x10000 || x >= 3 && x <= 0x4003 && x%8 == 3, "%#x", x)
		require.True(t, v.has(x))
		seen[x] = true
	}
	require.True(t, seen[3] && seen[0x4003] && seen[0x10000])
	require.Greater(t, len(seen), 500)
	require.False(t, v.has(4))
	for text, want := range map[string]string{"1..8 step 0": "a step above 0", "1..8 step x": "a step above 0",
		"8..1 step 2": "ends before it begins",
		"1..010":      "8 in YAML 1.1", "[5, 0o17]": "want 15", "count * 010": "want 8 or 10",
		"0..64 step 08": "want 8"} {
		require.ErrorContains(t, yaml.Unmarshal([]byte(text), &v), want)
	}
}

// A start address that is moved so that the transfer ends at an edge is still a multiple of the field's step: the
// transfer ends at the edge, or one step before or after it.
func TestEdgesKeepSteps(t *testing.T) {
	v := Values{Ranges: [][2]uint64{{0, 0xfffff}}, Steps: []uint64{4}}
	x := &InputSpec{Fields: map[string]Values{"addr": v}}
	s := &ref.Stream{Kind: ref.Record, Fields: []ref.Field{{Name: "addr", Bits: 32}, {Name: "len", Bits: 16}}}
	e := EdgeSpec{Start: "addr", Length: "len", At: 4096}
	r := rand.New(rand.NewPCG(1, 1))
	ends := map[uint64]int{}
	for range 300 {
		f := ref.Fields{"addr": uint64(0x2100), "len": uint64(64)}
		e.apply(r, s, x, f)
		start := f["addr"].(uint64)
		require.Zero(t, start%4)
		ends[(start+64)%4096]++
	}
	require.Len(t, ends, 4) // the end that was drawn, and three moved to the edge or one step from it
	require.Positive(t, min(ends[0], ends[4], ends[4092]))
}

// A run may draw the value of an input that tie_rest would tie off. If a device hangs, the finding names the inputs
// tied off by tie_rest.
func TestTies(t *testing.T) {
	o := options(t, "fifo", "{check: identity, count: 20, patience: 2000, tie_offs: {defect_i: any}}")
	o.Manifest.TieRest = "0"
	delete(o.Manifest.TieOffs, "defect_i")
	o.Runs, o.NoShrink = 40, true
	r, err := Play(t.Context(), o)
	require.NoError(t, err)
	require.NotNil(t, r.Failed) // defect_i selects a built-in defect: some of 40 draws hit one

	o = options(t, "fifo", "{check: identity, count: 20, patience: 2000}")
	o.Manifest.TieRest = "5"
	delete(o.Manifest.TieOffs, "defect_i")
	o.Runs, o.NoShrink = 1, true
	r, err = Play(t.Context(), o)
	require.NoError(t, err)
	require.NotNil(t, r.Failed)
	require.ErrorContains(t, r.Failed.Result.Failure, "got offered beat not taken; tie_rest holds defect_i at 5")

	o = options(t, "fifo", "{}")
	o.Manifest.TieRest = "0"
	o.Spec.TieOffs = map[string]Values{"other": {Any: true}}
	_, err = Play(t.Context(), o)
	require.ErrorContains(t, err, "play.tie_offs.other the design ties off no input of this name")
}
