package rtlbridge

import (
	"net"
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
