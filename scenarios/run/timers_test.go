package run

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/stack/apps"
)

// timed returns a scenario with two servers of a kind. fields is added to both cards.
func timed(kind, fields, network, workload string) string {
	preset := map[string]string{"flexins": "bf3-cores", "rnic": "connectx6-cores"}[kind]
	server := func(name string) string {
		return fmt.Sprintf("{preset: %s, name: %s, cards: [{preset: %s, %s}]}", preset, name, preset, fields)
	}
	return fmt.Sprintf("name: timed\ndescription: limits follow timers and board\nboard: {preset: %s-pair, servers: "+
		"[%s, %s], network: {kind: back_to_back, %s}}\nstacks: [{kind: %s}]\nworkload: {%s}\n",
		preset, server("A"), server("B"), network, kind, workload)
}

// Slow boards, long cables and any timers of queue pairs cause no findings: the limits of a case follow from them.
func TestNoFalseAlarmFromTime(t *testing.T) {
	plain := "seed: 0"
	var all []string
	for _, kind := range []string{"flexins", "rnic"} {
		for code := range apps.MaxTimeout + 1 {
			all = append(all, timed(kind, plain, "latency_ps: 25000", fmt.Sprintf("count: 4, timeout: %d", code)))
		}
		for _, code := range []int{0, 14, 31} {
			all = append(all, timed(kind, plain, "latency_ps: 25000", fmt.Sprintf("count: 10, receives: 1, "+
				"rnr_timer: %d", code)))
		}
		for _, transport := range []string{"rc", "uc", "ud"} {
			all = append(all,
				timed(kind, plain, "latency_ps: 20000000000", "count: 6, transport: "+transport),
				timed(kind, "eth: {rate: {bytes: 1, ps: 8000000}}", "latency_ps: 0",
					"count: 6, depth: 2, transport: "+transport))
		}
		all = append(all, timed(kind, "eth: {rate: {bytes: 1, ps: 8000000}}", "latency_ps: 0",
			"kind: write, count: 2, depth: 1, sizes: [100000]"))
	}
	all = append(all,
		timed("flexins", "switch: {nic_rate: {bytes: 1, ps: 1000000}}", "latency_ps: 0", "count: 4, depth: 2"),
		timed("flexins", "period_ps: 1000000", "latency_ps: 0", "count: 4"),
		timed("flexins", "pcie: {latency_ps: 1000000000}", "latency_ps: 0", "count: 4"))
	for _, text := range all {
		p := playText(t, text)
		require.Empty(t, p.Findings, "%s", text)
	}
}

// playText plays the only case of a scenario on the Go NIC.
func playText(t *testing.T, text string) *Played {
	t.Helper()
	cases, err := Parse("timed.yaml", []byte(text))
	require.NoError(t, err, "%s", text)
	require.Len(t, cases, 1)
	p, err := cases[0].Play(context.Background(), Options{NIC: device.Model})
	require.NoError(t, err, "%s", text)
	return p
}

// On boards with short timers and links the limits stay at their lower bounds, so that a stack that waits in vain is
// found quickly.
func TestLimitsOfUsualBoards(t *testing.T) {
	for _, kind := range []string{"flexins", "rnic"} {
		cases, err := Parse("timed.yaml", []byte(timed(kind, "seed: 0", "latency_ps: 25000", "count: 4")))
		require.NoError(t, err)
		require.Equal(t, apps.DefaultTimeout, *cases[0].Workload.Timeout)
		l := cases[0].limits()
		require.Equal(t, leastQuiet, l.quiet, kind)
		require.Equal(t, leastQuiet, l.settle, kind)
		require.Equal(t, leastGrace, l.grace, kind)
		require.Equal(t, leastSetUp, l.setUp, kind)
	}
	cases, err := Parse("timed.yaml",
		[]byte(timed("flexins", "seed: 0", "latency_ps: 25000",
			"timeout: 14, retries: 3")+"limits: {settle_ps: 7000}\n"))
	require.NoError(t, err)
	l := cases[0].limits()
	require.GreaterOrEqual(t, l.quiet, 4*2*67*simcore.Millisecond)
	require.Equal(t, 7*simcore.Nanosecond, l.settle, "what is given holds")
}

// Waits during set-up have a limit, as has the traffic; an error names the field that sets it.
func TestSetUpHasALimit(t *testing.T) {
	c := caseOf(t, onRNICs+"limits: {set_up_ps: 1000}")
	p, err := c.Play(t.Context(), Options{})
	require.NoError(t, err)
	require.Contains(t, texts(p), "waited for the end of")
	require.Contains(t, texts(p), "(limits.set_up)")
	require.Nil(t, p.Result)
	c = caseOf(t, onRNICs+"limits: {traffic_ps: 2000000}")
	p, err = c.Play(t.Context(), Options{})
	require.NoError(t, err)
	require.Contains(t, texts(p), "limits.traffic): client of flow 0 on server Server[0]:")
	require.Equal(t, board.NetworkBackToBack, c.Board.Network.Kind)
}

// Control verbs wait for a core that looks at messages in Arm memory, 1 ms for each 8 B; their limit allows for that.
func TestLimitsAllowForArmMemory(t *testing.T) {
	p, err := caseOf(t, "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\n"+
		"workload: {kind: write, count: 2, memory: {server: arm}, sizes: [1024]}\n").
		Play(t.Context(), Options{Unjudged: true})
	require.NoError(t, err)
	require.Empty(t, texts(p))
}
