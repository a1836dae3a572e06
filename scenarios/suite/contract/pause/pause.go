package pause

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// Checks cover pause frames, received and sent.
var Checks = []kit.Check{
	{Name: "pause/values", Rules: "F7 G6", Stalls: kit.Calm, Run: pauseValues},
	{Name: "pause/frames that are honoured, and others", Rules: "F1 F2 F8", Stalls: kit.Stalled, Run: honoured},
	{Name: "pause/stops of a port", Rules: "F3 F4", Stalls: kit.Calm, Run: portStops},
	{Name: "pause/stops of classes", Rules: "F3 F4", Stalls: kit.Calm, Run: classStops},
	{Name: "pause/a queue that is enabled in a stop of its class", Rules: "F4", Stalls: kit.Calm, Run: enabledInAStop},
	{Name: "pause/more frames wait than any buffer holds", Rules: "F4 B4 T9 T10 C3", Stalls: kit.Stalled,
		Run: manyWait},
	{Name: "pause/frames that are dropped stop nothing", Rules: "F2 F4", Stalls: kit.Calm, Run: droppedPauses},
	{Name: "pause/sent when the buffer fills", Rules: "F6 R3", Stalls: kit.Calm, Run: pausesSent},
	{Name: "pause/its own frames in a stop", Rules: "F5 F6", Stalls: kit.Calm, Run: pausesInAStop},
	{Name: "pause/no longer sent", Rules: "F7", Stalls: kit.Calm, Run: pausesEnd},
}

// PortCfg writes the PortCfg entry of the port under test.
func PortCfg(r *kit.Rig, f nicspec.PortEntryFields) {
	r.T.Helper()
	PortCfgOf(r, 0, f)
}

// PortCfgOf writes the PortCfg entry of a port.
func PortCfgOf(r *kit.Rig, port int, f nicspec.PortEntryFields) {
	r.T.Helper()
	r.Commit(nicspec.TablePortCfg, r.PortOf(port), kit.Encode(&f, nicspec.PortEntrySize))
	r.Synced()
}

// pauseFrame returns a MAC control frame: its opcode, then the words of rest.
func pauseFrame(opcode uint16, rest ...uint16) []byte {
	b := make([]byte, nicspec.FrameMin)
	copy(b, []byte{1, 0x80, 0xc2, 0, 0, 1, 2, 3, 4, 5, 6, 7})
	kit.BigEndian.PutUint16(b[12:], nicspec.MacControlType)
	kit.BigEndian.PutUint16(b[14:], opcode)
	for i, v := range rest {
		kit.BigEndian.PutUint16(b[16+2*i:], v)
	}
	return b
}

// ClassPause returns a priority pause that stops every class of the vector for the same time.
func ClassPause(vector uint8, time uint16) []byte {
	rest := make([]uint16, 9)
	rest[0] = uint16(vector)
	for i := range 8 {
		rest[1+i] = 0x1111
		if vector>>i&1 != 0 {
			rest[1+i] = time
		}
	}
	return pauseFrame(nicspec.PfcOpcode, rest...)
}

