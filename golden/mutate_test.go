package golden

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
)

var mutateSeed = uint64(1)

// TestEveryOutputCounts removes, repeats and damages each output of a run in turn. The referee must report each of
// these.
func TestEveryOutputCounts(t *testing.T) {
	cfg, clean := calm(t)
	everyOutputCounts(t, cfg, clean, 1000)
	cfg, clean = copies(t)
	everyOutputCounts(t, cfg, clean, 200)
	cfg, clean = pushes(t)
	everyOutputCounts(t, cfg, clean, 100)
}

func everyOutputCounts(t *testing.T, cfg Config, clean []boundary.Crossing, least int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(mutateSeed, 2))
	tried := 0
	for i := range clean {
		if k := clean[i].Kind; k != boundary.FrameOut && k != boundary.TLPOut {
			continue
		}
		for _, edit := range [...]func(p *tape) string{
			func(p *tape) string { p.drop(i); return "dropped" },
			func(p *tape) string { p.insert(i, clone(p.s[i])); return "repeated" },
			func(p *tape) string { return flip(rng, &p.s[i]) },
		} {
			p := &tape{t: t, s: append([]boundary.Crossing(nil), clean...)}
			p.s[i] = clone(p.s[i])
			where := edit(p)
			tried++
			if where == harmless {
				continue
			}
			require.Equal(t, Differs, judge(t, cfg, p.s).Result, "%v: %s", clean[i], where)
		}
	}
	require.Greater(t, tried, least)
}

const harmless = "harmless"

// flip flips a bit of an output and returns a description.
func flip(rng *rand.Rand, x *boundary.Crossing) string {
	if x.Kind == boundary.FrameOut {
		n := rng.IntN(len(x.Frame.Data) * 8)
		x.Frame.Data[n/8] ^= 1 << (n % 8)
		return fmt.Sprintf("bit %d", n)
	}
	h := tlp.Parse(&x.TLP.Hdr)
	if len(x.TLP.Data) > 0 && rng.IntN(2) == 0 {
		n := rng.IntN(len(x.TLP.Data) * 8)
		x.TLP.Data[n/8] ^= 1 << (n % 8)
		if h.Kind == tlp.CplD && len(x.TLP.Data) == 4 && n == 31 {
			return harmless // TBL_CMD: busy may be 1 for a while
		}
		return fmt.Sprintf("data bit %d", n)
	}
	n := rng.IntN(h.SizeDW() * 32)
	x.TLP.Hdr[n/8] ^= 1 << (n % 8)
	return fmt.Sprintf("header bit %d", n)
}
