package path

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/papers/study"
)

func play(t *testing.T, x *study.Experiment, percent int) *study.Session {
	t.Helper()
	s, err := study.NewSession(context.Background(), x, percent)
	require.NoError(t, err)
	require.NoError(t, x.Run(s))
	return s
}

func found(t *testing.T, s *study.Session, claim string) study.Measured {
	t.Helper()
	for _, m := range s.Outcome.Measured {
		if m.Claim == claim {
			return m
		}
	}
	t.Fatalf("nothing about %s", claim)
	return study.Measured{}
}

// at returns the value of a series at a point.
func at(t *testing.T, s *study.Session, series, system, label string, x float64) float64 {
	t.Helper()
	for _, y := range s.Outcome.Series {
		for _, p := range y.Points {
			if y.Name == series && p.System == system && p.Label == label && (len(p.At) == 0 || p.At[0] == x) {
				return p.Value
			}
		}
	}
	t.Fatalf("no point %s %s %s %v", series, system, label, x)
	return 0
}

func TestPackets(t *testing.T) {
	s := play(t, &Packets, 1)
	for _, c := range []string{"offpath.t3.p1_packets", "offpath.t3.p2_packets", "offpath.t3.p3_packets",
		"offpath.p3.hops_h2s"} {
		require.True(t, found(t, s, c).Holds, c)
	}
	require.EqualValues(t, 8+2, at(t, s, "pcie1_packets", "path 3 H2S", "", 1000))
	require.EqualValues(t, 2, at(t, s, "pcie0_packets", "path 3 H2S", "", 1000))
	require.EqualValues(t, 0, at(t, s, "pcie0_packets", "path 2 READ", "", 1000))
}

// TestDuplex checks the bounds of each path. The network bounds paths 1 and 2, and the shared channel bounds path
// 3, at rates that follow from header bytes alone. With DRAM, the Arm's single DRAM channel bounds path 3, and path 2
// in both directions at once.
func TestDuplex(t *testing.T) {
	s := play(t, &Duplex, 1)
	limited := found(t, s, "offpath.p3.no_bidir_gain")
	require.False(t, limited.Holds, "%s: path 2 has one channel of DRAM", limited.Text)
	gain := func(path string) float64 {
		return at(t, s, "aggregate", path, "READ and WRITE", 0) / at(t, s, "aggregate", path, "READ", 0)
	}
	require.Greater(t, gain("path 1"), 1.8)
	require.Less(t, gain("path 2"), 1.1)
	require.Greater(t, gain("path 2, links only"), 1.8)
	require.InEpsilon(t, 200*4096.0/(4*1050+4), at(t, s, "aggregate", "path 1", "READ", 0), 0.002)
	require.InEpsilon(t, 200*4096.0/(4*1050+16), at(t, s, "aggregate", "path 2", "WRITE", 0), 0.002)
	require.InEpsilon(t, 256*128.0/148, at(t, s, "aggregate", "path 3, links only", "S2H", 0), 0.002)
	const channel = 204.8
	require.Less(t, at(t, s, "aggregate", "path 3", "S2H", 0), channel)
	require.Less(t, at(t, s, "aggregate", "path 2", "READ and WRITE", 0), channel)
	require.Greater(t, at(t, s, "aggregate", "path 2", "READ and WRITE", 0), 0.95*channel)
}

// TestPicturesShowWhatIsJudged checks that numbers of the paper are drawn beside what is measured with caches and DRAM,
// as claims are judged.
func TestPicturesShowWhatIsJudged(t *testing.T) {
	drawn := 0
	for _, p := range duplexPictures {
		for _, x := range p.Printed {
			require.NotContains(t, x.System, linksOnly, x.Claim)
			limit := x.Claim == "offpath.p2.bidir_limit"
			require.Equal(t, limit, x.Is == study.Limit, "%s: the paper derives it, and measures as much as on path 1",
				x.Claim)
			drawn++
		}
	}
	require.Positive(t, drawn)
}

