package build

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/manifest/manifesttest"
)

// TestParametersOfFlags checks that an option for an unknown parameter is reported with its place, and a message
// of the design about a known parameter with the parameter's value.
func TestParametersOfFlags(t *testing.T) {
	for _, x := range []struct{ flags, err string }{
		{"[--stats, -GDB=1]", "dut.yaml:4: verilator_flags: -GDB=1: module m has no parameter DB"},
		{"[--GDB=1]", "dut.yaml:4: verilator_flags: --GDB=1: module m has no parameter DB"},
		{"[-GLimit=3]", "the design refuses Limit = 3: no Limit of 3"},
	} {
		dir := manifesttest.Plant(t, "top: m", "top: m\nparameters: {Depth: 64}\nverilator_flags: "+x.flags,
			map[string]string{
				"a.sv": "module m #(parameter int Depth = 1, parameter int Limit = 2) (input logic clk);\n" +
					"  if (Limit == 3) $error(\"no Limit of 3\");\nendmodule\n",
			})
		m, err := manifest.Load(dir)
		require.NoError(t, err)
		_, err = Check(t.Context(), m, false)
		require.ErrorContains(t, err, x.err)
		require.NotContains(t, err.Error(), "Depth = 64")
	}
}
