package pause

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/golden/cycles"
	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

const ethBits = 256

// port is a port without back-pressure that was set long ago, and what is reported of it.
func port(e nicspec.PortEntryFields) (*Out, *verdict.Log) {
	held, log := cycles.NewSet(1<<11), verdict.NewLog("", 10, nil, 1, 1, 1)
	o := NewOut(0, ethBits, &held, log)
	o.Configure(e, [6]byte{}, -10_000)
	return &o, log
}

func frame(e nicspec.PortEntryFields, quanta uint16) []byte {
	var b [nicspec.FrameMin]byte
	core.BuildPause(&e, [6]byte{}, quanta, &b)
	return b[:]
}

func at(cycle int64) At { return At{cycle, cycle} }

var plain = nicspec.PortEntryFields{TxMode: nicspec.PauseModePause, PauseTime: 30_000, Xoff: 4000, Xon: 1000}

// A pause is renewed when half of the time that was told has passed, or half of what has been written since.
func TestPauseRenewedByTheTimeTold(t *testing.T) {
	for told, early := range map[uint16]bool{66: false, 20_000: true} {
		o, log := port(plain)
		o.paused, o.told, o.decided, o.quanta, o.unknown = true, 1000, 1000-o.slack, told, false
		o.Sent(frame(plain, plain.PauseTime), at(1100), 0, 5000)
		require.Equal(t, early, log.Mismatches() > 0, "told to pause for %d quanta", told)
		require.Equal(t, plain.PauseTime, o.quanta)
	}
}

// Out reports what cannot be, and nothing else.
func TestOut(t *testing.T) {
	tell, end := frame(plain, plain.PauseTime), frame(plain, 0)
	wrong := append([]byte(nil), tell...)
	wrong[16]++
	for _, c := range []struct {
		name  string
		play  func(o *Out)
		field string // "": nothing is wrong
	}{
		{"too little for a pause", func(o *Out) { o.Sent(tell, at(1000), 0, 3999); o.End(1000, 0) }, "frame"},
		{"enough for it", func(o *Out) { o.Came(990, 5000, 8); o.Sent(tell, at(1000), 8, 5000); o.End(1001, 5000) },
			""},
		{"a pause that nobody sends", func(o *Out) {
			o.Came(1000, 5000, 8)
			o.Coming(at(4000), 64)
			for i := range uint32(8) { // what was there all the time
				o.Delivered(4100, i, 900, 640, i)
			}
		}, "frame"},
		{"an end without a pause", func(o *Out) { o.Sent(end, at(1000), 0, 5000) }, "pause.time"},
		{"an end that nobody sends", func(o *Out) {
			o.Sent(tell, at(1000), 0, 5000)
			o.Low(1100, 500)
			o.End(4000, 500)
		}, "frame"},
		{"an end in time", func(o *Out) {
			o.Sent(tell, at(1000), 0, 5000)
			o.Low(1100, 500)
			o.Sent(end, at(1200), 0, 500)
			o.End(4000, 500)
		}, ""},
		{"a byte", func(o *Out) { o.Sent(wrong, at(1000), 0, 5000) }, "pause.time"},
		{"a length", func(o *Out) { o.Sent(append(tell, 0), at(1000), 0, 5000) }, "frame length"},
		{"during a reset it may come or not", func(o *Out) {
			o.Sent(tell, at(1000), 0, 5000)
			o.Resets()
			o.Low(1100, 0)
			o.Sent(end, at(1200), 0, 0)
			o.End(4000, 0)
		}, ""},
		{"after a reset there are none", func(o *Out) { o.Reset(); o.Sent(tell, at(1000), 0, 5000) }, "frame"},
	} {
		o, log := port(plain)
		c.play(o)
		if c.field == "" {
			require.Zero(t, log.Mismatches(), "%s: %v", c.name, log.List())
			continue
		}
		require.NotZero(t, log.Mismatches(), c.name)
		require.Equal(t, c.field, log.List()[0].Field, c.name)
	}
}

// A stop holds from VisibleCycles after its frame to the end of its time, unless a later frame may have ended it.
func TestStops(t *testing.T) {
	const quanta = 1000
	end := 100 + core.PauseCycles(quanta, ethBits)
	in := func(seq uint32, last int64, quanta uint16, sure bool) In {
		x := In{Seq: seq, Last: last, Sure: sure}
		for i := range x.Frame.Quanta {
			x.Frame.Quanta[i] = quanta
		}
		return x
	}
	var k Stops
	require.True(t, k.Came(in(1, 100, quanta, true), ethBits))
	for cycle, want := range map[int64]bool{100: false, 100 + nicspec.VisibleCycles: false,
		101 + nicspec.VisibleCycles: true, end - 1: true, end: false} {
		since, stopped := k.Stopped(ethBits, -1, cycle)
		require.Equal(t, want, stopped, "cycle %d", cycle)
		if want {
			require.EqualValues(t, 100+nicspec.VisibleCycles, since)
		}
	}
	_, stopped := k.Stopped(ethBits, 3, end-1)
	require.False(t, stopped, "it is not one for classes")
	require.True(t, k.Came(in(2, 300, 0, false), ethBits), "it may have ended the stop")
	_, stopped = k.Stopped(ethBits, -1, end-1)
	require.False(t, stopped)
	k.Clear()
	for i := range uint32(keptPauses) {
		require.True(t, k.Came(in(10+i, 400, quanta, true), ethBits))
	}
	require.True(t, k.Came(in(10, 400, quanta, true), ethBits), "known already")
	require.False(t, k.Came(in(100, 401, quanta, true), ethBits), "the first still counts")
}
