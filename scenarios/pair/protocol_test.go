package pair

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/format/ether"
	"nictwin/models/inject"
)

const testCables = 2

// quantumOf returns the payload of QUANTUM with the given records.
func quantumOf(n uint64, s state, records ...record) []byte {
	b := appendState(nil, n, s, len(records))
	for i := range records {
		b = appendRecord(b, &records[i])
	}
	return b
}

var someRecords = []record{
	{kind: recordFrame, cable: 1, at: 77, seq: 5, frame: ether.Frame{Port: 1, Queue: 3, Data: []byte("a frame"),
		Trim: 2}},
	{kind: recordCredit, cable: 0, at: 99},
	{kind: recordFrame, at: 1, frame: ether.Frame{Queue: -1, Data: make([]byte, 64)}},
}

func TestQuantumComesBack(t *testing.T) {
	want := state{played: true, progress: 1 << 40}
	var got []record
	n, s, err := parseQuantum(quantumOf(8, want, someRecords...), testCables, func(r record) error {
		got = append(got, r)
		return nil
	})
	require.NoError(t, err)
	require.EqualValues(t, 8, n)
	require.Equal(t, want, s)
	got[1].frame.Data = nil // an empty frame is parsed into an empty slice, not nil
	require.Equal(t, someRecords, got)
}

func TestBrokenMessages(t *testing.T) {
	frame, credit := quantumOf(1, state{}, someRecords[0]), quantumOf(1, state{}, someRecords[1])
	change := func(b []byte, at int, to byte) []byte {
		b = slices.Clone(b)
		b[at] = to
		return b
	}
	for _, c := range []struct {
		b    []byte
		want string
	}{
		{frame[:20], "QUANTUM of 20 bytes: want at least 32"},
		{frame[:len(frame)-1], "39 bytes are left: want 40"},
		{append(slices.Clone(frame), 0), "1 bytes behind its 1 records"},
		{change(frame, 16, 8), "flags 0x8"},
		{change(frame, 32, 3), "of kind 3: want 1 or 2"},
		{change(frame, 33, 2), "cable 2: want 0 to 1"},
		{change(frame, 34, 2), "port 2: want 0 to 1"},
		{change(frame, 35, 1), "byte 3 is 1"},
		{change(frame, 38, 0xff), "frame of 16711687 bytes"},
		{change(frame, 47, 0x80), "time -"},
		{change(frame, 60, 9), "trim 9 of a frame of 7 bytes"},
		{change(frame, len(frame)-1, 1), "padding of 0x1"},
		{change(credit, 48, 1), "a credit with fields of a frame"},
	} {
		_, _, err := parseQuantum(c.b, testCables, func(record) error { return nil })
		require.ErrorIs(t, err, errProtocol)
		require.ErrorContains(t, err, c.want)
	}
	for _, h := range [][]byte{{0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, byte(kinds), 0, 0, 0},
		{0, 0, 0, 0xff, 1, 0, 0, 0}, {0, 0, 0, 0, 1, 0, 1, 0}} {
		_, _, err := parseHead(h)
		require.ErrorIs(t, err, errProtocol)
	}
	hello := appendHello(nil)
	require.NoError(t, parseHello(hello))
	require.ErrorContains(t, parseHello(change(hello, 8, 9)), "version 9: want 1")
	require.ErrorContains(t, parseHello(change(hello, 0, 0)), "HELLO: want")
	_, _, err := parseJob([]byte(`{"frames":1,"rack":"colour: 1"}`))
	require.ErrorContains(t, err, "another kind of file: 0 of its 1 fields are known")
}

// Validate refuses racks that two processes cannot share, and names the field.
func TestWhatCannotBeDivided(t *testing.T) {
	for _, c := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.Processes = 3 }, "processes 3: want 1 or 2"},
		{func(o *Options) { o.Count, o.Window = 0, 0 }, "window 0: want 1 to"},
		{func(o *Options) { o.Limit = 0 }, "wait 0s: want 1ms"},
		{func(o *Options) { o.Frames = [][]byte{make([]byte, 59)} }, "frames[0]: has 59 bytes: want 60 to 9216"},
		{func(o *Options) { o.Rack, _ = board.RackPreset("bf3") },
			"network.kind open: cannot be divided: want back_to_back"},
		{func(o *Options) { o.Rack, _ = board.RackPreset("bf2-fleet") }, "network.kind switch: cannot be divided"},
		{func(o *Options) { o.Rack.Network.Loss = &inject.LossSpec{Share: 1e-3} },
			"network.loss: a cable that loses frames cannot be divided"},
		{func(o *Options) { o.Rack.Network.Faults = &inject.WireSpec{} },
			"network.faults: a cable that strikes frames cannot be divided"},
		{func(o *Options) { o.Rack, _ = board.RackPreset("connectx6-pair") },
			"servers[1].cards[0].device.kind rnic: want model"},
		{func(o *Options) { o.Rack.Servers[0].Cards[0].Device.Kind = board.DeviceRTL },
			"servers[0].cards[0].device.kind rtl: want model"},
		{func(o *Options) {
			o.Rack.Servers[0].Cards[0].Eth.Latency, o.Rack.Servers[1].Cards[0].Eth.Latency, o.Rack.Network.Latency = 0,
				0, 0
		}, "network.latency_ps: the cable has a latency of 0 ps"},
		{func(o *Options) { // in both servers, since their cards must have the same number of cables
			for i := range o.Rack.Servers {
				o.Rack.Servers[i].Cards[0].Bond = &board.BondSpec{Cables: 2}
			}
		}, "servers[0].cards[0].bond: the cables of a bond cannot be divided: want null"},
		{func(o *Options) {
			var l board.LoadSpec
			l.SetDefaults()
			o.Rack.Servers[1].Cards[0].Switch.Host.Loads = []board.LoadSpec{l}
		}, "servers[1].cards[0].switch.host.loads: nothing would end a background load: want none"},
		{func(o *Options) {
			o.Rack.Servers[1].Cards[0].Second = &board.SecondSpec{Device: board.DeviceSpec{Kind: board.DeviceRNIC,
				Model: "connectx7"}}
		}, "servers[1].cards[0].second: software of this command has no use for it: want null"},
		{func(o *Options) { o.Rack.Servers[0].Cards[0].Eth.Credits = 0 }, "eth.credits 0: want a number"},
	} {
		o := pair(t, "bf3", 10)
		c.change(&o)
		_, err := Run(t.Context(), o)
		require.ErrorContains(t, err, c.want)
		require.IsType(t, &UsageError{}, err)
	}
}

func FuzzMessages(f *testing.F) {
	f.Add(quantumOf(3, state{counted: true}, someRecords...))
	b, _ := appendPlayed(nil, [][]byte{{1, 2, 3}, make([]byte, 100)})
	f.Add(b)
	f.Add(binary.LittleEndian.AppendUint64(nil, 1<<32|5))
	f.Add([]byte(`{"rack":"{preset: bf3-pair}","frames":1,"count":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var records []record
		n, s, err := parseQuantum(b, testCables, func(r record) error {
			records = append(records, r)
			return nil
		})
		if err == nil {
			require.Equal(t, b, quantumOf(n, s, records...))
		}
		if frames, err := parsePlayed(b); err == nil {
			again, left := appendPlayed(nil, frames)
			require.True(t, len(left) > 0 || slices.Equal(again, b))
		}
		if len(b) >= headBytes {
			_, _, _ = parseHead(b)
		}
		_ = parseHello(b)
		_, _, _ = parseJob(b)
	})
}
