package rtlbridge

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/manifest/manifesttest"
	"nictwin/rtlbridge/protocol"

	"pgregory.net/rapid"

	"nictwin/models/sim/simcore"
)

// TestIdleCyclesDoNotShow checks that every run has the same events in the same cycles whether idle cycles
// are skipped, evaluated or checked.
func TestIdleCyclesDoNotShow(t *testing.T) {
	d := fifo(t, build.VariantSpeed)
	var skipped uint64
	rapid.Check(t, func(rt *rapid.T) {
		latency := simcore.Ps(rapid.IntRange(20_000, 900_000).Draw(rt, "latency"))
		o := loopOptions{
			latency: latency, stall: rapid.SampledFrom([]int{0, 0, 5, 40}).Draw(rt, "stall"),
			credits: rapid.SampledFrom([]int{0, 1, 3}).Draw(rt, "credits"),
			first:   rapid.IntRange(1, 6).Draw(rt, "first"),
			gap: rapid.SampledFrom([]simcore.Ps{50_000, 5_000_000, 9_000_000, 20_000_000}).Draw(rt, "gap") +
				simcore.Ps(rapid.IntRange(0, 10_000).Draw(rt, "more")),
		}
		o.total = o.first + rapid.IntRange(0, 4).Draw(rt, "answers")
		o.comp.Mode = rapid.SampledFrom([]Mode{Pipelined, Serial}).Draw(rt, "mode")
		o.comp.Quantum = uint32(rapid.IntRange(1, int(MaxQuantum(2500, o.comp.Mode, latency, latency))).Draw(rt,
			"quantum"))
		play := func(m protocol.IdleMode) (loopResult, []Event) {
			var events []Event
			o.idle, o.observe = m, func(e Event) { e.Msg = nil; events = append(events, e) }
			r, err := runLoop(t, d, o)
			if err != nil {
				t.Logf("%+v: %v", o, err) // rapid plays it again, and does not report a failure that happened only once
			}
			require.NoError(rt, err)
			return r, events
		}
		want, events := play(protocol.IdleEvaluate)
		require.Zero(rt, want.wall.Skipped)
		for _, m := range []protocol.IdleMode{protocol.IdleSkip, protocol.IdleCheck} {
			r, got := play(m)
			require.Equal(rt, want.digest, r.digest, "%v", m)
			require.Equal(rt, want.arrived, r.arrived, "%v", m)
			require.Equal(rt, want.rests, r.rests, "%v", m)
			require.Equal(rt, want.cycles, r.cycles, "%v", m)
			require.Equal(rt, want.wall.Cycles, r.wall.Cycles, "%v", m)
			require.Equal(rt, events, got, "%v", m)
			skipped += r.wall.Skipped
		}
	})
	require.Greater(t, skipped, uint64(100_000), "the runs are to have idle time")
}

// timed outputs one beat after a delay, which it measures by the simulator's time (Reads) or by counting in
// a register.
const timed = `module timed #(parameter bit Reads = 0) (
  input logic clk, rst, s_tvalid, s_tlast, input logic [7:0] s_tdata, output logic s_tready,
  output logic m_tvalid, m_tlast, output logic [7:0] m_tdata, input logic m_tready, output logic busy);
  logic [15:0] count_q;
  logic due, sent_q;
  assign s_tready = 1'b1;
  assign m_tlast = 1'b1;
  assign m_tdata = 8'h5a;
  assign busy = 1'b0;
  always_ff @(posedge clk) begin
    due <= Reads ? $time > 64'd40_000_000 : count_q > 16'd16_000;
    count_q <= Reads ? 16'd0 : count_q + 16'd1;
    m_tvalid <= due && !sent_q && !rst;
    sent_q <= !rst && (sent_q || due);
    if (rst) count_q <= '0;
  end
endmodule
`

const timedManifest = `name: timed
top: timed
sources: [timed.sv]
parameters: {Reads: %d}
clocks: [{signal: clk, period_ps: 2500}]
resets: [{signal: rst, active: high}]
streams:
  - {name: in, kind: axis, dir: in, prefix: s, keep_unit: 0}
  - {name: out, kind: axis, dir: out, prefix: m, keep_unit: 0}
observe: [busy]
busy: busy
skip_idle: true
`

// runTimed runs 20,000 cycles; it returns the cycle of the beat, 0 if there was none.
func runTimed(t *testing.T, d *build.Device, m protocol.IdleMode) (cycle uint64, still bool, err error) {
	t.Helper()
	c := launch(t, d, LaunchOptions{})
	start := c.NewStart(1)
	start.Idle = m
	require.NoError(t, c.Start(start))
	for range 20 {
		require.NoError(t, c.SendRun(1000))
		r, err := c.Recv()
		if err != nil {
			return cycle, still, err
		}
		still = still || r.Flags&protocol.RanStill != 0
		for {
			var e protocol.Record
			ok, err := c.Next(r, &e)
			require.NoError(t, err)
			if !ok {
				break
			}
			if e.Kind == protocol.EventOut {
				cycle = e.First
			}
		}
	}
	return cycle, still, c.Close()
}

// TestDevicesThatCountWhileIdle checks that no cycle is skipped while a register counts, and that a check
// detects a design that reads the time although its manifest says skip_idle.
func TestDevicesThatCountWhileIdle(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "timed.sv"), []byte(timed), 0o644))
	for reads := range 2 {
		m, err := manifest.Parse(filepath.Join(dir, "dut.yaml"), fmt.Appendf(nil, timedManifest, reads))
		require.NoError(t, err)
		d, err := build.Build(m, build.Options{})
		require.NoError(t, err)
		want, _, err := runTimed(t, d, protocol.IdleEvaluate)
		require.NoError(t, err)
		require.Greater(t, want, uint64(15_000))
		got, still, err := runTimed(t, d, protocol.IdleSkip)
		require.NoError(t, err)
		_, _, checked := runTimed(t, d, protocol.IdleCheck)
		if reads == 0 {
			require.NoError(t, checked)
			require.Equal(t, want, got)
			require.False(t, still)
			continue
		}
		require.True(t, still)
		require.NotEqual(t, want, got, "the broken promise is to show in the run that the check is for")
		require.ErrorContains(t, checked, "the manifest declares skip_idle, but the design changed in cycle ")
		var de *protocol.DeviceError
		require.ErrorAs(t, checked, &de)
		require.Equal(t, protocol.CodeIdle, de.Code)
	}
}

// TestIdleIsDeclared checks that a device without skip_idle is evaluated in every cycle, and that IdleCheck
// is refused for it.
func TestIdleIsDeclared(t *testing.T) {
	text, err := os.ReadFile(fifoManifest)
	require.NoError(t, err)
	require.Contains(t, string(text), "\nskip_idle: true\n")
	_, err = manifest.Parse("dut.yaml",
		[]byte(strings.Replace(manifesttest.Good, "busy: busy\n", "skip_idle: true\n", 1)))
	require.ErrorContains(t, err, "skip_idle: needs busy, the signal that tells when the device is idle")
	c, err := Dial(fakeDevice(t, answerRuns(nil)), DialOptions{})
	require.NoError(t, err)
	s := c.NewStart(1)
	s.Idle = protocol.IdleCheck
	require.ErrorContains(t, c.Start(s), "the device does not declare that they can be skipped")
	s.Idle = protocol.IdleCheck + 1
	require.ErrorContains(t, c.Start(s), "idle mode 3: needs skip, evaluate, check")
	require.NoError(t, c.Close())
}
