package replay

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nictwin/models/nic/boundary"
	"nictwin/scenarios/traffic"
	"nictwin/scenarios/traffic/capture"
)

// numbered returns n frames of one size, all different.
func numbered(n, size int) [][]byte {
	list := make([][]byte, n)
	for i := range list {
		list[i] = bytes.Repeat([]byte{byte(i), byte(i >> 8), byte(i >> 16)}, size/3+1)[:size]
	}
	return list
}

func saved(t testing.TB, frames [][]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "some.pcap")
	require.NoError(t, os.WriteFile(path, pcapOf(frames), 0o600))
	return path
}

// The memory of a run does not grow with the number of packets in a capture.
func TestMemoryDoesNotGrowWithCaptures(t *testing.T) {
	live := func(frames int) uint64 {
		o := options("model", []string{saved(t, numbered(frames, 1500))})
		most, looks := uint64(0), 0
		o.Progress = func(int, int) {
			if looks++; looks%100 == 0 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}
		r, err := New(t.Context(), o)
		require.NoError(t, err)
		res, err := r.Play()
		require.NoError(t, errors.Join(err, r.Close()))
		require.True(t, res.Pass, "%v", res.Findings)
		require.Equal(t, 2*frames, res.Rx.In+res.Tx.Out)
		return most
	}
	few, many := live(12_000), live(36_000) // enough frames to fill all rings in both runs
	t.Logf("%d and %d bytes", few, many)
	require.Less(t, many, few+8<<20, "24,000 frames more have 36 MB")
}

// If a port's stream is slower than its Ethernet cable, a limited number of frames waits for the stream.
func TestWaitingIsBounded(t *testing.T) {
	const frames, beat = 130_000, 64
	o := options("model", nil)
	o.Dir, o.Frames, o.Loop = "rx", numbered(1, beat+1), frames
	most, in := 0, 0
	var r *Run
	o.Observe = func(c boundary.Crossing) {
		if c.Kind == boundary.FrameIn {
			in++
			most = max(most, r.ports.sent()-in)
		}
	}
	r = start(t, o)
	res, err := r.Play()
	require.NoError(t, err)
	require.True(t, res.Pass, "%v", res.Findings)
	require.Equal(t, frames, in)
	const may = 2 << 20 / beat / 2 // traffic's maxBacklog, converted to frames of two beats
	require.InDelta(t, may, most, 200)
}

// If a capture changes between its two readings, the run ends with an error that names it.
func TestCaptureChangesMeanwhile(t *testing.T) {
	for _, dir := range []string{"rx", "tx"} {
		path := saved(t, numbered(3000, 1500))
		o := options("model", []string{path})
		o.Dir = dir
		r := start(t, o)
		require.NoError(t, os.Truncate(path, 1_000_000))
		_, err := r.Play()
		var e *capture.Error
		require.ErrorAs(t, err, &e)
		require.ErrorContains(t, err, path+": has changed while it was played: it had 3000 frames or more, now it "+
			"has 659")
	}
}

// inFlight holds the latest frames added, except those taken.
func TestInFlight(t *testing.T) {
	room := make([]byte, inFlightBytes/16)
	rapid.Check(t, func(t *rapid.T) {
		var w inFlight
		var want []traffic.Frame // frames that should be in flight
		n := 0
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "take") {
				ordinal := rapid.IntRange(max(0, n-40), n).Draw(t, "ordinal")
				at := slices.IndexFunc(want, func(f traffic.Frame) bool { return f.Origin.Packet == ordinal })
				f, ok := w.take(ordinal)
				require.Equal(t, at >= 0, ok, "frame %d", ordinal)
				if ok {
					require.Equal(t, ordinal, f.Origin.Packet)
					want = slices.Delete(want, at, at+1)
				}
				continue
			}
			size := rapid.SampledFrom([]int{1, 60, len(room)}).Draw(t, "size")
			f := traffic.Frame{Data: room[:size], Origin: capture.Origin{Packet: n}}
			n++
			w.add(f)
			want = append(want, f)
			bytes := 0
			for i := range want {
				bytes += len(want[len(want)-1-i].Data) + traffic.FrameCost
				if bytes > inFlightBytes {
					want = want[len(want)-i:]
					break
				}
			}
			require.LessOrEqual(t, w.bytes, inFlightBytes)
		}
	})
}

// A run that is canceled while it reads its captures does not start.
func TestInterruptedWhileReading(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	_, err := New(ctx, options("model", shipped(t)))
	require.ErrorIs(t, err, enough)
}
