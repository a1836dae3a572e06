// Package manifesttest provides a small device for tests that read, build or refuse manifests: a manifest,
// a module that fits it, and the ports as Verilator prints them. It is not meant to be run; for that, see
// verilator/duts.
//
// Invariants: Good is valid, and Module and Header have exactly the ports that it binds.
package manifesttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Good is a valid manifest.
const Good = `name: x
top: m
sources: [a.sv]
clocks: [{signal: clk, period_ps: 2500}]
resets: [{signal: rst, active: high}]
streams:
  - {name: in, kind: axis, dir: in, prefix: s}
  - name: out
    kind: tlp
    dir: out
    prefix: m
    keep_unit: 4
    side: [thdr]
    signals: {tvalid: m_valid}
tie_offs: {mode: 0x1f}
observe: [busy]
busy: busy
`

// Header is the part of Verilator's header of Module that declares its ports.
const Header = `    VL_IN8(&clk,0,0);
    VL_IN8(&rst,0,0);
    VL_IN64(&s_tdata,63,0);
    VL_IN8(&s_tkeep,7,0);
    VL_IN8(&s_tlast,0,0);
    VL_IN8(&s_tvalid,0,0);
    VL_OUT8(&s_tready,0,0);
    VL_OUT64(&m_tdata,63,0);
    VL_OUT(&m_tkeep,1,0);
    VL_OUT8(&m_tlast,0,0);
    VL_OUT8(&m_valid,0,0);
    VL_IN8(&m_tready,0,0);
    VL_OUTW(&m_thdr,127,0);
    VL_IN(&mode,4,0);
    VL_OUT8(&busy,0,0);
`

// Module is the source of a design for the manifest Good: its module m has the ports that Good names.
const Module = `module m (
  input logic clk, input logic rst, input logic [63:0] s_tdata, input logic [7:0] s_tkeep, input logic s_tlast, input logic s_tvalid,
  output logic s_tready, output logic [63:0] m_tdata, output logic [1:0] m_tkeep, output logic m_tlast, output logic m_valid,
  input logic m_tready, output logic [127:0] m_thdr, input logic [4:0] mode, output logic busy);
  always_ff @(posedge clk) begin
    m_tdata <= s_tdata; m_tkeep <= {2{s_tkeep[0]}}; m_tlast <= s_tlast; m_valid <= s_tvalid && !rst; m_thdr <= 128'(mode);
    busy <= m_tready;
    if (mode == 1) $stop;
  end
  \$(touch${IFS}PWNED) u (.clk, .q(s_tready));
endmodule
// This module's name appears in the names of files that Verilator writes.
module \$(touch${IFS}PWNED) (input logic clk, output logic q); /*verilator no_inline_module*/
  assign q = clk;
endmodule
`

// Plant writes a manifest and a design into a folder whose name is itself an attack.
func Plant(t *testing.T, from, to string, files map[string]string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "a b $(touch PWNED);'\"")
	require.NoError(t, os.Mkdir(dir, 0o755))
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	require.Contains(t, Good, from)
	write("dut.yaml", strings.Replace(Good, from, to, 1))
	write("a.sv", Module)
	for name, text := range files {
		write(name, text)
	}
	return dir
}
