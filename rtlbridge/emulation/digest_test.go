package emulation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/protocol"
)

// recording is a run of a device as a client would have it: its frames in a file.
type recording struct {
	file   string
	resets int // in the middle of the traffic
}

// Shape of a recorded run.
const (
	recordedQuanta = 40
	recordedCycles = 100
	mostGap        = 60 // inputs are due less than this many cycles after the quantum's start
	mostBytes      = 300
)

// record plays random traffic on a device: stalls, credits, poison, clocks of any period, and resets.
func record(t *testing.T, d *build.Device, seed uint64, quanta int) recording {
	t.Helper()
	r := recording{file: filepath.Join(t.TempDir(), fmt.Sprintf("run-%d", seed))}
	f, err := os.Create(r.file)
	require.NoError(t, err)
	defer f.Close()
	c, err := rtlbridge.Launch(d, rtlbridge.LaunchOptions{Record: f})
	require.NoError(t, err)
	defer c.Close()
	rnd := rand.New(rand.NewPCG(seed, 1))
	s := c.NewStart(seed)
	s.Poison, s.Watchdog = seed%3 != 0, 50
	for i := range s.Clocks {
		s.Clocks[i].PeriodPs = 1000 + rnd.Int64N(6000)
		s.Clocks[i].PhasePs = rnd.Int64N(s.Clocks[i].PeriodPs)
	}
	limited := map[int]bool{}
	for i, x := range c.Hello().Streams {
		if seed%4 != 0 && (x.Ready || !x.Out) {
			s.Streams[i].StallPercent, s.Streams[i].BurstLog2 = rnd.IntN(90), rnd.IntN(4)
		}
		if limited[i] = x.Out && x.Ready && rnd.IntN(2) == 0; limited[i] {
			s.Streams[i].Credits = rnd.IntN(4)
		}
	}
	require.NoError(t, c.Start(s))
	for range quanta {
		r.resets += quantum(t, c, rnd, limited)
	}
	require.NoError(t, c.Close())
	return r
}

// quantum gives a device the inputs of a quantum, and runs it. It returns the number of resets.
func quantum(t *testing.T, c *rtlbridge.Conn, rnd *rand.Rand, limited map[int]bool) (resets int) {
	t.Helper()
	now := c.Cycle()
	for i, x := range c.Hello().Streams {
		if limited[i] && rnd.IntN(2) == 0 {
			require.NoError(t, c.AddCredits(i, now+uint64(rnd.IntN(recordedCycles)), 1+rnd.IntN(5)))
		}
		for n := rnd.IntN(6); !x.Out && n > 0; n-- {
			require.NoError(t, c.Add(i, now+uint64(rnd.IntN(mostGap)), side(&x, rnd), data(&x, rnd)))
		}
		if i == 1 && rnd.IntN(8) == 0 {
			require.NoError(t, c.Reset(now+uint64(rnd.IntN(recordedCycles))))
			resets++
		}
	}
	require.NoError(t, c.SendRun(recordedCycles))
	ran, err := c.Recv()
	require.NoError(t, err)
	var e protocol.Record
	for ok := true; ok; {
		ok, err = c.Next(ran, &e)
		require.NoError(t, err)
	}
	return resets
}

// side draws the side bytes of a transaction, each field within its width.
func side(x *protocol.StreamInfo, rnd *rand.Rand) (all []byte) {
	for _, f := range x.Fields {
		b := make([]byte, bytesOf(f.Width))
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		if over := 8*len(b) - f.Width; over > 0 {
			b[len(b)-1] >>= over
		}
		all = append(all, b...)
	}
	return all
}

func data(x *protocol.StreamInfo, rnd *rand.Rand) []byte {
	if x.DataBytes == 0 {
		return nil
	}
	unit := x.KeepUnit
	if unit == 0 {
		unit = x.DataBytes
	}
	b := make([]byte, unit*(1+rnd.IntN(mostBytes/unit)))
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return b
}

