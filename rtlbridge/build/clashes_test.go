package build

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/manifest/manifesttest"
)

// TestClashesWithTheWrapper checks designs that already have the names that the module around them would
// get: what passes the check can also be built.
func TestClashesWithTheWrapper(t *testing.T) {
	for _, names := range [][]string{{"dut", "dut_"}, {"nictwin_eval", "nictwin_eval_"},
		{"nictwin_top", "nictwin_name"}} {
		outputs := ""
		for _, n := range append(names, "eval", "name") {
			outputs += ", output logic " + n
		}
		dir := manifesttest.Plant(t, "observe: [busy]", "observe: [busy, eval, name]", map[string]string{
			"a.sv": strings.Replace(manifesttest.Module, ", output logic busy", ", output logic busy"+outputs, 1) +
				"module nictwin_top; endmodule\n",
		})
		m, err := manifest.Load(dir)
		require.NoError(t, err)
		c, err := Check(t.Context(), m, true)
		require.NoError(t, err, "%v", names)
		for _, w := range c.Warnings {
			require.NotContains(t, w.File, "nictwin_top", "the wrapper is nobody's design")
		}
		b, err := prepare(m, Options{CacheDir: t.TempDir()})
		require.NoError(t, err)
		require.NoError(t, b.makeScratch())
		ports, err := b.translate()
		require.NoError(t, err)
		require.Equal(t, c.Ports, ports)
		require.Equal(t, "nictwin_top_", b.wrapperModule())
		b.cleanUp()
	}
}

// FuzzOuterNames checks that the module around a design uses each name once, whatever the names of the
// ports.
func FuzzOuterNames(f *testing.F) {
	f.Add("eval nictwin_eval nictwin_eval_ dut", "eval dut")
	f.Fuzz(func(t *testing.T, names, clashing string) {
		var ports []manifest.PinPort
		clash, seen := map[string]bool{}, map[string]bool{}
		for _, n := range strings.Fields(names) {
			if !seen[n] {
				ports = append(ports, manifest.PinPort{Name: n})
			}
			seen[n] = true
		}
		for _, n := range strings.Fields(clashing) {
			clash[n] = seen[n]
		}
		outer := newOuterNames(ports, clash)
		taken := map[string]bool{outer.instance: true}
		for _, p := range ports {
			name := outer.ports[p.Name]
			require.False(t, taken[name], name)
			require.Equal(t, !clash[p.Name], name == p.Name)
			taken[name] = true
		}
	})
}
