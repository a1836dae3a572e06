package play

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/ref"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/manifest"
)

// device returns options that play a device of testdata, with its parameters and its section `play` changed.
func device(t *testing.T, dut string, parameters map[string]string, with func(*Spec)) Options {
	t.Helper()
	m, err := manifest.Load(filepath.Join("testdata", dut))
	require.NoError(t, err)
	if parameters != nil {
		m, err = m.WithParameters(parameters)
		require.NoError(t, err)
	}
	s, err := ReadSpec(m)
	require.NoError(t, err)
	if with != nil {
		with(s)
	}
	return Options{Manifest: m, Spec: s, Seed: 1, Runs: 8, Stall: -1, Variant: build.VariantSpeed, Log: os.Stderr}
}

// An input may wait for any time while others move, unless play.fair limits it.
func TestFair(t *testing.T) {
	r, err := Play(t.Context(), device(t, "prio", nil, nil))
	require.NoError(t, err)
	if r.Failed != nil {
		t.Fatal(r.Failed.Result.Failure)
	}
	require.EqualValues(t, 8*6000, r.Compared)

	o := device(t, "prio", nil, func(s *Spec) { s.Fair = 500 })
	r, err = Play(t.Context(), o)
	require.NoError(t, err)
	require.NotNil(t, r.Failed)
	f := r.Failed.Result.Failure
	require.Equal(t, "s1", f.Stream)
	require.Equal(t, fieldFair, f.Field)
	require.Contains(t, f.Expected, "within 500 cycles while other streams move (play.fair)")
	require.Regexp(t, `^not taken in 500 cycles, in which these moved: [0-9]+ of s0, [0-9]+ of m$`, f.Got)
	require.Less(t, r.Failed.Kept, 600, "as many as starve it, and the one that starves")

	r, err = Play(t.Context(), device(t, "prio", nil, func(s *Spec) {
		none := Values{Ranges: [][2]uint64{{0, 0}}}
		s.Fair, s.Stall, s.Inputs = 500, none, map[string]InputSpec{"s0": {Count: new(100), Gap: none}}
	}))
	require.NoError(t, err)
	require.Nil(t, r.Failed, "an input that starves no one for so long")
}

// A device that makes no progress because of stalls is never taken for hanging, however short the patience.
func TestStallsAreNoHang(t *testing.T) {
	o := device(t, "prio", nil, func(s *Spec) { s.Count, s.Patience = 40, 100 })
	o.Runs = 300
	r, err := Play(t.Context(), o)
	require.NoError(t, err)
	if r.Failed != nil {
		t.Fatal(r.Failed.Result.Failure)
	}
	require.Equal(t, 300, r.Runs)
}

// An input does not count as starving while nothing else moves: the held output is the reason.
func TestHeldIsNotStarved(t *testing.T) {
	o := device(t, "prio", nil, func(s *Spec) {
		s.Fair, s.Count, s.In = 20, 200, []string{"s1"}
		s.Output = map[string]OutputSpec{"m": {Stall: Values{Ranges: [][2]uint64{{95, 95}}}}}
		s.Inputs = map[string]InputSpec{"s0": {Count: new(0)}}
	})
	o.Runs = 16
	r, err := Play(t.Context(), o)
	require.NoError(t, err)
	require.Nil(t, r.Failed)
	require.Greater(t, r.Cycles/uint64(r.Compared), uint64(5), "it is held")
}

// A device that hangs is found even if other streams of it move for ever; a correct device whose streams move for ever
// passes.
func TestHangs(t *testing.T) {
	for _, c := range []struct{ hang, tick, poll, stream, field string }{
		{"0", "0", "0", "", ""},
		{"0", "1", "0", "", ""},
		{"0", "0", "1", "", ""},
		{"0", "1", "1", "", ""},
		{"1", "0", "0", "s", fieldRule},
		{"1", "1", "0", "s", fieldRule},
		{"1", "0", "1", "s", fieldRule},
		{"2", "0", "0", "m", "transaction"},
		{"2", "1", "1", "m", "transaction"},
	} {
		t.Run(fmt.Sprintf("hang=%s,tick=%s,poll=%s", c.hang, c.tick, c.poll), func(t *testing.T) {
			parameters := map[string]string{"HANG": c.hang, "TICK": c.tick, "POLL": c.poll}
			o := device(t, "babble", parameters, func(s *Spec) { s.Patience = 1000 })
			r, err := Play(t.Context(), o)
			require.NoError(t, err)
			if c.stream == "" {
				require.Nil(t, r.Failed)
				require.Equal(t, 8, r.Runs)
				return
			}
			require.NotNil(t, r.Failed)
			f := r.Failed.Result.Failure
			require.Equal(t, c.stream, f.Stream)
			require.Equal(t, c.field, f.Field)
			require.EqualValues(t, 3, f.N, "the fourth")
			require.Equal(t, 4, r.Failed.Kept)
			if c.tick == "1" {
				require.Contains(t, f.Detail, "of tick")
			}
			require.Less(t, r.Failed.Result.Cycles, uint64(300_000))
		})
	}
}

// A run ends although an output never does: at once if the reference only looks at that output, and at a limit if it
// waits for more.
func TestEndlessOutput(t *testing.T) {
	p := map[string]string{"TICK": "1", "POLL": "0"}
	o := device(t, "babble", p, func(s *Spec) { s.Check, s.In, s.Out, s.Patience = OwnCheck, nil, nil, 1000 })
	o.Runs, o.NoShrink = 2, true
	seen := uint64(0)
	o.Reference = func(p *ref.Player) {
		next := uint64(0)
		p.On("s", func(m *ref.Msg) { p.Expect("m", ref.Fields{"data": m.U("data")}, nil) })
		p.On("tick", func(m *ref.Msg) { p.Want(m, ref.Fields{"data": next}); next++; seen = next })
	}
	r, err := Play(t.Context(), o)
	require.NoError(t, err)
	require.Nil(t, r.Failed)
	require.Greater(t, seen, uint64(300))
	o.Reference = func(p *ref.Player) { p.Done(func() bool { return false }) }
	r, err = Play(t.Context(), o)
	require.NoError(t, err)
	require.Contains(t, r.Failed.Result.Failure.Expected, "to come to its end (Done)")
}