// load reads the manifest of a device.
func load(t *testing.T, path string) *manifest.Manifest {
	t.Helper()
	m, err := manifest.Load(filepath.Join("../../verilator/duts", path))
	require.NoError(t, err)
	return m
}

// TestSameDigest checks that a device behind a shell does in every cycle what it does without: all kinds of streams,
// several clocks, resets, with the smallest queues and links of several widths.
func TestSameDigest(t *testing.T) {
	played := []playedDevice{
		{"fifo/lanes.yaml", []string{"sim,faults=3", "sim,bits=512,depth=1"}},
		{"ports/dut.yaml", []string{"sim,bits=64,depth=1"}},
	}
	if os.Getenv("NICTWIN_LONG") != "" {
		own, err := filepath.Glob("../../verilator/duts/own/*/dut.yaml")
		require.NoError(t, err)
		require.NotEmpty(t, own)
		for _, f := range own {
			played = append(played, playedDevice{filepath.Join("own", filepath.Base(filepath.Dir(f)), "dut.yaml"),
				[]string{"sim,faults=1", "sim,bits=512,depth=1"}})
		}
	}
	for _, x := range played {
		t.Run(filepath.Base(filepath.Dir(x.device)), func(t *testing.T) { sameDigest(t, load(t, x.device), x.links) })
	}
}

// playedDevice is a device that is played directly and through links.
type playedDevice struct {
	device string
	links  []string
}

// sameDigest plays recordings of a device on the device and on shells around it.
func sameDigest(t *testing.T, m *manifest.Manifest, links []string) {
	t.Helper()
	const seeds = 8
	ctx, resets, outputs := context.Background(), 0, uint64(0)
	direct, err := build.Build(m, build.Options{Log: os.Stderr})
	require.NoError(t, err)
	for i, text := range links {
		link, err := ParseLink(text)
		require.NoError(t, err)
		agent, err := link.Build(m, build.Options{Log: os.Stderr})
		require.NoError(t, err)
		for seed := uint64(seeds * i); seed < uint64(seeds*(i+1)); seed++ {
			r := record(t, direct, seed, recordedQuanta)
			want, err := build.Playback(ctx, direct, r.file)
			require.NoError(t, err)
			outputs += want.Outputs
			got, err := build.Playback(ctx, agent, r.file)
			require.NoError(t, err, "%s, seed %d", text, seed)
			want.Wall, got.Wall = 0, 0
			require.Equal(t, want, got, "%s, seed %d", text, seed)
			resets += r.resets
		}
	}
	require.NotZero(t, resets)
	require.NotZero(t, outputs)
}

// TestClocksFarApart checks a run in which a cycle of the first clock, in reset too, has more slots than a grant.
func TestClocksFarApart(t *testing.T) {
	m := load(t, "ports/dut.yaml")
	direct, err := build.Build(m, build.Options{Log: os.Stderr})
	require.NoError(t, err)
	agent, err := Build(m, Options{LinkBits: 64, Depth: 1}, build.Options{Log: os.Stderr})
	require.NoError(t, err)
	f, err := os.Create(filepath.Join(t.TempDir(), "run"))
	require.NoError(t, err)
	defer f.Close()
	c, err := rtlbridge.Launch(direct, rtlbridge.LaunchOptions{Record: f})
	require.NoError(t, err)
	defer c.Close()
	s := c.NewStart(1)
	s.PeriodPs, s.Clocks[0].PeriodPs, s.Clocks[0].PhasePs = 5_000_000, 1000, 0
	require.NoError(t, c.Start(s))
	require.NoError(t, c.SendRun(3))
	ran, err := c.Recv()
	require.NoError(t, err)
	var e protocol.Record
	for ok := true; ok; {
		ok, err = c.Next(ran, &e)
		require.NoError(t, err)
	}
	require.NoError(t, c.Close())
	want, err := build.Playback(t.Context(), direct, f.Name())
	require.NoError(t, err)
	got, err := build.Playback(t.Context(), agent, f.Name())
	require.NoError(t, err)
	want.Wall, got.Wall = 0, 0
	require.Equal(t, want, got)
}
