package fuzz

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/emulation"
	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/protocol"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/testbed"
	"nictwin/scenarios/fuzz/coverage"
	"nictwin/scenarios/fuzz/player"
	"nictwin/scenarios/observe/result"
)

const speed, debug = string(build.VariantSpeed), string(build.VariantDebug)

// mixed returns a mixed campaign on RTL that calls `builds` instead of building devices.
func mixed(t *testing.T, runs, skip int, builds func(variant string) (*build.Device, error)) *campaign {
	t.Helper()
	o := options(device.RTL, runs)
	o.Variant, o.Skip, o.Log = VariantMixed, skip, new(bytes.Buffer)
	c := begun(t, o)
	c.buildDevice = func(_ context.Context, _ *manifest.Manifest, variant string, _ device.Eth,
		_ io.Writer) (*build.Device, error) {
		return builds(variant)
	}
	return c
}

func anyBuild(string) (*build.Device, error) { return new(build.Device), nil }

// A mixed campaign plays one program in ten on the debug build. The seed and the program's number decide which, not the
// number of programs in the run.
func TestMixedVariants(t *testing.T) {
	const runs = 2000
	c := mixed(t, runs, 0, anyBuild)
	require.NoError(t, c.build(t.Context()))
	n, onePort := 0, 0
	for number := range runs {
		if c.variant(number) == speed {
			continue
		}
		require.Equal(t, debug, c.variant(number))
		if n++; c.ports(number) == 1 {
			onePort++
		}
	}
	require.InDelta(t, runs/10, n, runs/50)
	require.InDelta(t, n/2, onePort, runs/50, "with either number of ports")
	for number := range 40 { // each program alone, as the command to reproduce a finding plays it
		a := mixed(t, 1, number, anyBuild)
		require.NoError(t, a.build(t.Context()))
		require.Equal(t, c.variant(number), a.variant(number), "program %d", number)
	}
	c.Program = c.generate(0)
	require.Equal(t, speed, c.variant(0), "a program of a file")
	c.Program, c.Variant = nil, debug
	require.Equal(t, debug, c.variant(3))
	c.NIC = device.Model
	require.Empty(t, c.variant(3))
}

// If the debug build fails, all programs are played on the speed build, and the result says so. If the speed build
// fails, the campaign does.
func TestDebugBuildFails(t *testing.T) {
	why := errors.New("the compiler ran out of memory\nand of words")
	c := mixed(t, 100, 0, func(variant string) (*build.Device, error) {
		if variant == debug {
			return nil, why
		}
		return new(build.Device), nil
	})
	require.NoError(t, c.build(t.Context()))
	for number := range 100 {
		require.Equal(t, speed, c.variant(number))
	}
	const says = "all programs are played on build speed, so no assertions are checked: the debug build failed: the " +
		"compiler ran out of memory"
	require.Equal(t, says, c.res.Unchecked)
	require.Contains(t, c.Log.(*bytes.Buffer).String(), "nictwin fuzz: "+says+"\n")

	c = mixed(t, 100, 0, func(string) (*build.Device, error) { return nil, why })
	require.ErrorIs(t, c.build(t.Context()), why)
	require.Empty(t, c.res.Unchecked)

	c = mixed(t, 100, 0, func(string) (*build.Device, error) { return new(build.Device), nil })
	c.Link = new(emulation.Link)
	require.NoError(t, c.build(t.Context()))
	require.Contains(t, c.res.Unchecked, "a shell has none")
}

// stops is an event handler that ends the engine with an error.
type stops struct{ err error }

func (s *stops) Handle(sim.Event) error { return s.err }
func (s *stops) Name() string           { return "Stops" }

// stopping returns boards with the Go NIC that end in a given cycle like an RTL device that stopped itself.
func stopping(cycle int, code protocol.ErrorCode, text string) player.Build {
	return func(s testbed.Spec) (*testbed.Bed, error) {
		b, err := model(s)
		if err == nil {
			end := &protocol.InfraError{Device: "nic", Op: "run",
				Err: &protocol.DeviceError{Code: code, Cycle: uint64(cycle), Text: text}}
			b.Engine.Schedule(&simcore.Event{At: b.Cycles(cycle), H: &stops{end}})
		}
		return b, err
	}
}

// A failed assertion becomes a finding with the assertion's message. Its key does not contain the cycle, so that
// programs shrink to the same assertion. A simulator's own failure is no finding.
func TestFailedAssertionIsAFinding(t *testing.T) {
	const what = "nic_fifo.sv:40: Assertion failed in TOP.nic_top.u_rx.a_held: 'assert' failed."
	c := begun(t, options(device.Model, 1))
	p := c.generate(0)
	v := player.Run(p, t.Context(),
		stopping(3000, protocol.CodeAssert,
			"[7500000] %Error: "+what+"\nverilator/rtl/cells/nic_fifo.sv:40: stopped by"), nil)
	require.True(t, v.Mismatch())
	require.Equal(t, what, v.Key())
	require.Equal(t, v.Key(), player.Run(p, t.Context(), stopping(3100, protocol.CodeAssert, "[7750000] %Error: "+what),
		nil).Key())
	o := &outcome{variant: debug, prog: p, v: v, cov: coverage.New()}
	c.Shrink, c.Most = false, 1
	done, err := c.take(t.Context(), o)
	require.NoError(t, err)
	require.True(t, done)
	require.Equal(t, debug, c.res.Failures[0].Variant)
	f := c.res.Failures[0].Finding
	require.Equal(t, result.Finding{Domain: result.Device, Field: "assertion", Expected: "none fails", Got: what,
		Cycle: new(int64(3000)), Failure: result.Crash,
		Text: "cycle 3000: the RTL stops by itself: " + what}, f)

	v = player.Run(p, t.Context(), stopping(3000, protocol.CodeInternal, "did not converge"), nil)
	require.False(t, v.Pass() || v.Mismatch(), "what the simulation fails in says nothing of the device")
}
