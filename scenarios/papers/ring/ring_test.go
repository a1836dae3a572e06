package ring

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/rnic"
	"nictwin/scenarios/papers/study"
	"nictwin/stack/rb2"
)

func session(t *testing.T, change func(in *study.Input)) *study.Session {
	t.Helper()
	x := &study.Experiment{Name: "x", Group: "ring", Inputs: append(inputs(), rawInputs...)}
	for i := range x.Inputs {
		change(&x.Inputs[i])
	}
	s, err := study.NewSession(t.Context(), x, 1)
	require.NoError(t, err)
	return s
}

// TestWindow checks that messages that wait for the window leave together: with a small window, several by one WRITE.
func TestWindow(t *testing.T) {
	together := false
	for _, window := range []float64{1, 2, 5} {
		s := session(t, func(in *study.Input) {
			switch in.Name {
			case "sd.window":
				in.Value = window
			case "host.mmio", "host.build":
				in.Value = 1
			}
		})
		r, err := throughput(s, socksDirect(s), 64)
		require.NoError(t, err)
		a := r.f.send.Stats()
		together = together || a.Slots < a.Messages
	}
	require.True(t, together)
}

// TestTornMessagesAreSeen checks that a message read before it is complete is detected. It occurs only if the NIC
// writes in descending order and the tail word is in the slot.
func TestTornMessagesAreSeen(t *testing.T) {
	s := session(t, func(*study.Input) {})
	for place, torn := range map[rnic.Order]bool{rnic.Ascending: false, rnic.Descending: true} {
		for _, d := range []design{looseTail(s), full(s)} {
			r, err := oneWay{d: d, size: 1000, torn: true, change: func(x *rnic.Spec) { x.Place = place }}.measure(s)
			require.NoError(t, err)
			require.Equal(t, torn && d.spec.Tail == rb2.TailLast, r.f.torn > 0, "%s, %s", d.name, place)
		}
	}
}

// TestCachesAreScaled checks that a scale of 16 divides the sizes of all caches by 16.
func TestCachesAreScaled(t *testing.T) {
	s := session(t, func(*study.Input) {})
	d := full(s)
	one, err := rackSpec(s, &d, 1)
	require.NoError(t, err)
	sixteen, err := rackSpec(s, &d, 16)
	require.NoError(t, err)
	a, b := one.Servers[0].Cards[0].Direct.Host, sixteen.Servers[0].Cards[0].Direct.Host
	require.Equal(t, []int64{a.LLC.SizeBytes, a.Private.SizeBytes},
		[]int64{16 * b.LLC.SizeBytes, 16 * b.Private.SizeBytes})
}
