package fuzz

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/fuzz/coverage"
	"nictwin/scenarios/fuzz/player"
	"nictwin/scenarios/fuzz/program"
)

// 300 programs are enough to fill each buffer of the NIC completely, and to take indices past 65,536.
func TestPlacesAreFilled(t *testing.T) {
	o := options(device.Model, 300)
	o.Seed = 5
	r := passes(t, o)
	for group, want := range map[string]int{
		"behind a held port": 8, "ends while a port is held": 5, "doorbells inside, port full": 3,
		"indices beyond 65,536": 2, "filled": 6,
	} {
		require.GreaterOrEqual(t, len(r.Coverage.Hits[group]), want, "%s: %v", group, r.Coverage.Hits[group])
	}
	require.Empty(t, r.Coverage.Report(coverage.NewUniverse(r.Sizes)).Unlisted)
}

// Operations that repeat entries or frames end without an error when their queue makes no progress or is disabled.
func TestRepeatsGiveUp(t *testing.T) {
	nop := []program.Entry{{}}
	p := &program.Program{Schema: program.Schema, Board: program.Board{Ports: 1, MPS: 256, RCB: 64}, Ops: []program.Op{
		{Write: &program.Write{Reg: "CTRL", Value: 1}}, // transmit is off
		{TxQueue: &program.TxQueue{Queue: 1, LogSize: 3}},
		{Send: &program.Send{Queue: 1, Entries: nop, Times: 100}},
		{RxQueue: &program.RxQueue{Queue: 2, LogSize: 3, PayBytes: 64}},
		{Feed: &program.Feed{Queue: 2, Frames: []program.Frame{{Len: 60}}, Times: 100}}, // no rule leads to it
		{Gate: &program.Gate{Cycles: 3000}},
		{Send: &program.Send{Queue: 9, Entries: nop, Times: 100}}, // the queue was never enabled
		{Feed: &program.Feed{Queue: 9, Frames: []program.Frame{{Len: 60}}, Times: 100}},
		{Await: &program.Await{Port: 0, Queues: []int{1, 9}}},
		{Mend: &program.Mend{}},
	}}
	require.NoError(t, p.Validate())
	v := player.Run(p, t.Context(), model, nil)
	require.True(t, v.Pass(), "%v %v", v.Err, v.Report)
}

// Validate names the operation and the field of bad gates, feeds, awaits and repetitions.
func TestBadRepeats(t *testing.T) {
	p := &program.Program{Schema: program.Schema, Board: program.Board{Ports: 1, MPS: 256, RCB: 64, Credits: 5000},
		Ops: []program.Op{
			{Gate: &program.Gate{}}, {Feed: &program.Feed{Queue: 256}},
			{Await: &program.Await{Port: 2, Queues: []int{-1}}},
			{Send: &program.Send{Times: -1}},
			{Fault: &program.Fault{Kind: inject.FaultNone.String(), Of: program.OfMemory}},
		}}
	err := p.Validate()
	for _, want := range []string{
		"board.credits is 5000: want 0 to 4096", "operation 0 (gate): cycles is 0: want 1 to 100000",
		"operation 1 (feed): queue is 256: want 0 to 255",
		"operation 1 (feed): times is 0: want 1 to", "operation 2 (await): port is 2: want 0 to 1",
		"operation 2 (await): queue is -1", "operation 3 (send): times is -1",
	} {
		require.ErrorContains(t, err, want)
	}
}