func pauseValues(r *kit.Rig) {
	type f = nicspec.PortEntryFields
	for _, c := range []kit.ValueCase[f]{
		{Name: "good", Mod: func(*f) {}, Want: kit.TableOk},
		{Name: "rx_pause 2", Mod: func(e *f) { e.RxPause = 2 }, Want: kit.TableBad},
		{Name: "rx_pause 255", Mod: func(e *f) { e.RxPause = 255 }, Want: kit.TableBad},
		{Name: "tx_mode 2", Mod: func(e *f) { e.TxMode = 2 }, Want: kit.TableOk},
		{Name: "tx_mode 3", Mod: func(e *f) { e.TxMode = 3 }, Want: kit.TableBad},
		{Name: "tx_mode 255", Mod: func(e *f) { e.TxMode = 255 }, Want: kit.TableBad},
		{Name: "xon as high as xoff", Mod: func(e *f) { e.Xon = e.Xoff }, Want: kit.TableBad},
		{Name: "xon above xoff", Mod: func(e *f) { e.Xon = e.Xoff + 1 }, Want: kit.TableBad},
		{Name: "xon one less than xoff", Mod: func(e *f) { e.Xon = e.Xoff - 1 }, Want: kit.TableOk},
		{Name: "xoff the whole buffer", Mod: func(e *f) { e.Xoff = nicspec.RxBufBytes }, Want: kit.TableOk},
		{Name: "xoff more than the buffer", Mod: func(e *f) { e.Xoff = nicspec.RxBufBytes + 1 }, Want: kit.TableBad},
		{Name: "xoff by bit 31", Mod: func(e *f) { e.Xoff |= 1 << 31 }, Want: kit.TableBad},
		{Name: "pause_time 63", Mod: func(e *f) { e.PauseTime = 63 }, Want: kit.TableBad},
		{Name: "pause_time 64", Mod: func(e *f) { e.PauseTime = 64 }, Want: kit.TableOk},
		{Name: "mode None: the rest may be anything", Mod: func(e *f) {
			e.TxMode, e.Xoff, e.Xon, e.PauseTime = 0, 1<<31,
				1<<31+5, 1
		}, Want: kit.TableOk},
	} {
		e := f{RxPause: 1, RxPfc: 0xa5, TxMode: nicspec.PauseModePause, TxClasses: 0x5a, PauseTime: 1000, Xoff: 30_000,
			Xon: 10_000}
		c.Mod(&e)
		before := r.Entry(nicspec.TablePortCfg, 0)
		b := kit.Encode(&e, nicspec.PortEntrySize)
		require.Equal(r.T, c.Want, r.Command(nicspec.TableOpWrite, nicspec.TablePortCfg, 0, b), c.Name)
		if c.Want == kit.TableOk {
			before = append(b, make([]byte, 4*nicspec.TableWords-len(b))...)
		}
		require.Equal(r.T, before, r.Entry(nicspec.TablePortCfg, 0), c.Name)
	}
}

// honoured plays pauses, and frames that are almost pauses, which must be treated like any other frame.
func honoured(r *kit.Rig) {
	x := r.OpenRx(1, 7, nil)
	r.Post(x, 100)
	tagged := append(append(append([]byte(nil), pauseFrame(1, 5)[:12]...), 0x81, 0, 0, 1), pauseFrame(1, 5)[12:]...)
	to := func(at int, v byte, f []byte) []byte { f[at] = v; return f }
	long := append(pauseFrame(nicspec.PauseOpcode, 1), make([]byte, 300)...)
	for _, cfg := range []struct{ pause, classes uint8 }{{1, 0xff}, {1, 0}, {0, 4}, {0, 0}} {
		PortCfg(r, nicspec.PortEntryFields{RxPause: cfg.pause, RxPfc: cfg.classes})
		r.ReceiveAll(1)
		for i, c := range []struct {
			frame  []byte
			pauses bool
		}{
			{pauseFrame(nicspec.PauseOpcode, 0), cfg.pause == 1}, {pauseFrame(nicspec.PauseOpcode, 3), cfg.pause == 1},
			{long, cfg.pause == 1},
			{ClassPause(0xff, 2), cfg.classes != 0}, {ClassPause(0, 0), cfg.classes != 0},
			{ClassPause(8, 1), cfg.classes != 0},
			{to(6, 0x99, pauseFrame(nicspec.PauseOpcode, 1)), cfg.pause == 1},
			{tagged, false}, {pauseFrame(0, 1), false}, {pauseFrame(2, 1), false}, {pauseFrame(0x0100, 1), false},
			{pauseFrame(0x0102, 1), false},
			{pauseFrame(0x1001, 1), false}, {to(5, 2, pauseFrame(1, 1)), false}, {to(0, 0, pauseFrame(1, 1)), false},
			{to(12, 0x89, pauseFrame(1, 1)), false},
			{to(13, 9, ClassPause(1, 1)), false},
		} {
			want, first := kit.Arrived(c.frame), r.Ordinal()
			if c.pauses {
				want.With(kit.PortCounter(nicspec.CntRxPause), 1)
			} else {
				want.Taken(1)
			}
			r.Counted(fmt.Sprintf("frame %d, rx_pause %d, rx_pfc %#x", i, cfg.pause, cfg.classes), want, func() {
				r.Play(c.frame)
				if !c.pauses {
					r.Delivered(x, first, nicspec.RuleNone)
				}
			})
		}
		r.Post(x, 20)
	}
	PortCfg(r, nicspec.PortEntryFields{RxPause: 1, RxPfc: 0xff})
	r.Dropped("a pause that is too short", nicspec.CntRxDropRunt, pauseFrame(1, 9)[:59])
	r.Write(nicspec.RegCtrl, 2)
	r.Synced()
	r.Dropped("rx_enable 0", nicspec.CntRxDropDisabled, pauseFrame(1, 9), ClassPause(1, 1))
}

