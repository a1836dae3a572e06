package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/ether"
	"nictwin/models/nic"
	"nictwin/models/nicspec"
)

// levels plays frames that come in on a port and are delivered, and pause
// frames that it sends, to a referee: 7 frames pass xoff, one is below xon.
type levels struct {
	t *testing.T
	r *Referee
}

const levelFrame = 640

func newLevels(t *testing.T, mode nicspec.PauseMode, classes uint8) *levels {
	t.Helper()
	spec := nic.DefaultSpec()
	r, err := New(DefaultConfig(spec))
	require.NoError(t, err)
	r.ver.init(nic.Config{RxEnable: true, DefaultAction: nicspec.ActionQueue})
	r.rx.ports[0].out.now.PortEntryFields = nicspec.PortEntryFields{TxMode: mode, TxClasses: classes, PauseTime: 1200, Xoff: 4000, Xon: 1000}
	return &levels{t, r}
}

// come lets frames come in, one a beat from a cycle on.
func (l *levels) come(cycle int64, n int) {
	for i := range int64(n) {
		l.r.Observe(boundary.Crossing{Kind: boundary.FrameIn, First: cycle + i, Last: cycle + i, Frame: &ether.Frame{Data: pattern(levelFrame, 1)}})
	}
}

// leave lets the oldest frames be delivered.
func (l *levels) leave(cycle int64, n int) {
	r := l.r
	p := &r.rx.ports[0]
	for i := range int64(n) {
		f := *p.tab.front()
		r.now = cycle + i
		r.pauseDelivered(p, f)
		r.withdraw(p, f)
		r.resolved(p, f, true)
		r.pauseLow(p)
	}
}

func (l *levels) sends(cycle int64, quanta uint16) {
	var b [nicspec.FrameMin]byte
	cfg := &l.r.rx.ports[0].out.now
	nic.BuildPause(&cfg.PortEntryFields, cfg.mac, quanta, &b)
	l.r.Observe(boundary.Crossing{Kind: boundary.FrameOut, First: cycle, Last: cycle, Frame: &ether.Frame{Data: b[:], Queue: nicspec.PauseQueue}})
}

func (l *levels) pause(cycle int64) { l.sends(cycle, 1200) }
func (l *levels) end(cycle int64)   { l.sends(cycle, 0) }

// found is what the referee has to say in the end: the field, or nothing.
func (l *levels) found(cycle int64) string {
	l.r.now = cycle
	l.r.endPauses()
	if l.r.log.total == 0 {
		return ""
	}
	m := l.r.log.kept[0]
	require.Equal(l.t, "F6", m.Rule, "%v", m)
	return m.Field
}

