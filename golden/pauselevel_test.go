package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/golden/arrivals"
	"nictwin/golden/pause"
	"nictwin/golden/windows"
	"nictwin/models/format/ether"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// levels feeds a referee with frames that a port receives and delivers, and with pause frames that it sends. Seven
// of these frames exceed xoff; one is below xon.
type levels struct {
	t    *testing.T
	r    *Referee
	port nicspec.PortEntryFields
}

const (
	levelFrame = 640
	levelTime  = 1200
)

func newLevels(t *testing.T, mode nicspec.PauseMode, classes uint8) *levels {
	t.Helper()
	spec := nicspec.DefaultBuild()
	r, err := New(DefaultConfig(spec))
	require.NoError(t, err)
	r.regs.Write32(nicspec.RegCtrl, 1) // rx_enable
	var v nicspec.RxDefaultReg
	v.SetAction(uint32(nicspec.ActionQueue))
	r.regs.Write32(nicspec.RegRxDefault, uint32(v))
	r.ver = windows.NewReceive(r.regs)
	l := &levels{t: t, r: r}
	l.configure(0, nicspec.PortEntryFields{TxMode: mode, TxClasses: classes, PauseTime: levelTime, Xoff: 4000,
		Xon: 1000})
	return l
}

// configure changes the port's setting in a cycle. The tests do so early enough for the previous setting to be out
// of force.
func (l *levels) configure(cycle int64, port nicspec.PortEntryFields) {
	l.port = port
	l.r.rx.ports[0].out.Configure(port, [6]byte{}, cycle)
}

// act is one step of a test.
type act func(l *levels)

func (l *levels) play(acts ...act) {
	for _, a := range acts {
		a(l)
	}
}

// come makes the port receive n frames, one per cycle.
func come(cycle int64, n int) act {
	return func(l *levels) {
		for i := range int64(n) {
			l.sees(boundary.FrameIn, cycle+i, &ether.Frame{Data: pattern(levelFrame, 1)})
		}
	}
}

// leave delivers the n oldest frames, one per cycle.
func leave(cycle int64, n int) act {
	return func(l *levels) {
		r := l.r
		p := &r.rx.ports[0]
		for i := range int64(n) {
			f := *p.Undecided.Front()
			r.now = cycle + i
			p.out.Delivered(r.now, f.Seq, f.Last, arrivals.Room(f.N), p.Base)
			r.withdraw(p, f)
			r.resolved(p, f, true)
			p.out.Low(r.now, p.Level)
		}
	}
}

// pauses makes the port send a pause frame with the setting's time; `ends` does the same with time 0.
func pauses(cycle int64) act { return sends(cycle, levelTime) }
func ends(cycle int64) act   { return sends(cycle, 0) }

func sends(cycle int64, quanta uint16) act {
	return func(l *levels) {
		l.sendsAs(cycle, &l.port, quanta)
	}
}

func (l *levels) sendsAs(cycle int64, cfg *nicspec.PortEntryFields, quanta uint16) {
	var b [nicspec.FrameMin]byte
	core.BuildPause(cfg, [6]byte{}, quanta, &b)
	l.sees(boundary.FrameOut, cycle, &ether.Frame{Data: b[:], Queue: nicspec.PauseQueue})
}

func (l *levels) sees(kind boundary.Kind, cycle int64, f *ether.Frame) {
	l.r.Observe(boundary.Crossing{Kind: kind, First: cycle, Last: cycle, Frame: f})
}

// found ends the run and returns the field of the first mismatch, else "".
func (l *levels) found(cycle int64) string {
	l.r.now = cycle
	l.r.endPauses()
	if l.r.log.Mismatches() == 0 {
		return ""
	}
	m := l.r.log.List()[0]
	require.Equal(l.t, "F6", m.Rule, "%v", m)
	return m.Field
}

