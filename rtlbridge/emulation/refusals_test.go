package emulation

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/manifest"
)

// write makes a device of a source and a manifest, and returns the manifest.
func write(t *testing.T, source, text string) *manifest.Manifest {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "t.sv"), []byte(source), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "dut.yaml"), []byte(text), 0o644))
	m, err := manifest.Load(filepath.Join(dir, "dut.yaml"))
	require.NoError(t, err)
	return m
}

// passing is a device of a register; EDGE stands for the edge of its clock.
const passing = `module inverter(input a, output y); assign y = ~a; endmodule
module gate(input c, input e, output g);
  reg open;
  always @(c or e) if (!c) open <= e;
  assign g = c & open;
endmodule
module t(input ck, input rn, input v, input [7:0] d, output logic qv, output logic [7:0] qd);
  logic open, gated, half;
  wire inverted, twice, old, mux = v ? ck : ~ck;
  wire [1:0] both = {gated, ck};
  always_latch if (!ck) open = v;
  assign gated = ck && open;
  inverter u_one(ck, inverted);
  inverter u_two(inverted, twice);
  gate u_gate(ck, v, old);
  function automatic logic flip(input logic x); return ~x; endfunction
  wire called = flip(ck);
  logic put;
  task flop(input logic x); put = ~x; endtask
  always_comb flop(ck);
  always_ff @(posedge ck or negedge rn) if (!rn) half <= 0; else half <= !half;
  always_ff @(posedge ck or negedge rn) if (!rn) qv <= 0; else qv <= v;
  always @(EDGE) qd <= d;
endmodule
`

const passingManifest = `name: t
top: t
sources: [t.sv]
clocks:
  - {signal: ck, period_ps: 2000}
resets: [{signal: rn, active: low}]
streams:
  - {name: in, kind: record, dir: in, fields: [d], signals: {valid: v}, ready: false}
  - {name: out, kind: record, dir: out, fields: [d], signals: {valid: qv, d: qd}, ready: false}
`

// TestFallingEdges checks that designs with a clock that falls, behind gates, inverters and ports too, are refused with
// the line of the clock, and that asynchronous resets and divided clocks may fall.
func TestFallingEdges(t *testing.T) {
	t.Parallel()
	const falls = "dut.yaml:5: the design works at falling edges of ck (t.sv:23)"
	for _, x := range []struct{ edge, fault string }{
		{"posedge ck or negedge rn or posedge gated or posedge half or negedge half", ""},
		{"posedge twice or posedge old or posedge both[1] or negedge inverted", ""},
		{"negedge ck", falls},
		{"negedge gated", falls},
		{"negedge old", falls},
		{"posedge inverted", falls},
		{"posedge mux", falls},
		{"posedge called", falls},
		{"posedge put", falls},
		{"posedge open", falls},
		{"posedge ck or negedge gated", falls},
		{"edge ck", falls},
		{"ck", falls},
	} {
		m := write(t, replaced(passing, x.edge), passingManifest)
		_, err := build.CheckEmulation(m, build.Options{Fits: Supported})
		if x.fault == "" {
			require.NoError(t, err, x.edge)
			continue
		}
		require.ErrorContains(t, err, x.fault, x.edge)
	}
}

// TestRefusals checks what a shell cannot carry.
func TestRefusals(t *testing.T) {
	const in = "  - {name: in, kind: record, dir: in, fields: [d], signals: {valid: v}, ready: false}\n"
	alone := write(t, replaced(passing, "posedge ck"), without(passingManifest, in)+"tie_rest: 0\n")
	_, err := build.CheckEmulation(alone, build.Options{Fits: Supported})
	require.ErrorContains(t, err, "dut.yaml:7: a shell needs an input and an output stream: 0 inputs, 1 outputs")
	same := write(t, replaced(passing, "posedge ck")+"\nmodule shell_fifo; endmodule\n", passingManifest)
	_, err = Build(same, DefaultOptions(), build.Options{})
	require.ErrorContains(t, err, "dut.yaml:3: sources: the design has a module shell_fifo, and so has the shell")
	ports, err := build.CheckEmulation(same, build.Options{})
	require.NoError(t, err)
	bound, err := manifest.Bind(same, ports)
	require.NoError(t, err)
	bound.Resets, same.Clocks = slices.Repeat(bound.Resets, maxResets+1), slices.Repeat(same.Clocks, 2)
	err = Supported(bound)
	require.ErrorContains(t, err, "dut.yaml:6: 65 resets: a shell holds at most 64")
	require.ErrorContains(t, err, "dut.yaml:4: clock ck is clocks[0], too")
	m := load(t, "fifo/dut.yaml")
	for _, v := range []build.Variant{build.VariantDebug, build.VariantWaves, build.VariantCoverage,
		build.VariantTuned} {
		_, err := Build(m, DefaultOptions(), build.Options{Variant: v})
		require.ErrorContains(t, err, "variant "+string(v)+": not through a shell")
	}
}

// TestParseLink checks the values of --link.
func TestParseLink(t *testing.T) {
	l, err := ParseLink("")
	require.NoError(t, err)
	require.Nil(t, l)
	l, err = ParseLink("sim")
	require.NoError(t, err)
	require.Equal(t, &Link{Options: DefaultOptions(), TraceFile: TraceFile{Name: DefaultTraceFile}}, l)
	l, err = ParseLink("sim,bits=512,depth=1,faults=2")
	require.NoError(t, err)
	require.Equal(t, &Link{Options: Options{LinkBits: 512, Depth: 1, Samples: 1024}, Faults: 2,
		TraceFile: TraceFile{Name: DefaultTraceFile}}, l)
	l, err = ParseLink("sim,trace=a+b,samples=64,from=7,file=x.vcd")
	require.NoError(t, err)
	require.Equal(t, &Link{Options: Options{LinkBits: 8, Depth: 16, Trace: "a+b", Samples: 64},
		TraceFile: TraceFile{From: 7, Name: "x.vcd"}}, l)
	for text, fault := range map[string]string{
		"uart":          `link "uart": want sim`,
		"sim,":          `link "sim,": "": want sim`,
		"sim,bits":      `"bits": want sim`,
		"sim,bits=x":    `"bits=x": want sim`,
		"sim,speed=1":   `"speed=1": want sim`,
		"sim,bits=4":    "a link of 4 bits: want 8 to 512, a power of two",
		"sim,bits=24":   "a link of 24 bits",
		"sim,bits=-8":   "a link of -8 bits",
		"sim,faults=90": "faults in 90% of the frames: want 0 to 20",
		"sim,depth=0":   "0 beats held by a transactor: want 1 to 1024",
		"sim,depth=1e":  `"depth=1e": want sim`,

		"sim,bits=8,bits=16":       `"bits=16": want sim`,
		"sim,trace=":               `"trace=": want sim`,
		"sim,from=7":               "from has no effect without trace=PORT+PORT",
		"sim,trace=a,file=/none/x": "file /none/x: want one in a folder that exists",
		"sim,trace=a,from=-1":      `"from=-1": want sim`,
		"sim,trace=a,samples=100":  "a trace of 100 samples: want 2 to 4096, a power of two",
	} {
		_, err := ParseLink(text)
		require.ErrorContains(t, err, fault)
	}
}

func replaced(source, edge string) string { return strings.ReplaceAll(source, "EDGE", edge) }

func without(text, line string) string { return strings.ReplaceAll(text, line, "") }
