package rtlbridge

import (
	"encoding/binary"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/protocol"
)

// kinds launches the device that has a port of every kind.
func kinds(t *testing.T) *Conn {
	t.Helper()
	m, err := manifest.Load("../verilator/duts/ports")
	require.NoError(t, err)
	d, err := build.Build(m, build.Options{Variant: build.VariantSpeed, Log: os.Stderr})
	require.NoError(t, err)
	return launch(t, d, LaunchOptions{})
}

// kindRun is the result of a run: outputs by stream, and the device's counts of wrongly driven inputs.
type kindRun struct {
	outs   map[string][][]byte
	ins    map[string][]uint64 // cycles of the accepted inputs, by stream
	faults []uint64
}

func runKinds(t *testing.T, c *Conn, quanta int, cycles uint32) kindRun {
	t.Helper()
	r := kindRun{outs: map[string][][]byte{}, ins: map[string][]uint64{}}
	for range quanta {
		require.NoError(t, c.SendRun(cycles))
		ran, err := c.Recv()
		require.NoError(t, err)
		var e protocol.Record
		for {
			ok, err := c.Next(ran, &e)
			require.NoError(t, err)
			if !ok {
				break
			}
			name := c.Hello().Streams[e.Stream].Name
			switch e.Kind {
			case protocol.EventOut:
				r.outs[name] = append(r.outs[name], append([]byte(nil), e.Side...))
			case protocol.EventIn:
				r.ins[name] = append(r.ins[name], e.Last)
			case protocol.EventViolation:
				t.Fatalf("%s: %v", name, e.Rule)
			}
		}
		r.faults = nil
		for _, o := range ran.Observed {
			r.faults = append(r.faults, o.Value)
		}
	}
	return r
}

// TestPortKinds checks with stalls on every stream that a record carries its fields, a level keeps its
// value, an acknowledge comes in the cycle of its request and never without one, and coupled streams keep
// their order.
func TestPortKinds(t *testing.T) {
	c := kinds(t)
	at := map[string]int{}
	for i, s := range c.Hello().Streams {
		at[s.Name] = i
	}
	require.Equal(t, []protocol.Signal{{Name: "addr", Width: 12}, {Name: "write", Width: 1}, {Name: "mode", Width: 3}},
		c.Hello().Streams[at["rsp"]].Fields)
	for _, stall := range []int{0, 30, 90} {
		s := c.NewStart(uint64(7 + stall))
		s.Poison = true
		for i, x := range c.Hello().Streams {
			if x.Ready || !x.Out {
				s.Streams[i].StallPercent = stall
			}
		}
		s.Streams[at["mode"]].StallPercent = 0
		require.NoError(t, c.Start(s))
		const n = 40
		require.NoError(t, c.Add(at["mode"], 0, []byte{5}, nil))
		for i := range n {
			require.NoError(t, c.Add(at["req"], 0, []byte{byte(i), byte(i >> 4 & 0xf), byte(i & 1)}, nil))
			beats := 1 + i%5
			require.NoError(t, c.Add(at["hdr"], 0, []byte{byte(beats)}, nil))
			pay := make([]byte, beats)
			for k := range pay {
				pay[k] = byte(beats - k)
			}
			require.NoError(t, c.Add(at["pay"], 0, nil, pay))
			require.NoError(t, c.Add(at["left"], uint64(10*i), []byte{byte(i)}, nil))
			require.NoError(t, c.Add(at["right"], uint64(10*i), []byte{byte(i)}, nil))
		}
		for range 3 {
			require.NoError(t, c.Add(at["kick"], 0, nil, nil))
		}
		r := runKinds(t, c, 1, 20_000)
		require.Equal(t, []uint64{0, 0, 0}, r.faults, "stray acknowledges, early payload, records apart, at %d%%",
			stall)
		require.Len(t, r.outs["rsp"], n)
		for i, got := range r.outs["rsp"] {
			require.Equal(t, []byte{byte(i), byte(i >> 4 & 0xf), byte(i & 1), 5}, got)
		}
		require.Len(t, r.ins["pay"], n+n*4/5, "each packet's first and last beat, or its only one")
		ticks := r.outs["tick"]
		last := ticks[len(ticks)-1]
		require.EqualValues(t, 3, binary.LittleEndian.Uint16(last[2:]), "pulses in the other clock's domain")
		require.InDelta(t, 20_000*2500/3700, int(binary.LittleEndian.Uint16(last)), 8, "cycles of the other clock")
	}
}

// TestClocksAndQuanta checks that results do not depend on the quantum, with one clock or two.
func TestClocksAndQuanta(t *testing.T) {
	c := kinds(t)
	run := func(quanta int, cycles uint32) kindRun {
		s := c.NewStart(3)
		s.Clocks[0] = protocol.ClockStart{PeriodPs: 901, PhasePs: 17}
		require.NoError(t, c.Start(s))
		for i := range 20 {
			require.NoError(t, c.Add(1, uint64(11*i), []byte{byte(i), 0, 0}, nil))
		}
		return runKinds(t, c, quanta, cycles)
	}
	once := run(1, 600)
	require.Equal(t, once, run(600, 1))
	require.Len(t, once.outs["rsp"], 20)
}

// TestReset checks that a reset during traffic drops what was in progress, and that the device then behaves
// as after power-up.
func TestReset(t *testing.T) {
	m, err := manifest.Load("../verilator/duts/fifo")
	require.NoError(t, err)
	d, err := build.Build(m, build.Options{Variant: build.VariantSpeed, Log: os.Stderr})
	require.NoError(t, err)
	c := launch(t, d, LaunchOptions{})
	for _, at := range []uint64{0, 1, 7, 23, 40} {
		run := func(quanta int, cycles uint32) kindRun {
			require.NoError(t, c.Start(c.NewStart(at)))
			for i := range 10 {
				require.NoError(t, c.Add(0, 0, []byte{byte(i), 0, 0, 0}, make([]byte, 300)))
			}
			require.NoError(t, c.Reset(at))
			require.NoError(t, c.Add(0, 0, []byte{99, 0, 0, 0}, make([]byte, 65)))
			return runKinds(t, c, quanta, cycles)
		}
		r := run(1, 200)
		outs := r.outs["out"]
		require.NotEmpty(t, outs)
		require.Equal(t, []byte{99, 0, 0, 0}, outs[len(outs)-1])
		require.LessOrEqual(t, len(outs), 1+int(at)/5, "five beats each")
		require.Equal(t, r, run(200, 1), "whatever the quantum")
	}
}
