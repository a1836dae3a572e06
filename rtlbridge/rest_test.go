package rtlbridge

import (
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/ether"
	"nictwin/models/simcore"
)

// A device that is not at rest when all is done has its time, then the run ends with what is not over.
func TestRestlessDevice(t *testing.T) {
	for _, x := range []struct {
		name        string
		flags       uint32
		busy, until uint64 // what is observed, up to this cycle
		open        string
	}{
		{"at rest", RanQuiet, 0, 0, ""},
		{"busy for a while", RanQuiet, 1, 900, ""},
		{"busy for ever", RanQuiet, 1, 1 << 60, "its signal busy is not 0"},
		{"a transaction without end", 0, 0, 0, "a transaction on its streams has not ended"},
	} {
		t.Run(x.name, func(t *testing.T) {
			conn, err := Dial(fakeDevice(t, answerRuns(func(c net.Conn, i, s uint64, n uint32) {
				r := goodRan(i, s, n)
				r.Flags = x.flags
				if s < x.until {
					r.Observed[0].Value = x.busy
				}
				c.Write(appendRan(nil, r, nil))
			})), DialOptions{Timeout: testTimeout})
			require.NoError(t, err)
			e, pool := simcore.NewEngine(), &ether.Pool{}
			spec := CompSpec{InLatency: 640_000, OutLatency: 640_000, Patience: 1000}
			k, err := NewComp("NIC", e, conn, spec, []Binding{EtherBinding("Eth", "eth_in", "eth_out", 0, pool, true)})
			require.NoError(t, err)
			k.Done = func() bool { return k.Cycle() >= 200 }
			require.NoError(t, k.Begin(conn.NewStart(1)))
			err = e.Run()
			require.True(t, k.Ended())
			require.NoError(t, conn.Close())
			if x.open == "" {
				require.NoError(t, err)
				return
			}
			var restless *RestlessError
			require.ErrorAs(t, err, &restless)
			require.Equal(t, []string{x.open}, restless.Open)
			require.ErrorContains(t, err, "NIC is not at rest at cycle ")
			require.Less(t, restless.Cycle, uint64(3000))
		})
	}
}

// Every cycle in which the busy signal is 0 is told of, once and in order, whatever the quantum.
func TestRestsAreTold(t *testing.T) {
	const end = 400
	zero := func(cycle uint64) bool { // rests within a quantum, over its end, from its first cycle and up to its last
		return cycle >= 20 && cycle < 30 || cycle >= 33 && cycle < 34 || cycle >= 90 && cycle < 120 ||
			cycle >= 150 && cycle < 160 || cycle >= 190 && cycle < 200 || cycle >= 237
	}
	for _, quantum := range []uint32{1, 7, 50, 64} {
		t.Run(strconv.Itoa(int(quantum)), func(t *testing.T) {
			last := uint64(0) // one more than the last cycle in which it was not 0
			conn, err := Dial(fakeDevice(t, answerRuns(func(c net.Conn, i, s uint64, n uint32) {
				r := goodRan(i, s, n)
				var recs []Record
				for x := s; x < s+uint64(n); x++ {
					if !zero(x) {
						if last != x {
							recs = append(recs, Record{Kind: EventRest, First: last, Last: x - 1})
						}
						last = x + 1
					}
				}
				r.Observed[0] = Observed{Value: oneIf(last == s+uint64(n)), LastNonzero: last}
				c.Write(appendRan(nil, r, recs))
			})), DialOptions{Timeout: testTimeout})
			require.NoError(t, err)
			e, pool := simcore.NewEngine(), &ether.Pool{}
			k, err := NewComp("NIC", e, conn, CompSpec{InLatency: 640_000, OutLatency: 640_000, Quantum: quantum},
				[]Binding{EtherBinding("Eth", "eth_in", "eth_out", 0, pool, true)})
			require.NoError(t, err)
			k.Done = func() bool { return k.Cycle() >= end }
			next := uint64(0)
			k.ObserveRest(func(first, last uint64) {
				for ; next < first; next++ {
					require.False(t, zero(next), "cycle %d", next)
				}
				for ; next <= last; next++ {
					require.True(t, zero(next), "cycle %d", next)
				}
			})
			require.NoError(t, k.Begin(conn.NewStart(1)))
			require.NoError(t, e.Run())
			require.NoError(t, conn.Close())
			require.GreaterOrEqual(t, next, uint64(end))
		})
	}
}

func oneIf(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
