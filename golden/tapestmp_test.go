package golden

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/ether"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

func TestTapesTmp(t *testing.T) {
	for _, n := range []string{"overlap-91001-433", "overlap-91003-1017", "overlap-91003-6503", "txwqe-91003-6285"} {
		f, err := os.Open("/tmp/hG/" + n + ".one")
		require.NoError(t, err)
		s := bufio.NewScanner(f)
		s.Buffer(nil, 1<<20)
		b := nicspec.DefaultBuild()
		b.Ports = 1
		b.Parts = nicspec.PartsAll
		cfg := DefaultConfig(b)
		g, err := New(cfg)
		require.NoError(t, err)
		for s.Scan() {
			w := strings.Fields(s.Text())
			var x boundary.Crossing
			switch w[0] {
			case "held":
				var h boundary.Held
				fmt.Sscan(w[1]+" "+w[2]+" "+w[3]+" "+w[4], &h.Kind, &h.Port, &h.First, &h.Last)
				g.Held(h)
				continue
			case "tlp":
				fmt.Sscan(w[1]+" "+w[2]+" "+w[3], &x.Kind, &x.First, &x.Last)
				x.TLP = &tlp.Packet{}
				h, _ := hex.DecodeString(w[4])
				copy(x.TLP.Hdr[:], h)
				if len(w) > 5 {
					x.TLP.Data, _ = hex.DecodeString(w[5])
				}
			case "frame":
				x.Frame = &ether.Frame{}
				fmt.Sscan(w[1]+" "+w[2]+" "+w[3]+" "+w[4]+" "+w[5], &x.Kind, &x.Port, &x.First, &x.Last, &x.Frame.Queue)
				x.Frame.Data, _ = hex.DecodeString(w[6])
			}
			g.Observe(x)
		}
		p := g.Finish()
		for _, m := range p.List {
			t.Errorf("%s: %.300v", n, m)
		}
	}
}
