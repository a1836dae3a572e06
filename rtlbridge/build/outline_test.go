package build

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOutline checks which module each signal belongs to; declarations in a process are not signals of the
// module.
func TestOutline(t *testing.T) {
	o, err := readOutline(strings.NewReader(`<verilator_xml><files><file id="c" filename="a.sv"/></files><netlist>
<module name="top" topModule="1"><var loc="c,3,1,3,4" name="ck"/><var loc="c,4,1,4,4" name="Width" param="true"/>
 <begin name="g[1]"><var loc="c,7,2,7,3" name="q"/><instance name="u" defName="low"/>
  <always><sentree><senitem edgeType="POS"><varref name="ck"/></senitem></sentree><begin name="b"><var loc="c,9,1,9,2" name="i"/></begin></always></begin></module>
<module name="low"><var loc="c,20,1,20,2" name="s"/></module></netlist></verilator_xml>`))
	require.NoError(t, err)
	for line, want := range map[string]signal{
		"0\t-1\t-1\tTOP top ck\n":           {"0", "-1", "-1", "top", "ck", &signalDecl{"a.sv", "3", true}},
		"32\t7\t0\tTOP top g[1] q\n":        {"32", "7", "0", "top", "g[1].q", &signalDecl{"a.sv", "7", false}},
		"64\t1\t0\tTOP top g[1] u s[2].x\n": {"64", "1", "0", "low", "s[2].x", &signalDecl{"a.sv", "20", false}},
		"96\t31\t0\tTOP top Width\n":        {"96", "31", "0", "top", "Width", nil},
		"96\t31\t0\tTOP top g[1] b i\n":     {"96", "31", "0", "top", "g[1].b.i", nil},
		"96\t31\t0\tTOP ck\n":               {"96", "31", "0", "", "", nil},
	} {
		s, err := o.signal(line)
		require.NoError(t, err, line)
		require.Equal(t, want, s, line)
	}
	_, err = o.signal("0 TOP top ck\n")
	require.ErrorContains(t, err, "a signal in a form that is not known")
	_, err = readOutline(strings.NewReader("<verilator_xml></verilator_xml>"))
	require.ErrorContains(t, err, "no top module")
}

func TestBitsOfCoverPoints(t *testing.T) {
	for _, c := range []struct{ msb, lsb, bits, first, last int }{{7, 0, 8, 0, 7}, {0, 3, 4, 3, 0}, {5, 4, 2, 4, 5},
		{0, 0, 1, 0, 0}, {-1, -1, 1, -1, -1}} {
		p := CoverPoint{Msb: c.msb, Lsb: c.lsb}
		require.Equal(t, []int{c.bits, c.first, c.last}, []int{p.Bits(), p.Bit(0), p.Bit(p.Bits() - 1)}, "%+v", c)
	}
}
