package rdma

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

func dump(t *testing.T, s *study.Session) {
	for _, y := range s.Outcome.Series {
		t.Log(y.Name)
		for _, p := range y.Points {
			t.Log("  ", p.System, p.Label, p.At, p.Value)
		}
	}
	for _, m := range s.Outcome.Measured {
		t.Log(m.Claim, m.Values, m.Holds, m.Text)
	}
}

func TestLatency(t *testing.T) {
	s := play(t, &Latency, 1)
	dump(t, s)
}

func TestRate(t *testing.T) {
	s := play(t, &Rate, 1)
	dump(t, s)
}

func TestZero(t *testing.T) {
	s := play(t, &Zero, 1)
	dump(t, s)
}

func TestLarge(t *testing.T) {
	s := play(t, &Large, 1)
	dump(t, s)
}

func TestTogether(t *testing.T) {
	s := play(t, &Together, 1)
	dump(t, s)
}

func TestDoorbell(t *testing.T) {
	s := play(t, &Doorbell, 1)
	dump(t, s)
}
