package play

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/manifest"
	"nictwin/scenarios/shell/home/hometest"
)

// buggy returns options that play a device of verilator/duts/own with one of its bugs.
func buggy(t *testing.T, dut, bug string) Options {
	t.Helper()
	h, err := hometest.Find()
	require.NoError(t, err)
	m, err := manifest.Load(filepath.Join(h.Dir, "verilator", "duts", "own", dut))
	require.NoError(t, err)
	m, err = m.WithParameters(map[string]string{"BUG": bug})
	require.NoError(t, err)
	s, err := ReadSpec(m)
	require.NoError(t, err)
	return Options{Manifest: m, Spec: s, Seed: 1, Runs: 20, Stall: -1, Variant: build.VariantSpeed, Log: os.Stderr}
}

// given converts reported settings to the form in which a user gives them.
func given(s *Settings) (g Given) {
	g.TieOffs = s.TieOffs
	g.Clocks, g.Stalls = map[string]ClockSetting{}, map[string]StallSetting{}
	for _, c := range s.Clocks {
		g.Clocks[c.Signal] = c
	}
	for _, x := range s.Streams {
		g.Stalls[x.Name] = StallSetting{x.Stall, max(1, x.Burst)}
	}
	g.Resets = s.Resets
	return g
}

// Giving the reported settings of a failing run reproduces the failure.
func TestSettings(t *testing.T) {
	tied := options(t, "fifo", `{check: identity, count: 60, patience: 2000, longest: 4096,
      tie_offs: {defect_i: [1..3, 5, 7..8]}, resets: 0..2}`)
	tied.Runs = 20
	for name, o := range map[string]Options{
		"tied": tied, "clocks": buggy(t, "afifo", "2"), "served": buggy(t, "axiwide", "1"),
	} {
		t.Run(name, func(t *testing.T) {
			for _, shrink := range []bool{true, false} {
				var trace strings.Builder
				o.NoShrink, o.Trace = !shrink, &trace
				r, err := Play(t.Context(), o)
				require.NoError(t, err)
				require.NotNil(t, r.Failed)
				f, s := r.Failed, &r.Failed.Result.Settings
				for _, l := range s.Lines() {
					require.Contains(t, trace.String(), "# "+l+"\n")
				}
				again := o
				again.Seed, again.Runs, again.Keep, again.Cut = f.Run.Seed, 1, f.Run.Keep, f.Run.Cut
				again.NoShrink, again.Trace = true, nil
				again.NoGap, again.Given = !s.Gaps, given(s)
				x, err := Play(t.Context(), again)
				require.NoError(t, err)
				require.NotNil(t, x.Failed)
				require.Equal(t, f.Result.Failure, x.Failed.Result.Failure)
				for i := range s.Clocks {
					s.Clocks[i].Drawn = true
				}
				require.Equal(t, *s, x.Failed.Result.Settings)
			}
		})
	}
}

// Settings that a user gives replace the drawn ones.
func TestGiven(t *testing.T) {
	o := options(t, "fifo", "{check: identity, count: 60, quantum: 16, patience: 2000, tie_offs: {defect_i: 8}}")
	o.Given = Given{
		TieOffs: map[string]uint64{"defect_i": 0}, Clocks: map[string]ClockSetting{"clk_i": {PeriodPs: 5000}},
		Stalls: map[string]StallSetting{"in": {30, 4}, "out": {80, 4}}, Resets: []int{7, 30, 3},
	}
	r, err := Play(t.Context(), o)
	require.NoError(t, err)
	require.Nil(t, r.Failed, "the defect is not asked for")
	require.EqualValues(t, 5000*r.Cycles, r.SimPs)
	require.Less(t, r.Compared, 60, "it was reset")
	clock := func(signal string, phase int64) map[string]ClockSetting {
		return map[string]ClockSetting{signal: {PeriodPs: 5000, PhasePs: phase}}
	}
	for want, g := range map[string]Given{
		"tie nosuch: the design ties off no input of this name":       {TieOffs: map[string]uint64{"nosuch": 1}},
		"tie defect_i=16: does not fit into 4 bits":                   {TieOffs: map[string]uint64{"defect_i": 16}},
		"clock nosuch: the manifest has no such clock":                {Clocks: clock("nosuch", 0)},
		"a phase of 4 ps: the first clock has none":                   {Clocks: clock("clk_i", 4)},
		"stall mid: want an input, or an output with a ready":         {Stalls: map[string]StallSetting{"mid": {5, 1}}},
		"stall out=5: its own stall in the manifest allows 0 at most": {Stalls: map[string]StallSetting{"out": {5, 1}}},
	} {
		o.Spec.Output = map[string]OutputSpec{"out": {Stall: Values{Ranges: [][2]uint64{{0, 0}}}}}
		o.Given = g
		_, err := Play(t.Context(), o)
		require.ErrorContains(t, err, want)
		require.ErrorAs(t, err, new(*SpecError))
	}
}

