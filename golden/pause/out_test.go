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

// port returns an Out without back-pressure whose setting has long been in force, and the log of its findings.
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

// A pause may be sent again when half of the time that was sent has passed, which may be less than half of the
// setting's time.
func TestPauseRenewedByTheTimeSent(t *testing.T) {
	for sent, early := range map[uint16]bool{66: false, 20_000: true} {
		o, log := port(plain)
		o.paused, o.pausedAt, o.decided, o.quanta, o.unknown = true, 1000, 1000-o.slack, sent, false
		o.Sent(frame(plain, plain.PauseTime), at(1100), 0, 5000)
		require.Equal(t, early, log.Mismatches() > 0, "sent a pause of %d quanta", sent)
		require.Equal(t, plain.PauseTime, o.quanta)
	}
}

// Out must report pause frames that [F6] forbids and those that are missing, and nothing else.
func TestOut(t *testing.T) {
	pause, end := frame(plain, plain.PauseTime), frame(plain, 0)
	wrong := append([]byte(nil), pause...)
	wrong[16]++
	for _, c := range []struct {
		name  string
		play  func(o *Out)
		field string // "": nothing is wrong
	}{
		{"too little for a pause", func(o *Out) { o.Sent(pause, at(1000), 0, 3999); o.End(1000, 0) }, "frame"},
		{"enough for it", func(o *Out) { o.Came(990, 5000, 8); o.Sent(pause, at(1000), 8, 5000); o.End(1001, 5000) },
			""},
		{"a pause that nobody sends", func(o *Out) {
			o.Came(1000, 5000, 8)
			o.Coming(at(4000), 64)
			for i := range uint32(8) { // these frames have been in the buffer all the time
				o.Delivered(4100, i, 900, 640, i)
			}
		}, "frame"},
		{"an end without a pause", func(o *Out) { o.Sent(end, at(1000), 0, 5000) }, "pause.time"},
		{"an end that nobody sends", func(o *Out) {
			o.Sent(pause, at(1000), 0, 5000)
			o.Low(1100, 500)
			o.End(4000, 500)
		}, "frame"},
		{"an end in time", func(o *Out) {
			o.Sent(pause, at(1000), 0, 5000)
			o.Low(1100, 500)
			o.Sent(end, at(1200), 0, 500)
			o.End(4000, 500)
		}, ""},
		{"a byte", func(o *Out) { o.Sent(wrong, at(1000), 0, 5000) }, "pause.time"},
		{"a length", func(o *Out) { o.Sent(append(pause, 0), at(1000), 0, 5000) }, "frame length"},
		{"during a reset it may come or not", func(o *Out) {
			o.Sent(pause, at(1000), 0, 5000)
			o.ResetBegins()
			o.Low(1100, 0)
			o.Sent(end, at(1200), 0, 0)
			o.End(4000, 0)
		}, ""},
		{"after a reset there are none", func(o *Out) { o.Reset(); o.Sent(pause, at(1000), 0, 5000) }, "frame"},
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

// While a write of xoff and xon takes effect, the old or the new setting may decide on a pause frame, whichever of them
// the frame's bytes show. Afterwards only the new one may. All the time the receive buffer holds 640 B, or six times
// that.
func TestMarksAreWritten(t *testing.T) {
	low, high, class := plain, plain, plain
	low.Xoff, low.Xon = 2000, 500
	high.Xoff, high.Xon = 8000, 6000
	class.TxMode, class.TxClasses, class.Xon = nicspec.PauseModePriority, 1, 500
	slack := SlackOf(ethBits)
	for _, c := range []struct {
		name          string
		before, after nicspec.PortEntryFields
		end           bool
		frames        uint32 // number of frames held
		cycle         int64  // cycles from the write to the pause frame
		field         string // of the mismatch, "" without one
	}{
		{"ended by the mark before", plain, low, true, 1, 0, ""},
		{"ended by the mark before, at the latest", plain, low, true, 1, slack, ""},
		{"ended by the mark before, too late", plain, low, true, 1, slack + 1, "pause.time"},
		{"ended by the mark before, with bytes of the one after", plain, class, true, 1, 10, ""},
		{"ended by the mark after", low, plain, true, 1, 1, ""},
		{"ended above both", plain, low, true, 6, 10, "pause.time"},
		{"sent by the mark before", low, high, false, 6, 0, ""},
		{"sent by the mark before, at the latest", low, high, false, 6, slack, ""},
		{"sent by the mark before, too late", low, high, false, 6, slack + 1, "frame"},
		{"sent by the mark after", high, low, false, 6, 1, ""},
		{"sent below both", plain, high, false, 1, 10, "frame"},
	} {
		const written = 5000
		o, log := port(c.before)
		o.paused, o.pausedAt, o.decided, o.unknown = c.end, 100, 100, false
		require.True(t, o.Configure(c.after, [6]byte{}, written), c.name)
		quanta := c.after.PauseTime
		if c.end {
			quanta = 0
		}
		sent := written + c.cycle
		o.Sent(frame(c.after, quanta), at(sent), c.frames, int(c.frames)*640)
		if c.end {
			for i := range c.frames {
				o.Delivered(sent+10, i, 900, 640, i)
			}
		} else {
			o.End(sent+1, int(c.frames)*640)
		}
		if c.field == "" {
			require.Zero(t, log.Mismatches(), "%s: %v", c.name, log.List())
			continue
		}
		require.NotZero(t, log.Mismatches(), c.name)
		require.Equal(t, c.field, log.List()[0].Field, c.name)
	}
}

// A setting that the referee no longer keeps may have allowed a pause frame. As long as it may be in force, the frame
// is not judged, and the report counts this among the referee's limits.
func TestForgottenMarks(t *testing.T) {
	const written = 5000
	for cycle, forgotten := range map[int64]bool{written + 50: true, written + 1000: false} {
		o, log := port(plain)
		o.paused, o.unknown = true, false
		for i := range keptSettings + 1 {
			low := plain
			low.Xon = 600 - uint32(i)
			o.Configure(low, [6]byte{}, written+int64(i))
		}
		o.Sent(frame(plain, 0), at(cycle), 1, 640)
		o.Delivered(cycle+10, 0, 900, 640, 0)
		require.Equal(t, !forgotten, log.Mismatches() > 0, "ended in cycle %d: %v", cycle, log.List())
		require.Equal(t, forgotten, len(log.Limits()) == 1, "ended in cycle %d", cycle)
	}
}

// While a write of a longer pause time takes effect, a pause may be sent again after half of the shorter time.
func TestPauseRenewedWhileItsTimeIsWritten(t *testing.T) {
	const written, wait = 5000, 30
	short, long := plain, plain
	short.PauseTime = uint16(SlackOf(ethBits)) + wait // a quantum is two cycles here
	long.PauseTime = 60_000
	for cycle, soon := range map[int64]bool{written + wait - 1: true, written + wait: false} {
		o, log := port(short)
		o.Configure(long, [6]byte{}, written)
		o.Sent(frame(long, long.PauseTime), at(written), 0, 5000)
		o.Sent(frame(long, long.PauseTime), at(cycle), 0, 5000)
		require.Equal(t, soon, log.Mismatches() > 0, "cycle %d", cycle)
	}
}

// A stop holds from VisibleCycles after its frame until its time has passed, unless a later frame may have ended
// it.
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
