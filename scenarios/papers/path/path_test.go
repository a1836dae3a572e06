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

func TestPMinusN(t *testing.T) {
	s := play(t, &PMinusN, 1)
	for _, beside := range []string{"beside path 3 H2S", "beside path 3 S2H"} {
		alone := at(t, s, beside, "path 1, payload", "", 0)
		require.InEpsilon(t, alone, at(t, s, beside, "path 1, payload", "", 50), 0.01, beside)
		require.InEpsilon(t, alone, at(t, s, beside, "path 1, payload", "", 56), 0.05, beside)
		require.Less(t, at(t, s, beside, "path 1, payload", "", 130), 0.9*alone, beside)
	}
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
