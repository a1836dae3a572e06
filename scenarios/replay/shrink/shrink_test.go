package shrink

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nictwin/models/nic/boundary"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/scenarios/delta"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/replay"
	"nictwin/scenarios/traffic"
	"nictwin/scenarios/traffic/capture"
)

// packets returns that many packets on two ports, each with its number.
func packets(n int) (list []traffic.PortFrame) {
	for i := range n {
		f := traffic.PortFrame{Port: i % 2}
		f.Data = []byte{byte(i), byte(i >> 8)}
		list = append(list, f)
	}
	return list
}

func numberOf(p traffic.PortFrame) int { return int(p.Data[0]) | int(p.Data[1])<<8 }

// An input that fails if it has certain packets, in one direction, is reduced to these packets and that direction, with
// default settings.
func TestReduceKeepsWhatFails(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 400).Draw(t, "packets")
		need := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 1, min(n, 4), rapid.ID[int]).Draw(t, "needed")
		dir := rapid.SampledFrom([]string{dirRx, dirTx}).Draw(t, "direction")
		stall := rapid.SampledFrom([]int{0, 30}).Draw(t, "stall that fails")
		slices.Sort(need)
		all := packets(n)
		fails := func(in *input) bool {
			if in.dir != dir && in.dir != dirBoth || in.stall < stall {
				return false
			}
			has := map[int]bool{}
			for _, p := range in.packets {
				has[numberOf(p)] = true
			}
			return !slices.ContainsFunc(need, func(x int) bool { return !has[x] })
		}
		s := delta.New(context.Background(), maxTrials)
		tails := [][]traffic.PortFrame{all[:need[len(need)-1]+1], all}
		got, ok := reduce(s, tails, input{dir: dirBoth, speed: "capture", stall: 30}, dirRx, fails)
		require.True(t, ok)
		var left []int
		for _, p := range got.packets {
			left = append(left, numberOf(p))
		}
		require.Equal(t, need, left)
		require.Equal(t, dir, got.dir)
		require.Equal(t, stall, got.stall)
		require.Equal(t, "line", got.speed)
		require.Less(t, s.Trials(), maxTrials)
	})
}

// If no smaller input fails, reduce finds none.
func TestReduceFindsNothing(t *testing.T) {
	_, ok := reduce(delta.New(t.Context(), maxTrials), [][]traffic.PortFrame{packets(9)}, input{dir: dirBoth}, dirRx,
		func(*input) bool { return false })
	require.False(t, ok)
}

// longest returns the length of the longest packet of a capture, and how many packets it has.
func longest(t *testing.T, path string) (bytes, packets int) {
	t.Helper()
	f, err := capture.Read(path)
	require.NoError(t, err)
	for _, p := range f.Packets {
		bytes = max(bytes, len(p.Data))
	}
	return bytes, len(f.Packets)
}

// played makes a replay and returns its result, and its failure if there is one.
func played(t *testing.T, o replay.Options) (*replay.Result, *Failure) {
	t.Helper()
	run, err := replay.New(t.Context(), o)
	require.NoError(t, err)
	res, err := run.Play()
	require.NoError(t, err)
	f, err := Of(run, res, err)
	require.NoError(t, err)
	require.NoError(t, run.Close())
	return res, f
}

// A NIC that spoils the longest frames fails with one packet, in the direction of the frames; the file of that packet
// shows the same finding. A NIC without a bug has no failure.
func TestShrinkOnAWrongNIC(t *testing.T) {
	const file = "../../captures/softroce/loss_rc_v4.pcap"
	length, count := longest(t, file)
	for kind, dir := range map[boundary.Kind]string{boundary.FrameOut: dirTx, boundary.FrameIn: dirRx} {
		t.Run(dir, func(t *testing.T) {
			o := replay.DefaultOptions()
			o.NIC, o.Captures, o.Loop, o.Stall, o.Seed = "model", []string{file}, 3, 20, 1
			_, f := played(t, o)
			require.Nil(t, f)
			o.Observe = func(c boundary.Crossing) {
				if c.Kind == kind && len(c.Frame.Data) == length {
					c.Frame.Data[length-20] ^= 1
				}
			}
			res, f := played(t, o)
			require.NotNil(t, f)
			s, err := f.Shrink(t.Context(), o, time.Hour)
			require.NoError(t, err)
			require.Equal(t, 3*count, s.Original.Packets)
			require.Equal(t, 1, s.Shrunk.Packets)
			require.Equal(t, map[string]string{"dir": dir, "stall": "0", "loop": "1"}, s.Settings)
			require.Len(t, s.Inputs, 1)
			require.Equal(t, result.ShrunkCapture, s.Inputs[0].Name)

			small := filepath.Join(t.TempDir(), s.Inputs[0].Name)
			require.NoError(t, os.WriteFile(small, s.Inputs[0].Data, 0o600))
			o.Captures, o.Loop, o.Stall, o.Dir = []string{small}, 1, 0, dir
			again, _ := played(t, o)
			require.Equal(t, res.Findings[0].Key(), again.Findings[0].Key())
		})
	}
}

// Files of two ports hold each port's packets with their bytes, times and origins.
func TestFilesOfPorts(t *testing.T) {
	at := time.Date(2026, 11, 20, 1, 2, 3, 4, time.UTC)
	list := packets(5)
	list[3].Origin = capture.Origin{File: "a/b.pcap", Packet: 7, Time: at}
	dir := t.TempDir()
	paths, err := write(dir, list, 2)
	require.NoError(t, err)
	require.Len(t, paths, 2)
	for port, path := range paths {
		f, err := capture.Read(path)
		require.NoError(t, err)
		var got, want []string
		for _, p := range f.Packets {
			got = append(got, fmt.Sprint(p.Data))
		}
		for _, p := range list {
			if p.Port == port {
				want = append(want, fmt.Sprint(p.Data))
			}
		}
		require.Equal(t, want, got)
		if port == 1 {
			require.Equal(t, at, f.Packets[1].Time)
		}
	}
	paths, err = write(dir, list[:1], 2)
	require.NoError(t, err)
	require.Len(t, paths, 1)
}
