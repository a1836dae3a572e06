package run

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/scenarios/bed/device"
)

// A stack sets its NIC's limits to those of the card's endpoint: no write exceeds the MPS and no read the MRRS, and the
// longest ones reach them.
func TestLimitsOfTheCard(t *testing.T) {
	const card = "{preset: bf3-cores, endpoint: {limits: {mrrs: 4096}}}"
	server := func(i int) string { return fmt.Sprintf("{preset: bf3-cores, name: S%d, cards: [%s]}", i, card) }
	for text, want := range map[string][2]int{ // lengths of the longest write and the longest read
		"preset: bf3-cores-pair": {256, 512},
		"preset: bf2-cores-pair": {128, 512},
		"preset: bf3-cores-pair, servers: [" + server(0) + ", " + server(1) + "]": {256, 4096},
	} {
		for _, nic := range []string{device.Model, device.RTL} {
			o, write, read := optionsFor(t, nic), 0, 0
			o.Observe = func(_ int, nic board.NIC) {
				nic.Observe(func(c boundary.Crossing) {
					if c.Kind != boundary.TLPOut {
						return
					}
					switch h, err := c.TLP.Header(); {
					case err != nil:
						t.Error(err)
					case h.Kind == tlp.MWr:
						write = max(write, len(c.TLP.Data))
					case h.Kind == tlp.MRd:
						read = max(read, int(h.Length)*tlp.DWBytes)
					}
				})
			}
			p, err := caseOf(t, "board: {"+text+"}\nstacks: [{kind: flexins, flexins: {data_cores: 2}}]\nworkload: "+
				"{kind: write, sizes: [16384], mtu: 4096, count: 8}").Play(t.Context(), o)
			require.NoError(t, err)
			require.True(t, p.Pass(), "%s on %s: %s", text, nic, texts(p))
			require.Equal(t, want, [2]int{write, read}, "%s on %s", text, nic)
		}
	}
}
