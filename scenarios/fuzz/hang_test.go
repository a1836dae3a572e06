package fuzz

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/fuzz/player"
	"nictwin/scenarios/fuzz/program"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/traffic/craft"
)

// stalled returns operations on which a NIC waits longer than the player's limit: reads are never answered, and the
// time-out is long.
func stalled(of program.Fault) []program.Op {
	const queue, key, entries = 3, 2, 18
	var list []program.Entry
	for range entries {
		list = append(list, program.Entry{
			Opcode: nicspec.OpcodeSend, Complete: true, Frame: program.Frame{Frame: craft.Frame{Seed: 7}, Len: 64},
			Pieces: []program.Piece{{Key: key, Len: 64}},
		})
	}
	of.Kind, of.Queue = "silent", queue
	return []program.Op{
		{Write: &program.Write{Reg: "CTRL", Value: 3}},
		{Write: &program.Write{Reg: "CPL_TIMEOUT", Value: 1 << 31}},
		{Key: &program.Key{Index: key}},
		{TxQueue: &program.TxQueue{Queue: queue, LogSize: 5}},
		{Fault: &of},
		{Send: &program.Send{Queue: queue, Entries: list}, Wait: 4000}, // after this wait, the player ends all faults
	}
}

func programOf(ops []program.Op) *program.Program {
	return &program.Program{Board: program.Board{Ports: 1, MPS: 4096, RCB: 64}, Ops: ops}
}

// The finding about a hanging NIC names the queue, the state of its oldest entry, and the read that it waits for.
func TestHangsAreTold(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault program.Fault
		index int
		want  string
	}{
		{"payload", program.Fault{Of: program.OfMemory, Skip: 17}, 17, `txq 3: entry 17 posted, fetched, waits for ` +
			`the completion of a read of 64 B at 0x[0-9a-f]+, sent in cycle [0-9]+`},
		{"fetch", program.Fault{Of: program.OfTxRing}, 0, `txq 3: entry 0 posted, not fetched, waits for the ` +
			`completion of a read of [0-9]+ B at 0x[0-9a-f]+, sent in cycle [0-9]+`},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := player.Run(programOf(stalled(c.fault)), t.Context(), model, nil)
			require.True(t, v.Mismatch())
			require.True(t, v.Stuck())
			require.Equal(t, "[C3] STATUS says that nothing is under way", v.Key())
			f := finding(v)
			require.Equal(t, "C3", f.Rule)
			require.Equal(t, result.Hang, f.Failure)
			require.Equal(t, result.Tx, f.Domain)
			require.Equal(t, 3, *f.Queue)
			require.Equal(t, c.index, *f.Index)
			require.Positive(t, *f.Cycle)
			require.Regexp(t, "^not within 40[0-9]{4} cycles: STATUS reads 0x[0-9a-f]+: .*reads_outstanding; "+c.want,
				f.Got)
			require.Regexp(t, `^the NIC breaks \[C3\]: waited for 40[0-9]{4} cycles until STATUS says that nothing `+
				`is under way\n  STATUS reads .*\n  `+c.want, f.Text)
			require.Contains(t, f.Text, "the referee, in the end: cycle ")
			// The referee expects no particular outcome of an entry whose bytes are missing.
			for _, m := range v.Report.List {
				require.NotRegexp(t, `^$|: $|: ,`, m.Expected)
				require.NotEmpty(t, m.Got)
			}
		})
	}
}

// A hang for lack of a descriptor names the receive queue and the unanswered read.
func TestHangOfAReceiveQueueIsTold(t *testing.T) {
	const queue = 5
	v := player.Run(programOf([]program.Op{
		{Write: &program.Write{Reg: "CTRL", Value: 3}},
		{Write: &program.Write{Reg: "CPL_TIMEOUT", Value: 1 << 31}},
		{RxQueue: &program.RxQueue{Queue: queue, LogSize: 4, PayBytes: 256}},
		{Fault: &program.Fault{Kind: "silent", Of: program.OfRxRing, Queue: queue}},
		{Post: &program.Post{Queue: queue, Count: 3}, Wait: 4000},
	}), t.Context(), model, nil)
	f := finding(v)
	require.Equal(t, result.Rx, f.Domain)
	require.Equal(t, queue, *f.Queue)
	require.Equal(t, 0, *f.Index)
	require.Regexp(t, `rxq 5: descriptor 0 posted, not fetched, waits for the completion of a read of [0-9]+ B at `+
		`0x[0-9a-f]+, sent in cycle [0-9]+`, f.Got)
}

// Candidates of a program that got stuck are played with shorter limits, and the smallest one fails like the whole
// program with the full limits.
func TestHangsShrinkWithLittlePatience(t *testing.T) {
	c := begun(t, options(device.Model, 0))
	p := c.generate(1)
	require.True(t, player.Run(p, t.Context(), model, nil).Pass())
	p.Ops = append(p.Ops, stalled(program.Fault{Of: program.OfMemory, Skip: 1})...)
	o := &outcome{prog: p, v: player.Run(p, t.Context(), model, nil)}
	require.True(t, o.v.Stuck(), "%s", o.v.Key())
	require.Less(t, o.v.TrialPatience(), o.v.Patience/4)
	small, v, trials := c.shrink(t.Context(), o)
	require.Equal(t, o.v.Key(), v.Key())
	require.LessOrEqual(t, len(small.Ops), 6)
	require.Positive(t, trials)
	again := player.Run(small, t.Context(), model, nil)
	require.Equal(t, o.v.Key(), again.Key(), "what is left gets stuck for good")
	require.Equal(t, v.Err.Error(), again.Err.Error(), "what is told is of the last run, with all of the patience")
}

// A candidate that is merely slower than a trial's limit is not reported as a hang: it is played again with the full
// limit.
func TestLittlePatienceTakesNothingForAHang(t *testing.T) {
	slow := stalled(program.Fault{Of: program.OfMemory, Skip: 1})
	slow[1].Write.Value = 60_000 // the read times out within the player's limit
	p := programOf(slow)
	require.True(t, player.Run(p, t.Context(), model, nil).Pass())
	const little = 8192
	require.True(t, player.RunWithin(p, t.Context(), model, nil, little).Stuck())
	c := begun(t, options(device.Model, 0))
	late := stalled(program.Fault{Of: program.OfTxRing})
	p = programOf(append(slow, late...))
	o := &outcome{prog: p, v: player.Run(p, t.Context(), model, nil)}
	require.True(t, o.v.Stuck(), "%s", o.v.Key())
	o.v.Waited = 0 // gives trials the shortest limit
	small, v, _ := c.shrink(t.Context(), o)
	require.Equal(t, o.v.Key(), v.Key())
	require.Equal(t, o.v.Key(), player.Run(small, t.Context(), model, nil).Key())
	require.Less(t, len(small.Ops), len(p.Ops))
}
