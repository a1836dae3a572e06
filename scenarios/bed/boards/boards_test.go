package boards

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestDrawings compares the text and SVG drawings of presets and files with golden files, and checks that the SVG is
// well-formed.
func TestDrawings(t *testing.T) {
	for _, name := range []string{"bf3", "bf2-pair", "connectx4", "bf2-fleet", "bf3-cores", "fleet.yaml",
		"shared.yaml", "parts.yaml"} {
		path := name
		if strings.HasSuffix(name, ".yaml") {
			path = filepath.Join("testdata", name)
		}
		s, err := Load(path)
		require.NoError(t, err)
		for ext, text := range map[string]string{".txt": Text(&s), ".svg": SVG(&s)} {
			golden := filepath.Join("testdata", strings.TrimSuffix(name, ".yaml")+ext)
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(text), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), text, "go test -update writes it anew")
		}
		require.NotContains(t, SVG(&s), `="-`, "%s: a negative size", name)
		for d := xml.NewDecoder(strings.NewReader(SVG(&s))); ; {
			if _, err := d.Token(); err != nil {
				require.True(t, errors.Is(err, io.EOF), "%s: %v", name, err)
				break
			}
		}
	}
}

// TestNamesAreEscaped checks that names from a file appear as text in the picture, never as markup.
func TestNamesAreEscaped(t *testing.T) {
	s, err := board.RackPreset("bf3")
	require.NoError(t, err)
	s.Servers[0].Cards[0].Device = board.DeviceSpec{Kind: board.DeviceRTL, DUT: "<script>"}
	require.Contains(t, SVG(&s), "RTL &lt;script&gt;")
}

func TestBoardsToPlayOn(t *testing.T) {
	for name, want := range map[string]string{
		"bf3-pair":  "board bf3-pair has 2 cards and network back_to_back: want one card with open ports",
		"connectx6": "board connectx6: device of kind rnic: want the contract's NIC, of kind model or rtl",
		"bf4":       `board "bf4": no such preset or file: want a file, or one of bf2, bf2-pair, bf3`,
		"testdata/shared.yaml": "board testdata/shared.yaml: the cards of server Server share its memory " +
			"(servers[0].memory): want one card with its own",
		"testdata/second.yaml": "board testdata/second.yaml: card Card has a second device (second): want none to " +
			"play on",
		"testdata/load.yaml": "board testdata/load.yaml: card Card has background loads (switch.arm.loads): only " +
			"nictwin run ends them: want none to play on",
		"none.yaml": "stat none.yaml: no such file",
		"testdata":  "testdata: is a folder",
		"testdata/wrong.yaml": "testdata/wrong.yaml:5: servers[0].cards[0].switch.fast: no such field: want one of " +
			"latency, ports",
	} {
		_, err := Card(name)
		require.ErrorContains(t, err, want)
	}
	c, err := Card("bf2")
	require.NoError(t, err)
	require.Equal(t, 2, c.Ports)
}

// TestTitleTellsOfHostileCables checks that the title names the loss or faults of a board's cables.
func TestTitleTellsOfHostileCables(t *testing.T) {
	for fields, want := range map[string]string{"": "25 ns",
		", loss: {share: 0.05}": "25 ns that lose 5% of the frames", ", faults: {}": "25 ns with faults"} {
		s, err := board.ParseRack("f.yaml",
			[]byte("preset: bf3-pair\nnetwork: {kind: back_to_back, latency_ps: 25000"+fields+"}"))
		require.NoError(t, err)
		line, _, _ := strings.Cut(Text(&s), "\n")
		require.True(t, strings.HasSuffix(line, want), "%s", line)
	}
}