// TestNumbersOfOtherQuantities checks the rates that numbers about the line rate and about the LLC stand for: 0.6 of
// 400 Gbps, and what 1,200 Gbps carry if 800 need 1,600.
func TestNumbersOfOtherQuantities(t *testing.T) {
	s, err := study.NewSession(t.Context(), &Passes, 1)
	require.NoError(t, err)
	require.InDelta(t, 240, ofLink(0.6, s.Input), 1e-9)
	require.InDelta(t, 600, throughLLC(1600, s.Input), 1e-9)
}

// TestPMinusN checks that path 1 gets what path 3 leaves of the channel, 256 Gbps, at 20 B for 512 B of payload: at the
// cap of 56 Gbps it loses 1% beside copies from the Arm. Those from the host share the host's link with path 1, on
// which three DLLPs of 8 B go with eight completions, 8 × 532 B: 254.6 Gbps, so that path 1 loses 1.9%. Both are less
// than the 3% that the claim takes for nothing. Waiting for DRAM costs up to 2% of that link, hence the claim misses.
func TestPMinusN(t *testing.T) {
	s := play(t, &PMinusN, 1)
	const host = 256 * 532.0 / 535
	for _, x := range []struct {
		beside        string
		channel, idle float64
	}{{"S2H", 256, 0}, {"S2H" + linksOnly, 256, 0}, {"H2S" + linksOnly, host, 0}, {"H2S", host, 0.02}} {
		of := func(system string, wire float64) float64 {
			return at(t, s, "beside path 3 "+x.beside, system, "", wire)
		}
		alone := of("path 1, payload", 0)
		require.InEpsilon(t, 200*1024.0/1050, alone, 0.002)
		require.InEpsilon(t, alone, of("path 1, payload", 40), 0.01, x.beside)
		for _, wire := range []float64{56, 65, 80, 100, 130} {
			both := of("path 1, payload", wire)*532/512 + of("path 3, wire", wire)
			require.LessOrEqual(t, both, 1.005*x.channel, "%s at %g Gbps", x.beside, wire)
			require.GreaterOrEqual(t, both, (0.99-x.idle)*x.channel, "%s at %g Gbps", x.beside, wire)
		}
		require.Equal(t, x.idle == 0, of("path 1, payload", 56) > 0.97*alone, x.beside)
	}
	claim := found(t, s, "offpath.c13.p_minus_n")
	require.False(t, claim.Holds, "%s: 3%% is the limit", claim.Text)
}

func TestSkew(t *testing.T) {
	s := play(t, &Skew, 1)
	const alone, cached = "path 2, no cache", "path 1, device allocation on"
	require.InEpsilon(t, 1e3/44, at(t, s, "rate_write", alone, "", 1.5), 0.1, "one bank")
	require.InEpsilon(t, 1e3/20, at(t, s, "rate_read", alone, "", 1.5), 0.1, "one bank")
	require.Greater(t, at(t, s, "rate_write", alone, "", 48), 3*at(t, s, "rate_write", alone, "", 1.5))
	require.InEpsilon(t, 195, at(t, s, "rate_write", cached, "", 1.5), 0.01, "the cache absorbs them")
}

func TestPasses(t *testing.T) {
	s := play(t, &Passes, 1)
	require.InEpsilon(t, 240, at(t, s, "dram_ceilings", "Arm DRAM", "writes", 0), 0.01)
	require.InEpsilon(t, 480, at(t, s, "dram_ceilings", "Arm DRAM", "as many reads as writes", 0), 0.02)
	require.InDelta(t, 1, at(t, s, "receive_passes", "DRAM writes", "write back", 0), 0.02)
	require.Zero(t, at(t, s, "receive_passes", "DRAM reads", "write back", 0))
	require.Zero(t, at(t, s, "receive_passes", "DRAM writes", "invalidate", 0))
	require.True(t, found(t, s, "smartns.rx.required_cache_eq").Holds, found(t, s, "smartns.rx.required_cache_eq").Text)
	require.Equal(t, []float64{4}, found(t, s, "smartns.naive.mem_touches").Values)
	require.Zero(t, at(t, s, "backlog", "writes", "", 50), "the cache holds it")
	require.Greater(t, at(t, s, "backlog", "writes", "", 180), 50.0, "it does not")
	require.Zero(t, at(t, s, "backlog", "writes", "", 700), "it does again")
	require.Zero(t, at(t, s, "backlog", "reads", "", 700))
}
