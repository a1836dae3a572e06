package shrink

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nictwin/models/board"
	"nictwin/models/nic/boundary"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/delta"
	"nictwin/scenarios/observe/heartbeat"
	"nictwin/scenarios/run"
	"nictwin/scenarios/run/background"
	"nictwin/scenarios/run/load"
	"nictwin/scenarios/run/workload"
	"nictwin/stack/apps"
	"nictwin/stack/apps/kind"
)

const text = `name: x
description: y
board: {preset: bf3-cores-pair}
stacks: [{kind: flexins}]
`

// caseOf returns the only case of a scenario on two cards.
func caseOf(t require.TestingT, more string) *run.Case { return parse(t, text+more) }

func parse(t require.TestingT, text string) *run.Case {
	list, err := run.Parse("x.yaml", []byte(text))
	require.NoError(t, err)
	require.Len(t, list, 1)
	return list[0]
}

// A scenario that fails from some number of messages, of flows and of bytes on, and perhaps with loss only, is reduced
// to exactly these numbers, and to the loss if it needs that.
func TestReduceKeepsWhatFails(t *testing.T) {
	c := caseOf(t, `workload: {count: 500, depth: 16, queue_pairs: 8, processes: 2, both_ways: true, pieces: 3,
  offset: 5, batch: 4, signal_every: 4, sizes: [64, 3000, 1, 1024], receives: 64}
faults: {stall: 20, slow_memory: {latency_ps: 500}, wire: {seed: 1, chances: {loss: 0.1, ecn: 0.2}},
  pcie: [{server: 0, of: buffers, kind: CA, skip: 5, count: 1}]}
`)
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(1, 500).Draw(t, "count")
		pairs := rapid.IntRange(1, 8).Draw(t, "pairs")
		size := rapid.IntRange(1, 3000).Draw(t, "size")
		lossy := rapid.Bool().Draw(t, "lossy")
		message := rapid.SampledFrom([]int{-1, count - 1}).Draw(t, "message")
		fails := func(s *run.Spec) bool {
			largest := 0
			for _, n := range s.Workload.Sizes {
				largest = max(largest, n)
			}
			lost := s.Faults.Wire != nil && s.Faults.Wire.Chances.Loss > 0
			return s.Workload.Count >= count && s.Workload.QueuePairs >= pairs && largest >= size && (lost || !lossy)
		}
		s := delta.New(context.Background(), maxTrials)
		got := reduce(s, c.Alone(), message, fails)
		require.True(t, fails(&got))
		w := got.Workload
		require.Equal(t, []int{count, pairs, 1, 1, 1, 0, 1},
			[]int{w.Count, w.QueuePairs, w.Processes, w.Depth, w.Pieces, w.Offset, w.Batch})
		require.Equal(t, []int{size}, w.Sizes)
		require.Equal(t, lossy, got.Faults.Wire != nil)
		require.Nil(t, got.Faults.SlowMemory)
		require.Empty(t, got.Faults.PCIe)
		require.Zero(t, got.Faults.Stall)
		if lossy {
			require.Zero(t, got.Faults.Wire.Chances.ECN)
		}
		require.Equal(t, 500, c.Workload.Count, "the case itself stays as it is")
		require.InDelta(t, 0.2, c.Faults.Wire.Chances.ECN, 0)
	})
}

// Loads, captures, memories, notice and reader are left out one by one, as far as the failure does not need them.
func TestReduceLeavesOutEntries(t *testing.T) {
	c := parse(t, strings.Replace(text, "flexins}", "flexins, flexins: {low_latency_qps: 1}}", 1)+
		`workload: {kind: send, low_latency: true, notice: bytes, sizes: [64]}
load: [{at: dram, rate: 1GB/s}, {at: dram, server: 1, rate: 2GB/s}, {at: dram, rate: 3GB/s}]
background: [{capture: a.pcap}, {capture: b.pcap, server: 1}]
`)
	far := caseOf(t, "workload: {kind: list_walk, by: reads, sizes: [64], memory: arm}\n")
	search := func(c *run.Case, fails func(*run.Spec) bool) run.Spec {
		return reduce(delta.New(context.Background(), maxTrials), c.Alone(), -1, fails)
	}
	got := search(c, func(s *run.Spec) bool {
		return s.Workload.LowLatency && slices.ContainsFunc(s.Load, func(l load.Spec) bool { return l.Server == 1 }) &&
			slices.ContainsFunc(s.Background, func(b background.Spec) bool { return b.Capture == "a.pcap" })
	})
	require.Len(t, got.Load, 1)
	require.Len(t, got.Background, 1)
	require.True(t, got.Workload.LowLatency)
	require.Equal(t, apps.NoticeCompletion, got.Workload.Notice)
	got = search(c, func(s *run.Spec) bool { return len(s.Background) > 0 })
	require.False(t, got.Workload.LowLatency, "with its notice")
	require.Empty(t, got.Load)
	got = search(far, func(s *run.Spec) bool { return s.Workload.Memory.Server == apps.ArmPlace })
	require.Equal(t, apps.Places{Client: apps.HostPlace, Server: apps.ArmPlace}, got.Workload.Memory)
	require.Equal(t, kind.ByEngine, got.Workload.By)
}

