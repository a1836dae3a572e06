package run

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nic/boundary"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/observe/wiretap"
	"nictwin/scenarios/shell/files"
	"nictwin/scenarios/shell/home/hometest"
)

func TestMain(m *testing.M) { hometest.Main(m) }

// withDatagrams registers the kind of stack that only these tests use (datagrams).
func withDatagrams(t *testing.T) {
	t.Helper()
	before := stacks
	t.Cleanup(func() { stacks = before })
	stacks = map[StackKind]stackKind{StackRNIC: before[StackRNIC], "datagrams": {
		func(*StackSpec, *board.CardSpec) error { return nil }, openDatagrams,
	}}
}

const onArm = "board: {preset: bf3-cores-pair}\nstacks: [{kind: datagrams}]\nlimits: {quiet_ps: 1000000000}\n"

// optionsFor returns options that play a kind of device.
func optionsFor(t *testing.T, nic string) Options {
	t.Helper()
	h, err := hometest.Find()
	require.NoError(t, err)
	return Options{NIC: nic, DUT: h.Path("nic")}
}

// Every NIC that follows docs/nic.md (the contract) has a referee, whether Go model or RTL. All of them give the same
// results, and each gives the same events in every run.
func TestNICsOfTheContract(t *testing.T) {
	withDatagrams(t)
	c := caseOf(t, onArm+"workload: {transport: ud, kind: echo, sizes: [4, 64, 1000], count: 20, depth: 4, "+
		"queue_pairs: 2, both_ways: true}")
	require.True(t, c.Judged())
	var first *Played
	for _, nic := range []string{device.Model, device.RTL, device.Model, ""} {
		o := optionsFor(t, nic)
		require.Equal(t, nic == device.RTL, c.NeedsRTL(&o))
		p, err := c.Play(t.Context(), o)
		require.NoError(t, err)
		require.True(t, p.Pass(), "%s: %s", nic, texts(p))
		require.Equal(t, 160, p.Result.Messages)
		for _, n := range p.NICs {
			require.Greater(t, n.Checked, uint64(160))
			require.NotEmpty(t, n.Digest)
			require.Equal(t, nic == device.RTL, n.Build != "")
			require.Equal(t, nic == device.RTL, n.Device == device.RTL)
		}
		if first == nil {
			first = p
		}
		require.Empty(t, first.Result.Difference(p.Result, c.Expect.Compare))
		require.Equal(t, first.Digest, p.Digest)
		if nic != device.RTL {
			require.Equal(t, first.NICs, p.NICs)
			require.Equal(t, first.Sim, p.Sim)
		}
	}
}

// If the two servers have different kinds of devices, both NICs leave artifacts.
func TestDevicesOfEachSlot(t *testing.T) {
	withDatagrams(t)
	dir, err := files.OpenFolder(t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, dir.Close()) }()
	c := caseOf(t, onArm+"devices: [{kind: rtl}, {kind: model}]\nworkload: {transport: ud, sizes: [100], count: 20}")
	o := optionsFor(t, "")
	o.Dir = dir
	p, err := c.Play(t.Context(), o)
	require.NoError(t, err)
	require.True(t, p.Pass(), texts(p))
	require.Equal(t, []string{device.RTL, device.Model}, []string{p.NICs[0].Device, p.NICs[1].Device})
	for _, name := range []string{judge.EventsFile, judge.PcapngFile, wiretap.File} {
		info, err := os.Stat(dir.Path(name))
		require.NoError(t, err)
		require.Greater(t, info.Size(), int64(2000), name)
	}
	text, err := os.ReadFile(dir.Path(judge.EventsFile))
	require.NoError(t, err)
	require.Contains(t, string(text), `"nic":"Server[0]"`)
	require.Contains(t, string(text), `"nic":"Server[1]"`)
}

// A byte that a NIC corrupts gives two findings: the application's, with message and offset, and the referee's, with
// NIC and rule.
func TestWrongNICsAreFoundTwice(t *testing.T) {
	withDatagrams(t)
	for name, x := range map[string]struct {
		server int
		kind   boundary.Kind
		at     int
		rule   string
	}{"a frame that leaves": {0, boundary.FrameOut, 70, "T"}, "payload in memory": {1, boundary.TLPOut, 70, "R"}} {
		o, n := optionsFor(t, device.Model), 0
		o.Observe = func(server int, nic board.NIC) {
			nic.Observe(func(c boundary.Crossing) {
				if server != x.server || c.Kind != x.kind {
					return
				}
				var data []byte
				if c.Kind == boundary.TLPOut {
					data = c.TLP.Data
				} else {
					data = c.Frame.Data
				}
				if len(data) < 200 {
					return
				}
				if n++; n == 5 {
					data[x.at] ^= 1
				}
			})
		}
		p, err := caseOf(t, onArm+"workload: {transport: ud, sizes: [200], count: 20}").Play(t.Context(), o)
		require.NoError(t, err)
		require.Contains(t, texts(p), "server Server[1], server of flow 0: message 4 (200 B): byte 46 at", name)
		found := false
		for _, f := range p.Findings {
			found = found || f.NIC == []string{"Server[0]", "Server[1]"}[x.server] && strings.HasPrefix(f.Rule, x.rule)
			require.Equal(t, "test", f.Scenario)
		}
		require.True(t, found, "%s: %s", name, texts(p))
	}
}

// Applications that wait in vain are a deadlock of the software where the NICs are at work, even with reads
// outstanding, and a hang where a NIC with work outstanding is silent.
func TestWhoseStopItIs(t *testing.T) {
	stuck := caseOf(t, "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\n"+
		"workload: {count: 20, depth: 8, rnr_retry: 7, misuse: {what: no_receive, message: 9}}")
	p, err := stuck.Play(t.Context(), optionsFor(t, device.Model))
	require.NoError(t, err)
	var kinds []result.Kind
	for _, f := range p.Findings {
		if f.Failure != "" {
			require.Equal(t, "progress", f.Field)
			kinds = append(kinds, f.Failure)
		}
	}
	require.Equal(t, []result.Kind{result.Deadlock}, kinds, texts(p))

	require.Equal(t, result.Deadlock, kindOfStop(true, 10, 20))
	require.Equal(t, result.Hang, kindOfStop(true, 11, 20))
	require.Equal(t, result.Hang, kindOfStop(false, 0, 20))
}