// pauseWatch records when frames begin to leave, and when incoming frames end.
type pauseWatch struct {
	Begins []boundary.Crossing // frames that left, without their bytes
	Ins    []int64             // cycle of the last beat of each frame that came in
}

func Pauses(r *kit.Rig) *pauseWatch {
	w := &pauseWatch{}
	r.Frames = func(c boundary.Crossing) {
		switch {
		case r.PortOf(c.Port) != 0:
		case c.Kind == boundary.FrameIn:
			w.Ins = append(w.Ins, c.Last)
		default:
			w.Begins = append(w.Begins, boundary.Crossing{First: c.First, Last: c.Last, Port: c.Frame.Queue})
		}
	}
	return w
}

// Quantum returns the length of a pause quantum (512 bit times) in cycles.
func Quantum(r *kit.Rig) int64 { return int64(512 / r.Sizes.EthBits) }

// fetchCycles is an upper bound of the cycles to fetch and gather entries after a stop has ended.
const fetchCycles = 400

// stopped checks that no frame of a queue began during a stop that came in cycle at, and that one began soon after the
// stop: within the time that [F4] allows, plus slack.
func stopped(r *kit.Rig, w *pauseWatch, queue int, at, quanta, slack int64) {
	r.T.Helper()
	end, after := at+quanta*Quantum(r), int64(-1)
	for _, c := range w.Begins {
		if c.Port != queue || c.First <= at+nicspec.VisibleCycles {
			continue
		}
		require.GreaterOrEqual(r.T, c.First, end, "frame of queue %d in the stop that came at cycle %d", queue, at)
		if after < 0 {
			after = c.First
		}
	}
	require.GreaterOrEqual(r.T, after, end, "a frame of queue %d after the stop", queue)
	require.LessOrEqual(r.T, after, end+nicspec.VisibleCycles+slack, "the first frame of queue %d after the stop",
		queue)
}

// busySending posts as many long frames as the ring has entries.
func busySending(r *kit.Rig, x *kit.TxRing, w *kit.Window) []kit.Posted {
	r.T.Helper()
	var all []nicspec.WqeFields
	for i := range x.Size() {
		all = append(all, kit.SendEntry(nil, r.Piece(w, 0, 64, kit.Pattern(1000, uint64(i)))))
	}
	posts := r.Enqueue(x, all...)
	r.RingDoorbell(&x.Ring)
	return posts
}

func portStops(r *kit.Rig) {
	x, w := r.TxSetup(3, 6)
	PortCfg(r, nicspec.PortEntryFields{RxPause: 1})
	for _, c := range []struct {
		frames [][]byte
		quanta int64 // length of the stop, counted from the last frame
	}{
		{[][]byte{pauseFrame(1, 700)}, 700}, {[][]byte{pauseFrame(1, 5000)}, 5000}, {[][]byte{pauseFrame(1, 0)}, 0},
		{[][]byte{pauseFrame(1, 60_000), pauseFrame(1, 900)}, 900},
		{[][]byte{pauseFrame(1, 60_000), pauseFrame(1, 0)}, 0},
		{[][]byte{pauseFrame(1, 100), pauseFrame(1, 2000)}, 2000},
	} {
		first := x.PI
		posts := busySending(r, x, w[0])
		p := Pauses(r)
		r.Until("a frame leaves", func() bool { return len(p.Begins) > 0 })
		r.Play(c.frames...)
		r.Until("the pauses have come in", func() bool { return len(p.Ins) == len(c.frames) })
		at := p.Ins[len(p.Ins)-1]
		r.Ended(x, first, posts)
		slack := int64(0) // the entries were fetched before the stop, so their frames are ready to leave at its end
		if c.quanta == 0 {
			slack = fetchCycles
		}
		stopped(r, p, 3, at, c.quanta, slack)
		r.Frames = nil
	}
	r.Quiet()
	r.NoFrames()
}