// Answers are shrunk before requests, which are as long at least, and become as long where that fails, too.
func TestReduceAnswers(t *testing.T) {
	c := parse(t, "name: x\ndescription: y\nboard: {preset: ce-pair}\nstacks: [{kind: ddio}, {kind: udp}]\n"+
		"workload: {kind: echo, transport: udp, from: 1, to: 0, sizes: [1000], answer: 300}\n")
	search := func(fails func(*workload.Spec) bool) *workload.Spec {
		got := reduce(delta.New(context.Background(), maxTrials), c.Alone(), -1, func(s *run.Spec) bool {
			return fails(s.AllWorkloads()[0])
		})
		return got.AllWorkloads()[0]
	}
	w := search(func(w *workload.Spec) bool { return w.Answer != nil && *w.Answer >= 70 })
	require.Equal(t, []int{70, 70}, []int{*w.Answer, w.Sizes[0]})
	w = search(func(w *workload.Spec) bool { return w.Sizes[0] >= 90 })
	require.Nil(t, w.Answer)
	require.Equal(t, []int{90}, w.Sizes)
}

// A NIC that spoils frames longer than some length still fails when the case is shrunk to two messages or
// fewer; the written file of the shrunk case gives the same findings. A case that passes is not shrunk.
func TestShrinkOnAWrongNIC(t *testing.T) {
	c := caseOf(t, "workload: {count: 12, both_ways: true, sizes: [64, 1000], pieces: 2}\n")
	o := run.Options{NIC: device.Model}
	p, err := c.Play(t.Context(), o)
	require.NoError(t, err)
	s, err := Shrink(t.Context(), p, o, time.Hour)
	require.NoError(t, err)
	require.Nil(t, s)

	o.Observe = func(server int, nic board.NIC) {
		nic.Observe(func(c boundary.Crossing) {
			if server == 0 && c.Kind == boundary.FrameOut && len(c.Frame.Data) > 900 {
				c.Frame.Data[800] ^= 1
			}
		})
	}
	p, err = c.Play(t.Context(), o)
	require.NoError(t, err)
	require.False(t, p.Pass())
	var beats bytes.Buffer
	o.Beat = heartbeat.New(&beats, "run", "cases", time.Millisecond)
	o.Beat.Start()
	s, err = Shrink(t.Context(), p, o, time.Hour)
	o.Beat.Stop()
	require.NoError(t, err)
	require.NotNil(t, s)
	require.Regexp(t, `(?m)^nictwin run: after [0-9.]+m?s; shrinking, trial \d+: x, \d+ of \d+ messages; `,
		beats.String())
	require.Equal(t, 24, s.Original.Messages)
	require.LessOrEqual(t, s.Shrunk.Messages, 2, "%s", s.Inputs[0].Data)
	list, err := run.Parse("shrunk.yaml", s.Inputs[0].Data)
	require.NoError(t, err, "%s", s.Inputs[0].Data)
	require.Len(t, list, 1)
	again, err := list[0].Play(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, keysOf(p), keysOf(again))
}

// An expectation that the Go NIC misses is a fault of the scenario: it is not shrunk.
func TestExpectationsAreNotShrunk(t *testing.T) {
	c := caseOf(t, "workload: {count: 20}\nexpect: {least_ps: 1000000000000}\n")
	o := run.Options{NIC: device.Model}
	p, err := c.Play(t.Context(), o)
	require.NoError(t, err)
	require.False(t, p.Pass())
	s, err := Shrink(t.Context(), p, o, time.Hour)
	require.NoError(t, err)
	require.Nil(t, s)
}
