package rtlbridge

import (
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/protocol"
)

const fifoManifest = "../verilator/duts/fifo/dut.yaml"

var fifoBuilds = struct {
	sync.Mutex
	m map[build.Variant]*build.Device
}{m: map[build.Variant]*build.Device{}}

// fifo builds the FIFO device, once per variant and test run; later runs find it in the cache.
func fifo(t testing.TB, v build.Variant) *build.Device {
	t.Helper()
	fifoBuilds.Lock()
	defer fifoBuilds.Unlock()
	if d := fifoBuilds.m[v]; d != nil {
		return d
	}
	m, err := manifest.Load(fifoManifest)
	require.NoError(t, err)
	d, err := build.Build(m, build.Options{Variant: v, Log: os.Stderr})
	require.NoError(t, err)
	fifoBuilds.m[v] = d
	return d
}

func launch(t testing.TB, d *build.Device, o LaunchOptions) *Conn {
	t.Helper()
	c, err := Launch(d, o)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// frame returns n bytes of a pattern that depends on the seed.
func frame(n, seed int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + seed*13 + i>>8)
	}
	return b
}

func TestRoundTrip(t *testing.T) {
	c := launch(t, fifo(t, build.VariantSpeed), LaunchOptions{})
	in, ok := c.StreamIndex("in")
	require.True(t, ok)
	require.NoError(t, c.Start(c.NewStart(1)))
	sizes := []int{1, 60, 63, 64, 65, 127, 128, 1500, 9216}
	for i, n := range sizes {
		require.NoError(t, c.Add(in, uint64(10*i), []byte{byte(i), 2, 3, 4}, frame(n, i)))
	}
	require.NoError(t, c.SendRun(500))
	r, err := c.Recv()
	require.NoError(t, err)
	require.EqualValues(t, 500, r.Cycles)
	require.Equal(t, protocol.RanQuiet|protocol.RanStill, r.Flags)
	var e protocol.Record
	outs, ins := 0, 0
	for {
		ok, err := c.Next(r, &e)
		require.NoError(t, err)
		if !ok {
			break
		}
		switch e.Kind {
		case protocol.EventIn:
			if e.Flags&protocol.InEnd != 0 {
				ins++
			}
			require.GreaterOrEqual(t, e.First, 10*e.Ordinal)
		case protocol.EventOut:
			require.Equal(t, frame(sizes[outs], outs), e.Data)
			require.Equal(t, []byte{byte(outs), 2, 3, 4}, e.Side)
			outs++
		case protocol.EventViolation:
			t.Fatalf("violation: %v", e.Rule)
		}
	}
	require.Equal(t, len(sizes), outs)
	require.Equal(t, len(sizes), ins)
	require.NoError(t, c.Close())
}

// TestStartDropsInputs checks that inputs added before Start, and not yet sent, are not part of the new
// run.
func TestStartDropsInputs(t *testing.T) {
	c := launch(t, fifo(t, build.VariantSpeed), LaunchOptions{})
	require.ErrorContains(t, c.Add(0, 0, make([]byte, 4), frame(64, 1)), "the device has not been started")
	require.ErrorContains(t, c.AddCredits(1, 0, 1), "the device has not been started")
	require.ErrorContains(t, c.SendRun(1), "the device has not been started")
	run := func(cycles uint32) (inputs int) {
		require.NoError(t, c.SendRun(cycles))
		r, err := c.Recv()
		require.NoError(t, err)
		var e protocol.Record
		for ok := true; ok; {
			ok, err = c.Next(r, &e)
			require.NoError(t, err)
			if ok && e.Kind == protocol.EventIn {
				inputs++
			}
		}
		return inputs
	}
	require.NoError(t, c.Start(c.NewStart(1)))
	require.NoError(t, c.Add(0, 0, make([]byte, 4), frame(64, 1)))
	require.Equal(t, 1, run(100))
	require.NoError(t, c.Add(0, 100, make([]byte, 4), frame(64, 2)))
	require.NoError(t, c.Start(c.NewStart(1)))
	require.Zero(t, run(300))
	require.NoError(t, c.Close())
}

// TestNoAllocations checks that a quantum allocates no memory once buffers have grown.
func TestNoAllocations(t *testing.T) {
	c := launch(t, fifo(t, build.VariantSpeed), LaunchOptions{})
	require.NoError(t, c.Start(c.NewStart(1)))
	side, data := make([]byte, 4), frame(1500, 1)
	cycle, bad := uint64(0), error(nil)
	var rec protocol.Record
	outs := 0
	quantum := func() {
		for range 2 {
			if err := c.Add(0, cycle, side, data); err != nil {
				bad = err
			}
		}
		if err := c.SendRun(64); err != nil {
			bad = err
			return
		}
		r, err := c.Recv()
		for ok := err == nil; ok; {
			if ok, err = c.Next(r, &rec); ok && rec.Kind == protocol.EventOut {
				outs++
			}
		}
		if err != nil {
			bad = err
		}
		cycle += 64
	}
	for range 50 {
		quantum()
	}
	require.Zero(t, testing.AllocsPerRun(200, quantum))
	require.NoError(t, bad)
	require.Greater(t, outs, 400)
}
