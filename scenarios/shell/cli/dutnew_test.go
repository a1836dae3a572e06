package cli

import (
	goflag "flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/manifest"

	"nictwin/scenarios/play"
)

var update = goflag.Bool("update", false, "write golden files anew")

// TestNewManifests compares the manifests written for modules in several styles with those expected. Each manifest must
// fit its module and can be played.
func TestNewManifests(t *testing.T) {
	for _, file := range []string{
		"axis_reg.v", "axil_ram.v", "dual.sv", "plain.sv", "marks.v", "words.v",
		"dcfifo.v", "ipframe.v", "demux.v", "switch.v", "dmawr.v", "axilshare.v", "narrow.v",
	} {
		t.Run(file, func(t *testing.T) {
			path := filepath.Join("testdata", "new", file)
			n := &DUTNew{Place: Place{Home: "../../.."}, Top: strings.TrimSuffix(file, filepath.Ext(file)),
				Files: []string{path}}
			text, d, err := n.Run(t.Context())
			require.NoError(t, err)
			require.NotEmpty(t, d.Streams)
			m, err := manifest.Parse(ManifestFile, []byte(text))
			require.NoError(t, err)
			b, err := manifest.Bind(m, d.Ports)
			require.NoError(t, err)
			require.NoError(t, play.Fit(b))
			want := filepath.Join("testdata", "new", n.Top+".yaml")
			if *update {
				require.NoError(t, os.WriteFile(want, []byte(text), 0o644))
			}
			golden, err := os.ReadFile(want)
			require.NoError(t, err)
			require.Equal(t, string(golden), text)
		})
	}
}

func TestNewManifestsRefuse(t *testing.T) {
	intf := []string{filepath.Join("testdata", "new", "intf.sv")}
	for _, c := range []struct {
		n    DUTNew
		want string
	}{
		{DUTNew{Top: "intf", Files: intf},
			"port a of module intf (testdata/new/intf.sv:5) is a SystemVerilog interface"},
		{DUTNew{Top: "other", Files: intf}, "the sources have no such module; they have intf"},
		{DUTNew{Top: "intf.sv", Files: intf}, `top "intf.sv": want the name of a module`},
		{DUTNew{Top: "intf"}, "no files given: want those of module intf"},
		{DUTNew{Top: "intf", Files: []string{"gone.v"}}, "gone.v: no such file"},
		{DUTNew{Top: "intf", Files: intf, Out: "testdata/new/axis_reg.yaml"}, "already exists"},
		{DUTNew{Top: "intf", Files: intf, Out: "testdata/none/dut.yaml"}, "there is no folder testdata/none"},
		{DUTNew{Top: "intf", Files: intf, Out: "/proc/dut.yaml"}, "--out /proc/dut.yaml: "},
	} {
		c.n.Home = "../../.."
		_, _, err := c.n.Run(t.Context())
		require.ErrorContains(t, err, c.want)
	}
}