// Seven frames fill the buffer beyond xoff. Then the port must send a pause frame in time, and end the pause when
// the level has fallen, but not before.
func TestPauseLevels(t *testing.T) {
	const pause, priority = nicspec.PauseModePause, nicspec.PauseModePriority
	for _, c := range []struct {
		name    string
		mode    nicspec.PauseMode
		classes uint8
		then    []act
		want    string
	}{
		{"told and ended", pause, 0, []act{pauses(1050), leave(1400, 6), ends(1450), leave(1500, 1)}, ""},
		{"told and ended before it is looked at", pause, 0,
			[]act{pauses(1010), leave(1100, 7), ends(1150), come(1400, 2),
				leave(1500, 2)}, ""},
		{"not told", pause, 0, []act{leave(1400, 7)}, "frame"},
		{"told too late", pause, 0, []act{come(1290, 1), pauses(1300), leave(1400, 7)}, "frame"},
		{"passed again before the end could leave, told late", pause, 0,
			[]act{pauses(1050), leave(1300, 6), come(1350, 7), ends(1400),
				come(1640, 1), pauses(1650), leave(1700, 8), ends(1720)}, ""},
		{"passed again before the end could leave, not told", pause, 0,
			[]act{pauses(1050), leave(1300, 6), come(1350, 7), ends(1400),
				leave(1700, 8)}, "frame"},
		{"ended while much is held", pause, 0, []act{pauses(1050), ends(1400), pauses(1410), leave(1500, 7)},
			"pause.time"},
		{"priority, told", priority, 0x10, []act{pauses(1050), leave(1400, 7), ends(1450)}, ""},
		{"priority, not told", priority, 0x10, []act{leave(1400, 7)}, "frame"},
		// A priority pause frame without classes has the same bytes for every time, so the referee cannot say whether
		// the frame that begins a pause or the one that ends it was sent, and reports neither as missing.
		{"priority of no class", priority, 0, []act{pauses(1050), leave(1400, 7), ends(1450)}, ""},
		{"priority of no class, at any time", priority, 0, []act{leave(1400, 7), pauses(1450)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLevels(t, c.mode, c.classes)
			l.play(come(1000, 7))
			l.play(c.then...)
			require.Equal(t, c.want, l.found(2500))
		})
	}
}

// A pause frame is in time in the last cycle of its slack, and late in the next. Cycles in which the port was held
// back do not count, whether they come before the level asks for the frame, in several intervals, or last until it
// leaves.
func TestPauseFramesWaitForThePort(t *testing.T) {
	slack := pause.SlackOf(newLevels(t, nicspec.PauseModePause, 0).r.cfg.Build.EthBits)
	const asked = 1006 // cycle in which the seventh frame came in
	for _, held := range [][][2]int64{{}, {{1100, 1299}}, {{900, 1050}, {1100, 1100}, {1200, 1249}, {1250, 1699}},
		{{1007, 8000}}} {
		deadline := asked + slack
		for _, h := range held {
			if h[0] <= deadline {
				deadline += h[1] - max(h[0], asked+1) + 1
			}
		}
		for _, c := range []struct {
			cycle int64
			want  string
		}{{deadline, ""}, {deadline + 1, "frame"}} {
			l := newLevels(t, nicspec.PauseModePause, 0)
			l.play(come(1000, 7))
			for _, h := range held {
				l.r.Held(boundary.Held{Kind: boundary.FrameOut, First: h[0], Last: h[1]})
			}
			require.Empty(t, l.r.fault)
			if c.want != "" { // a late frame is noticed only at the next crossing
				l.play(come(c.cycle, 1))
			}
			l.play(pauses(c.cycle), leave(c.cycle+10, 7), ends(c.cycle+30))
			require.Equal(t, c.want, l.found(c.cycle+1000), "held %v: told in cycle %d, the deadline is %d", held,
				c.cycle, deadline)
		}
	}
}

// The bytes of a priority pause without classes are compared, although they do not show whether its pause time is 0.
func TestPauseOfNoClassIsCompared(t *testing.T) {
	l := newLevels(t, nicspec.PauseModePriority, 0)
	with := l.port
	with.TxClasses = 2
	l.configure(10, with)
	l.play(come(1000, 7), pauses(1050))
	require.Equal(t, "", l.found(1060))
	with.TxClasses = 0
	l.configure(1070, with)
	l.sendsAs(3000, &nicspec.PortEntryFields{TxMode: nicspec.PauseModePriority, TxClasses: 2}, levelTime)
	require.Equal(t, "pause.time", l.found(3100))
}

// The report lists each bound of the referee's own that kept it from judging something.
func TestLimitsAreReported(t *testing.T) {
	l := newLevels(t, nicspec.PauseModePause, 0)
	require.Empty(t, l.r.Finish().Limits)

	l = newLevels(t, nicspec.PauseModePause, 0)
	l.play(come(1000, 130)) // 80 KB make more claims about the level than the referee keeps
	r := l.r
	for i := range 70 {
		r.ver.Now().Pause[0].Port = true
		l.sees(boundary.FrameIn, 1200+int64(i), &ether.Frame{Data: pauseFrame(1000)})
	}
	for range 6 {
		r.regs.Write32(nicspec.RegPortMac(0), r.regs.Read32(nicspec.RegPortMac(0))+1)
		r.pauseConfigured(0)
	}
	l.play(sends(1300, 77))
	for range 8 {
		r.devctl.Written(r.regs, r.now)
	}
	for i := range 40 {
		r.rx.queues[0].rung(uint16(i), 1300)
	}
	l.play(come(1310, 1))
	p := r.Finish()
	var met []string
	for _, m := range p.Limits {
		require.NotZero(t, m.Count)
		met = append(met, m.What[1:3])
	}
	require.Equal(t, []string{"F6", "F4", "F6", "P1", "R9"}, met)
	require.Contains(t, p.String(), "\nlimit: ")
}