func TestPauseLevels(t *testing.T) {
	const pause, priority = nicspec.PauseModePause, nicspec.PauseModePriority
	for _, c := range []struct {
		name    string
		mode    nicspec.PauseMode
		classes uint8
		play    func(l *levels)
		want    string
	}{
		{"told and ended", pause, 0, func(l *levels) {
			l.come(1000, 7)
			l.pause(1050)
			l.leave(1400, 6)
			l.end(1450)
			l.leave(1500, 1)
		}, ""},
		{"told and ended before it is looked at", pause, 0, func(l *levels) {
			l.come(1000, 7)
			l.pause(1010)
			l.leave(1100, 7)
			l.end(1150)
			l.come(1400, 2)
			l.leave(1500, 2)
		}, ""},
		{"not told", pause, 0, func(l *levels) {
			l.come(1000, 7)
			l.leave(1400, 7)
		}, "frame"},
		{"told too late", pause, 0, func(l *levels) {
			l.come(1000, 7)
			l.come(1290, 1)
			l.pause(1300)
			l.leave(1400, 7)
		}, "frame"},
		{"passed again before the end could leave, told late", pause, 0, func(l *levels) {
			l.come(1000, 7)
			l.pause(1050)
			l.leave(1300, 6)
			l.come(1350, 7)
			l.end(1400)
			l.come(1640, 1)
			l.pause(1650)
			l.leave(1700, 8)
			l.end(1720)
		}, ""},
		{"passed again before the end could leave, not told", pause, 0, func(l *levels) {
			l.come(1000, 7)
			l.pause(1050)
			l.leave(1300, 6)
			l.come(1350, 7)
			l.end(1400)
			l.leave(1700, 8)
		}, "frame"},
		{"ended while much is held", pause, 0, func(l *levels) {
			l.come(1000, 7)
			l.pause(1050)
			l.end(1400)
			l.pause(1410)
			l.leave(1500, 7)
		}, "pause.time"},
		{"priority, told", priority, 0x10, func(l *levels) {
			l.come(1000, 7)
			l.pause(1050)
			l.leave(1400, 7)
			l.end(1450)
		}, ""},
		{"priority, not told", priority, 0x10, func(l *levels) {
			l.come(1000, 7)
			l.leave(1400, 7)
		}, "frame"},
		{"priority of no class", priority, 0, func(l *levels) { // with a time or without it is the same
			l.come(1000, 7)
			l.pause(1050)
			l.leave(1400, 7)
			l.end(1450)
		}, ""},
		{"priority of no class, at any time", priority, 0, func(l *levels) {
			l.come(1000, 7)
			l.leave(1400, 7)
			l.pause(1450)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLevels(t, c.mode, c.classes)
			c.play(l)
			require.Equal(t, c.want, l.found(2500))
		})
	}
}

// A priority pause of no class is one all the same: its bytes are looked at.
func TestPauseOfNoClassIsCompared(t *testing.T) {
	l := newLevels(t, nicspec.PauseModePriority, 0)
	l.come(1000, 7)
	l.r.rx.ports[0].out.now.TxClasses = 2
	l.pause(1050)
	require.Equal(t, "", l.found(1060))
	l.r.rx.ports[0].out.now.TxClasses = 0
	var b [nicspec.FrameMin]byte
	nic.BuildPause(&nicspec.PortEntryFields{TxMode: nicspec.PauseModePriority, TxClasses: 2}, [6]byte{}, 1200, &b)
	l.r.Observe(boundary.Crossing{Kind: boundary.FrameOut, First: 1100, Last: 1100, Frame: &ether.Frame{Data: b[:], Queue: nicspec.PauseQueue}})
	require.Equal(t, "pause.time", l.found(1200))
}

// What the referee's own bounds keep from being judged is said in the report.
func TestLimitsAreReported(t *testing.T) {
	l := newLevels(t, nicspec.PauseModePause, 0)
	require.Empty(t, l.r.Finish().Limits)

	l = newLevels(t, nicspec.PauseModePause, 0)
	l.come(1000, 130) // 80 KB: more claims than are followed
	r := l.r
	for i := range 70 {
		r.ver.now.Pause[0].Port = true
		r.Observe(boundary.Crossing{Kind: boundary.FrameIn, First: 1200 + int64(i), Last: 1200 + int64(i), Frame: &ether.Frame{Data: pauseFrame(1000)}})
	}
	for range 6 {
		r.regs.Write32(nicspec.RegPortMac(0), r.regs.Read32(nicspec.RegPortMac(0))+1)
		r.pauseConfigured(0)
	}
	l.sends(1300, 77)
	for range keptSettings {
		r.devctl.write(r.regs, r.now)
	}
	for i := range 40 {
		r.rx.queues[0].rung(uint16(i), 1300)
	}
	l.come(1310, 1)
	p := r.Finish()
	var met []string
	for _, m := range p.Limits {
		require.NotZero(t, m.Count)
		met = append(met, m.What[1:3])
	}
	require.Equal(t, []string{"F6", "F4", "F6", "P1", "R9"}, met)
	require.Contains(t, p.String(), "\nlimit: ")
}
