package rtlbridge

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/manifest"
)

// forgetful is a design that outputs a register which no reset sets.
const forgetful = `module forgetful (
  input  logic clk, rst, s_tvalid, s_tlast,
  output logic s_tready,
  input  logic [63:0] s_tdata,
  input  logic [7:0]  s_tkeep,
  output logic [31:0] value
);
  always_ff @(posedge clk) if (!rst && s_tvalid) value <= value + s_tdata[31:0] + {31'b0, s_tlast} + {24'b0, s_tkeep};
  assign s_tready = 1'b1;
endmodule
`

const forgetfulManifest = `name: forgetful
top: forgetful
sources: [forgetful.sv]
clocks: [{signal: clk, period_ps: 2500}]
resets: [{signal: rst, active: high}]
streams: [{name: in, kind: axis, dir: in, prefix: s}]
observe: [value]
`

// TestPowerUp checks that debug builds power up with contents drawn from the run's seed, and other builds
// with zeros.
func TestPowerUp(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "forgetful.sv"), []byte(forgetful), 0o600))
	m, err := manifest.Parse(filepath.Join(dir, "dut.yaml"), []byte(forgetfulManifest))
	require.NoError(t, err)
	value := func(v build.Variant, seed uint64, plusArgs ...string) uint64 {
		d, err := build.Build(m, build.Options{Variant: v})
		require.NoError(t, err)
		c := launch(t, d, LaunchOptions{PlusArgs: plusArgs})
		require.NoError(t, c.Start(c.NewStart(seed)))
		require.NoError(t, c.SendRun(4))
		r, err := c.Recv()
		require.NoError(t, err)
		return r.Observed[0].Value
	}
	require.Zero(t, value(build.VariantSpeed, 1))
	one := value(build.VariantDebug, 1)
	require.NotZero(t, one)
	require.Equal(t, one, value(build.VariantDebug, 1))
	require.NotEqual(t, one, value(build.VariantDebug, 2))
	fixed := value(build.VariantDebug, 1, "+verilator+seed+5")
	require.NotEqual(t, one, fixed)
	require.Equal(t, fixed, value(build.VariantDebug, 2, "+verilator+seed+5"))
}
