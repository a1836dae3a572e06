package manifest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParsePorts(t *testing.T) {
	ports, err := ParsePorts(strings.NewReader(`
    VL_IN8(&clk,0,0);
    VL_OUTW(&wide___05Fname,511,0,16);
    VL_IN64((&arr)[4],63,0);
    VL_INOUT16(&pad,15,0);
    VL_IN(&down,33,2);
`))
	require.NoError(t, err)
	require.Equal(t, []PinPort{
		{Name: "clk", Dir: "in", Width: 1, Member: "clk"},
		{Name: "wide__name", Dir: "out", Width: 512, Member: "wide___05Fname"},
		{Name: "arr", Dir: "in", Width: 64, Array: "[4]", Member: "arr"},
		{Name: "pad", Dir: "inout", Width: 16, Member: "pad"},
		{Name: "down", Dir: "in", Width: 32, Member: "down"},
	}, ports)
	_, err = ParsePorts(strings.NewReader("class x;"))
	require.ErrorContains(t, err, "no ports")
}

// TestPortNameTooLong checks that a port name that Verilator truncates is reported as too long.
func TestPortNameTooLong(t *testing.T) {
	_, err := ParsePorts(strings.NewReader("VL_IN8(&averyvery__Vhsh4Job9BKtbTd26Wcn,0,0);"))
	require.ErrorContains(t, err, "port averyvery...: the name is longer than Verilator keeps (127 characters)")
}

// TestUnescape checks that Unescape recovers the original of every name that Verilator changes.
func TestUnescape(t *testing.T) {
	for member, name := range map[string]string{
		"__SYM__abort": "abort", "___05FSYM___05Fq": "__SYM__q", "a___05Fb": "a__b", "foo__02dbar": "foo-bar",
		"foo__02Dbar": "foo-bar", "clk": "clk",
	} {
		require.Equal(t, name, Unescape(member), member)
	}
}

func FuzzParsePorts(f *testing.F) {
	f.Add("    VL_IN8((&clk)[2][3],0,0);\n VL_OUTW(&x,70,0,3);")
	f.Fuzz(func(t *testing.T, text string) {
		ports, err := ParsePorts(strings.NewReader(text))
		if err == nil && len(ports) == 0 {
			t.Fatal("no ports and no error")
		}
	})
}