// The stall that the manifest declares for a stream applies in every run, whatever --stall says and however other
// streams stall.
func TestOwnStall(t *testing.T) {
	for _, stall := range []int{-1, 60, 5} {
		o := options(t, "fifo", `{check: identity, count: 2, stall: 20..95,
      inputs: {in: {stall: 10..30}}, outputs: {out: {stall: 0}}}`)
		o.Stall = stall
		d, stalled, alike := opened(t, &o), 0, 0
		for seed := range uint64(60) {
			res, err := d.Play(t.Context(), Run{Seed: seed, Stall: stall}, nil)
			require.NoError(t, err)
			require.Nil(t, res.Failure)
			in, out := res.Settings.Streams[0], res.Settings.Streams[1]
			require.Equal(t, "in", in.Name)
			require.Zero(t, out.Stall, "seed %d", seed)
			require.LessOrEqual(t, in.Stall, 30, "seed %d", seed)
			if in.Stall > 0 {
				stalled++
			}
			if in.Stall == min(max(stall, 0), 30) {
				alike++
			}
		}
		require.Positive(t, stalled)
		if stall >= 0 {
			require.Equal(t, 60, alike, "--stall %d", stall)
		}
	}
}

// opened returns the device of the options, opened once for each test.
func opened(t *testing.T, o *Options) *Device {
	t.Helper()
	d, err := open(t.Context(), o.Manifest, o, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// Parameters that the user gives are not drawn, and are reported with the drawn ones.
func TestGivenParameters(t *testing.T) {
	o := buggy(t, "arbmux", "0")
	o.Spec.Parameters = map[string][]string{"BUG": {"0", "1"}}
	c := campaign{Options: o, builds: combinations(o.Spec.Parameters)}
	require.Equal(t, []string{"BUG=1"}, c.parameters(1))
	o.Given.Parameters = map[string]string{"BUG": "0", "A": "1"}
	c = campaign{Options: o, builds: combinations(ungiven(&o))}
	require.Len(t, c.builds, 1)
	require.Equal(t, []string{"A=1", "BUG=0"}, c.parameters(0))
}

// A device describes itself exactly as its manifest and ports announce before the build. Otherwise a section `play`
// could pass the check before the build and not fit the built device.
func TestDeclared(t *testing.T) {
	for _, dut := range []string{
		"fifo", "ports", "own/axiwide", "own/afifo", "own/arbmux", "own/dmard", "cells/skid.yaml",
	} {
		t.Run(dut, func(t *testing.T) {
			h, err := hometest.Find()
			require.NoError(t, err)
			m, err := manifest.Load(filepath.Join(h.Dir, "verilator", "duts", dut))
			require.NoError(t, err)
			m.Play.Kind = 0
			s := DefaultSpec()
			d := opened(t, &Options{Manifest: m, Spec: &s, Variant: build.VariantSpeed, Log: os.Stderr})
			b, err := manifest.Bind(m, d.built.Ports)
			require.NoError(t, err)
			want, got := *d.conn.Hello(), announcedHello(b)
			want.Version, want.BuildHash, want.MaxFrame = 0, [32]byte{}, 0
			require.Equal(t, fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", *got))
		})
	}
}
