package path

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/experiments/study"
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

func dump(t *testing.T, s *study.Session) {
	for _, m := range s.Outcome.Measured {
		t.Logf("%-40s %v %v %s (%s)", m.Claim, m.Values, m.Holds, m.Text, m.How)
	}
	for _, x := range s.Outcome.Series {
		for _, p := range x.Points {
			if len(x.Points) < 60 {
				t.Logf("%-20s %-28s %v %s %.4g ± %.2g (%d)", x.Name, p.System, p.At, p.Label, p.Value, p.Half, p.RoundTrips)
			}
		}
	}
}

func TestPackets(t *testing.T) {
	s := play(t, &Packets, 10)
	dump(t, s)
	for _, c := range []string{"offpath.t3.p1_packets", "offpath.t3.p2_packets", "offpath.t3.p3_packets", "offpath.p3.hops_h2s"} {
		require.True(t, found(t, s, c).Holds, c)
	}
}

func TestDuplex(t *testing.T) {
	s := play(t, &Duplex, 10)
	dump(t, s)
	require.True(t, found(t, s, "offpath.p3.no_bidir_gain").Holds)
}

func TestSkew(t *testing.T) {
	s := play(t, &Skew, 10)
	dump(t, s)
}

func TestPasses(t *testing.T) {
	s := play(t, &Passes, 10)
	dump(t, s)
}

func TestPMinusN(t *testing.T) {
	s := play(t, &PMinusN, 10)
	dump(t, s)
}