// classStops stops the class of an idle queue. Entries posted to it then must wait; entries of other queues must not.
func classStops(r *kit.Rig) {
	PortCfg(r, nicspec.PortEntryFields{RxPfc: 0x24})
	_, w := r.TxSetup(9, 2)
	r.TxMod = func(f *nicspec.TxqEntryFields) { f.PfcClass = 5 }
	x := r.OpenTx(1, 3)
	r.TxMod = func(f *nicspec.TxqEntryFields) { f.PfcClass = 3 }
	y := r.OpenTx(2, 3)
	for _, c := range []struct {
		vector  uint8
		quanta  int64
		stopped bool
	}{{0x20, 3000, true}, {0xff, 3000, true}, {0x08, 3000, false}, {0x04, 3000, false}, {0, 3000, false}} {
		r.Quiet()
		p := Pauses(r)
		r.Play(ClassPause(c.vector, uint16(c.quanta)))
		r.Until("the pause has come in", func() bool { return len(p.Ins) == 1 })
		r.Run(2 * nicspec.VisibleCycles)
		at, firstX, firstY := p.Ins[0], x.PI, y.PI
		posts := r.Enqueue(y, r.Sound(w[1], 1), r.Sound(w[1], 2))
		r.RingDoorbell(&y.Ring)
		r.Ended(y, firstY, posts)
		require.Less(r.T, p.Begins[len(p.Begins)-1].Last, at+c.quanta, "a frame of another class was delayed")
		posts = r.Enqueue(x, r.Sound(w[0], 1), r.Sound(w[0], 2))
		r.RingDoorbell(&x.Ring)
		r.Ended(x, firstX, posts)
		if c.stopped {
			stopped(r, p, 1, at, c.quanta, fetchCycles)
		} else {
			require.Less(r.T, p.Begins[len(p.Begins)-1].Last, at+c.quanta, "vector %#x stops no class of the queue",
				c.vector)
		}
		r.Run(int(c.quanta))
		r.Frames = nil
	}
	r.NoFrames()
}

// droppedPauses plays pause frames that are too short, or that arrive while rx_enable is 0: entries posted afterwards
// must be sent at once.
func droppedPauses(r *kit.Rig) {
	const quanta = 20_000
	x, w := r.TxSetup(3, 6)
	PortCfg(r, nicspec.PortEntryFields{RxPause: 1, RxPfc: 0xff})
	for _, c := range []struct {
		name  string
		ctrl  uint32
		frame []byte
	}{
		{"a pause that is too short", 3, pauseFrame(nicspec.PauseOpcode, quanta)[:nicspec.FrameMin-1]},
		{"a priority pause that is too short", 3, ClassPause(0xff, quanta)[:nicspec.FrameMin-1]},
		{"a pause with rx_enable 0", 2, pauseFrame(nicspec.PauseOpcode, quanta)},
		{"a priority pause with rx_enable 0", 2, ClassPause(0xff, quanta)},
	} {
		r.Write(nicspec.RegCtrl, c.ctrl)
		r.Quiet()
		p := Pauses(r)
		r.Play(c.frame)
		r.Until("the pause has come in", func() bool { return len(p.Ins) == 1 })
		r.Run(2 * nicspec.VisibleCycles)
		r.Transmit(x, r.Sound(w[0], 1), r.Sound(w[0], 2))
		require.Less(r.T, p.Begins[len(p.Begins)-1].Last, p.Ins[0]+quanta*Quantum(r), c.name)
		r.Frames = nil
	}
}
