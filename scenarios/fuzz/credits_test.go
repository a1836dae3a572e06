package fuzz

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/testbed"
	"nictwin/scenarios/fuzz/player"
	"nictwin/scenarios/fuzz/program"
)

// long returns the factor by which a test multiplies its number of programs: NICTWIN_LONG, which `make test-all` sets
// to 10.
func long(t *testing.T) int {
	t.Helper()
	text := os.Getenv("NICTWIN_LONG")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, "NICTWIN_LONG")
	require.Positive(t, n, "NICTWIN_LONG")
	return n
}

// Programs pass on links with few credits and a root whose completions are late, jittered and split at random: neither
// makes the referee raise a false alarm.
func TestCreditsRaiseNoAlarm(t *testing.T) {
	for _, nic := range []string{device.Model, device.RTL} {
		for _, credits := range []int{4, 1000} {
			t.Run(fmt.Sprintf("%s_%d", nic, credits), func(t *testing.T) {
				t.Parallel()
				programs := 30 * long(t)
				c := begun(t, options(nic, programs))
				require.NoError(t, c.build(context.Background()))
				numbers := []int{134} // in program 134 the read of a Nop of two blocks is answered as it times out [T2]
				for number := range programs {
					numbers = append(numbers, number)
				}
				for _, number := range numbers {
					v := c.onLinks(c.generate(number), testbed.Spec{Credits: credits})
					require.True(t, v.Pass(), "program %d: %v %v", number, v.Err, v.Report)
				}
			})
		}
	}
}

// A program's crossings do not depend on the quantum, nor on whether host and device run in parallel, even where links
// run out of credits.
func TestCreditsDoNotShowTheQuantum(t *testing.T) {
	const links = 128
	var runs []testbed.Spec
	for _, q := range []uint32{1, 16, 64, 128, 2 * links} {
		runs = append(runs, testbed.Spec{Spec: device.Spec{Quantum: q, Serial: true}})
		if q <= links {
			runs = append(runs, testbed.Spec{Spec: device.Spec{Quantum: q}})
		}
	}
	for _, credits := range []int{4, 1000} {
		t.Run(strconv.Itoa(credits), func(t *testing.T) {
			t.Parallel()
			programs := 3 * long(t)
			c := begun(t, options(device.RTL, programs))
			require.NoError(t, c.build(context.Background()))
			for number := range programs {
				want := ""
				for _, s := range runs {
					s.Credits, s.LinkCycles = credits, links
					v := c.onLinks(c.generate(number), s)
					require.True(t, v.Pass(), "program %d: %v %v", number, v.Err, v.Report)
					if want == "" {
						want = v.Report.Digest
					}
					require.Equal(t, want, v.Report.Digest, "program %d, quantum %d, serial %v", number, s.Quantum,
						s.Serial)
				}
			}
		})
	}
}

// onLinks plays a program with the links and the quantum of a spec, and a root whose completions are late, jittered and
// split at random.
func (c *campaign) onLinks(p *program.Program, on testbed.Spec) *player.Verdict {
	return player.Run(p, context.Background(), func(s testbed.Spec) (*testbed.Bed, error) {
		s.Credits, s.Quantum, s.Serial = on.Credits, on.Quantum, on.Serial
		if on.LinkCycles != 0 {
			s.LinkCycles = on.LinkCycles
		}
		e := *s.Endpoint
		e.Delay.Jitter, e.Split = max(e.Delay.Jitter, 777*simcore.Nanosecond), tlp.CplRandom
		s.Endpoint = &e
		return c.boardOf(c.variant(0))(s)
	}, nil)
}
