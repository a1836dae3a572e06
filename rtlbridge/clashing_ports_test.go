package rtlbridge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/protocol"
)

// clashingManifest and its design pass data through ports whose names are words of C++, members of
// Verilator's classes, or macros.
const clashingManifest = `name: names
top: top
sources: [names.sv]
parameters: {Bytes: 0x8}
verilator_flags: [-GStep=3]
clocks: [{signal: int_, period_ps: 2500}]
resets: [{signal: register, active: high}]
streams:
  - {name: in, kind: axis, dir: in, signals: {tdata: name, tkeep: eval, tlast: trace, tvalid: abort, tready: threads}}
  - {name: out, kind: axis, dir: out,
     signals: {tdata: "NULL", tkeep: contextp, tlast: rootp, tvalid: vlSymsp, tready: errno}}
observe: [EOF, class_]
tie_offs: {VL_IN8: 5, Vdut: 3, stdin: 1, a__b: 1, printf: 0}
`

const clashingModule = `module top #(parameter int Bytes = 1, parameter int Step = 1) (
  input logic int_, input logic register,
  input logic [Bytes*8-1:0] name, input logic [Bytes-1:0] eval, input logic trace, input logic abort,
  output logic threads,
  output logic [63:0] NULL, output logic [7:0] contextp, output logic rootp, output logic vlSymsp, input logic errno,
  output logic [7:0] EOF, output logic [1:0] class_,
  input logic [2:0] VL_IN8, input logic [1:0] Vdut, input logic stdin, input logic a__b, input logic printf);
  assign NULL = name;
  assign contextp = eval;
  assign rootp = trace;
  assign vlSymsp = abort && !register && stdin && a__b && !printf;
  assign threads = errno;
  assign class_ = Vdut;
  always_ff @(posedge int_) EOF <= 8'(VL_IN8) + 8'(Step);
endmodule
`

func TestClashingPorts(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "dut.yaml"), []byte(clashingManifest), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "names.sv"), []byte(clashingModule), 0o644))
	m, err := manifest.Load(dir)
	require.NoError(t, err)
	d, err := build.Build(m, build.Options{HarnessDir: "../verilator/harness"})
	require.NoError(t, err)
	var names []string
	for _, p := range d.Ports {
		names = append(names, p.Name)
	}
	require.Subset(t, names, strings.Fields("int_ register name eval trace abort threads NULL contextp rootp vlSymsp "+
		"errno EOF class_ VL_IN8 Vdut a__b"))

	c := launch(t, d, LaunchOptions{})
	require.NoError(t, c.Start(c.NewStart(1)))
	sent := frame(100, 1)
	require.NoError(t, c.Add(0, 0, nil, sent))
	require.NoError(t, c.SendRun(64))
	r, err := c.Recv()
	require.NoError(t, err)
	var got []byte
	var rec protocol.Record
	for {
		ok, err := c.Next(r, &rec)
		require.NoError(t, err)
		if !ok {
			break
		}
		if rec.Kind == protocol.EventOut {
			got = append(got, rec.Data...)
		}
	}
	require.Equal(t, sent, got)
	require.Len(t, r.Observed, 2)
	require.EqualValues(t, 8, r.Observed[0].Value, "EOF")
	require.EqualValues(t, 3, r.Observed[1].Value, "class_")
}
