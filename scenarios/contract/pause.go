package contract

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/inject"
	"nictwin/models/nicspec"
)

var pauseChecks = []check{
	{"pause/values", "F7 G6", calm, pauseValues},
	{"pause/frames that are honoured, and others", "F1 F2 F8", stalled, honoured},
	{"pause/stops of a port", "F3 F4", calm, portStops},
	{"pause/stops of classes", "F3 F4", calm, classStops},
	{"pause/a queue that is enabled in a stop of its class", "F4", calm, enabledInAStop},
	{"pause/more frames wait than any buffer holds", "F4 B4 T9 T10 C3", stalled, manyWait},
	{"pause/frames that are dropped stop nothing", "F2 F4", calm, droppedPauses},
	{"pause/sent when the buffer fills", "F6 R3", calm, pausesSent},
	{"pause/its own frames in a stop", "F5 F6", calm, pausesInAStop},
	{"pause/no longer sent", "F7", calm, pausesEnd},
}

// portCfg sets a port's entry in PortCfg.
func (r *rig) portCfg(f nicspec.PortEntryFields) {
	r.t.Helper()
	r.commit(nicspec.TablePortCfg, r.portOf(0), encode(&f, nicspec.PortEntrySize))
	r.synced()
}

// pauseFrame is a MAC control frame: its opcode, and what follows that.
func pauseFrame(opcode uint16, rest ...uint16) []byte {
	b := make([]byte, nicspec.FrameMin)
	copy(b, []byte{1, 0x80, 0xc2, 0, 0, 1, 2, 3, 4, 5, 6, 7})
	be.PutUint16(b[12:], nicspec.MacControlType)
	be.PutUint16(b[14:], opcode)
	for i, v := range rest {
		be.PutUint16(b[16+2*i:], v)
	}
	return b
}

// classPause is a priority pause: every class of the vector is stopped for the same time.
func classPause(vector uint8, time uint16) []byte {
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

func pauseValues(r *rig) {
	type f = nicspec.PortEntryFields
	for _, c := range []valueCase[f]{
		{"good", func(*f) {}, tblOk},
		{"rx_pause 2", func(e *f) { e.RxPause = 2 }, tblBad},
		{"rx_pause 255", func(e *f) { e.RxPause = 255 }, tblBad},
		{"tx_mode 2", func(e *f) { e.TxMode = 2 }, tblOk},
		{"tx_mode 3", func(e *f) { e.TxMode = 3 }, tblBad},
		{"tx_mode 255", func(e *f) { e.TxMode = 255 }, tblBad},
		{"xon as high as xoff", func(e *f) { e.Xon = e.Xoff }, tblBad},
		{"xon above xoff", func(e *f) { e.Xon = e.Xoff + 1 }, tblBad},
		{"xon one less than xoff", func(e *f) { e.Xon = e.Xoff - 1 }, tblOk},
		{"xoff the whole buffer", func(e *f) { e.Xoff = nicspec.RxBufBytes }, tblOk},
		{"xoff more than the buffer", func(e *f) { e.Xoff = nicspec.RxBufBytes + 1 }, tblBad},
		{"xoff by bit 31", func(e *f) { e.Xoff |= 1 << 31 }, tblBad},
		{"pause_time 63", func(e *f) { e.PauseTime = 63 }, tblBad},
		{"pause_time 64", func(e *f) { e.PauseTime = 64 }, tblOk},
		{"mode None: the rest may be anything", func(e *f) { e.TxMode, e.Xoff, e.Xon, e.PauseTime = 0, 1<<31, 1<<31+5, 1 }, tblOk},
	} {
		e := f{RxPause: 1, RxPfc: 0xa5, TxMode: nicspec.PauseModePause, TxClasses: 0x5a, PauseTime: 1000, Xoff: 30_000, Xon: 10_000}
		c.mod(&e)
		before := r.entry(nicspec.TablePortCfg, 0)
		b := encode(&e, nicspec.PortEntrySize)
		require.Equal(r.t, c.want, r.command(nicspec.TableOpWrite, nicspec.TablePortCfg, 0, b), c.name)
		if c.want == tblOk {
			before = append(b, make([]byte, 4*nicspec.TableWords-len(b))...)
		}
		require.Equal(r.t, before, r.entry(nicspec.TablePortCfg, 0), c.name)
	}
}

// honoured has frames that are pauses and frames that are nearly so: these are frames as any other.
func honoured(r *rig) {
	x := r.openRx(1, 7, nil)
	r.post(x, 100)
	tagged := append(append(append([]byte(nil), pauseFrame(1, 5)[:12]...), 0x81, 0, 0, 1), pauseFrame(1, 5)[12:]...)
	to := func(at int, v byte, f []byte) []byte { f[at] = v; return f }
	long := append(pauseFrame(nicspec.PauseOpcode, 1), make([]byte, 300)...)
	for _, cfg := range []struct{ pause, classes uint8 }{{1, 0xff}, {1, 0}, {0, 4}, {0, 0}} {
		r.portCfg(nicspec.PortEntryFields{RxPause: cfg.pause, RxPfc: cfg.classes})
		r.receiveAll(1)
		for i, c := range []struct {
			frame  []byte
			pauses bool
		}{
			{pauseFrame(nicspec.PauseOpcode, 0), cfg.pause == 1}, {pauseFrame(nicspec.PauseOpcode, 3), cfg.pause == 1}, {long, cfg.pause == 1},
			{classPause(0xff, 2), cfg.classes != 0}, {classPause(0, 0), cfg.classes != 0}, {classPause(8, 1), cfg.classes != 0},
			{to(6, 0x99, pauseFrame(nicspec.PauseOpcode, 1)), cfg.pause == 1},
			{tagged, false}, {pauseFrame(0, 1), false}, {pauseFrame(2, 1), false}, {pauseFrame(0x0100, 1), false}, {pauseFrame(0x0102, 1), false},
			{pauseFrame(0x1001, 1), false}, {to(5, 2, pauseFrame(1, 1)), false}, {to(0, 0, pauseFrame(1, 1)), false}, {to(12, 0x89, pauseFrame(1, 1)), false},
			{to(13, 9, classPause(1, 1)), false},
		} {
			want, first := arrived(c.frame), r.ordinal()
			if c.pauses {
				want.with(port(nicspec.CntRxPause), 1)
			} else {
				want.taken(1)
			}
			r.counted(fmt.Sprintf("frame %d, rx_pause %d, rx_pfc %#x", i, cfg.pause, cfg.classes), want, func() {
				r.play(c.frame)
				if !c.pauses {
					r.delivered(x, first, nicspec.RuleNone)
				}
			})
		}
		r.post(x, 20)
	}
	r.portCfg(nicspec.PortEntryFields{RxPause: 1, RxPfc: 0xff})
	r.dropped("a pause that is too short", nicspec.CntRxDropRunt, pauseFrame(1, 9)[:59])
	r.write(nicspec.RegCtrl, 2)
	r.synced()
	r.dropped("rx_enable 0", nicspec.CntRxDropDisabled, pauseFrame(1, 9), classPause(1, 1))
}

// pauseWatch is when frames that left began, and when frames that came in ended.
type pauseWatch struct {
	begins []boundary.Crossing // frames that left, without their bytes
	ins    []int64             // last beats of frames that came in
}

func (r *rig) pauses() *pauseWatch {
	w := &pauseWatch{}
	r.frames = func(c boundary.Crossing) {
		switch {
		case r.portOf(c.Port) != 0:
		case c.Kind == boundary.FrameIn:
			w.ins = append(w.ins, c.Last)
		default:
			w.begins = append(w.begins, boundary.Crossing{First: c.First, Last: c.Last, Port: c.Frame.Queue})
		}
	}
	return w
}

// quantum is one in cycles.
func (r *rig) quantum() int64 { return int64(512 / r.sizes.EthBits) }

// fetchCycles is more than entries take that are fetched and gathered when a stop has ended.
const fetchCycles = 400

// stopped demands that no frame of a queue began while a stop held that came at a cycle, and that one did soon after: slack is
// what it may take longer than [F4] gives.
func (r *rig) stopped(w *pauseWatch, queue int, at, quanta, slack int64) {
	r.t.Helper()
	end, after := at+quanta*r.quantum(), int64(-1)
	for _, c := range w.begins {
		if c.Port != queue || c.First <= at+nicspec.VisibleCycles {
			continue
		}
		require.GreaterOrEqual(r.t, c.First, end, "frame of queue %d in the stop that came at cycle %d", queue, at)
		if after < 0 {
			after = c.First
		}
	}
	require.GreaterOrEqual(r.t, after, end, "a frame of queue %d after the stop", queue)
	require.LessOrEqual(r.t, after, end+nicspec.VisibleCycles+slack, "the first frame of queue %d after the stop", queue)
}

// busySending posts a ring-full of long frames.
func (r *rig) busySending(x *txRing, w *window) []posted {
	r.t.Helper()
	var all []nicspec.WqeFields
	for i := range x.Size() {
		all = append(all, sendEntry(nil, r.piece(w, 0, 64, pattern(1000, uint64(i)))))
	}
	posts := r.enqueue(x, all...)
	r.tell(&x.ring)
	return posts
}

func portStops(r *rig) {
	x, w := r.txSetup(3, 6)
	r.portCfg(nicspec.PortEntryFields{RxPause: 1})
	for _, c := range []struct {
		frames [][]byte
		quanta int64 // of the stop, from the last of the frames
	}{
		{[][]byte{pauseFrame(1, 700)}, 700}, {[][]byte{pauseFrame(1, 5000)}, 5000}, {[][]byte{pauseFrame(1, 0)}, 0},
		{[][]byte{pauseFrame(1, 60_000), pauseFrame(1, 900)}, 900}, {[][]byte{pauseFrame(1, 60_000), pauseFrame(1, 0)}, 0},
		{[][]byte{pauseFrame(1, 100), pauseFrame(1, 2000)}, 2000},
	} {
		first := x.PI
		posts := r.busySending(x, w[0])
		p := r.pauses()
		r.until("a frame leaves", func() bool { return len(p.begins) > 0 })
		r.play(c.frames...)
		r.until("the pauses are there", func() bool { return len(p.ins) == len(c.frames) })
		at := p.ins[len(p.ins)-1]
		r.ended(x, first, posts)
		slack := int64(0) // its frames wait
		if c.quanta == 0 {
			slack = fetchCycles
		}
		r.stopped(p, 3, at, c.quanta, slack)
		r.frames = nil
	}
	r.quiet()
	r.noFrames()
}

// classStops stops the class of a queue at rest: what is posted then waits, and what is posted to others does not.
func classStops(r *rig) {
	r.portCfg(nicspec.PortEntryFields{RxPfc: 0x24})
	_, w := r.txSetup(9, 2)
	r.txMod = func(f *nicspec.TxqEntryFields) { f.PfcClass = 5 }
	x := r.openTx(1, 3)
	r.txMod = func(f *nicspec.TxqEntryFields) { f.PfcClass = 3 }
	y := r.openTx(2, 3)
	for _, c := range []struct {
		vector  uint8
		quanta  int64
		stopped bool
	}{{0x20, 3000, true}, {0xff, 3000, true}, {0x08, 3000, false}, {0x04, 3000, false}, {0, 3000, false}} {
		r.quiet()
		p := r.pauses()
		r.play(classPause(c.vector, uint16(c.quanta)))
		r.until("the pause is there", func() bool { return len(p.ins) == 1 })
		r.run(2 * nicspec.VisibleCycles)
		at, firstX, firstY := p.ins[0], x.PI, y.PI
		posts := r.enqueue(y, r.sound(w[1], 1), r.sound(w[1], 2))
		r.tell(&y.ring)
		r.ended(y, firstY, posts)
		require.Less(r.t, p.begins[len(p.begins)-1].Last, at+c.quanta, "another class goes on")
		posts = r.enqueue(x, r.sound(w[0], 1), r.sound(w[0], 2))
		r.tell(&x.ring)
		r.ended(x, firstX, posts)
		if c.stopped {
			r.stopped(p, 1, at, c.quanta, fetchCycles)
		} else {
			require.Less(r.t, p.begins[len(p.begins)-1].Last, at+c.quanta, "vector %#x stops no class of the queue", c.vector)
		}
		r.run(int(c.quanta))
		r.frames = nil
	}
	r.noFrames()
}

// droppedPauses has pause frames that are too short, or come while rx_enable is 0: what is posted then leaves at once.
func droppedPauses(r *rig) {
	const quanta = 20_000
	x, w := r.txSetup(3, 6)
	r.portCfg(nicspec.PortEntryFields{RxPause: 1, RxPfc: 0xff})
	for _, c := range []struct {
		name  string
		ctrl  uint32
		frame []byte
	}{
		{"a pause that is too short", 3, pauseFrame(nicspec.PauseOpcode, quanta)[:nicspec.FrameMin-1]},
		{"a priority pause that is too short", 3, classPause(0xff, quanta)[:nicspec.FrameMin-1]},
		{"a pause with rx_enable 0", 2, pauseFrame(nicspec.PauseOpcode, quanta)},
		{"a priority pause with rx_enable 0", 2, classPause(0xff, quanta)},
	} {
		r.write(nicspec.RegCtrl, c.ctrl)
		r.quiet()
		p := r.pauses()
		r.play(c.frame)
		r.until("the pause is there", func() bool { return len(p.ins) == 1 })
		r.run(2 * nicspec.VisibleCycles)
		r.transmit(x, r.sound(w[0], 1), r.sound(w[0], 2))
		require.Less(r.t, p.begins[len(p.begins)-1].Last, p.ins[0]+quanta*r.quantum(), c.name)
		r.frames = nil
	}
}

// flood has frames wait in the receive buffer for a descriptor that comes late, and plays n of 1,024 B.
func (r *rig) flood(x *rxRing, n int, delay int) {
	r.t.Helper()
	r.b.Faults.Clear()
	require.NoError(r.t, r.b.Faults.Add(inject.Fault{From: x.At(x.PI), To: x.At(x.PI) + 16, Delay: r.b.Cycles(delay), Count: 1}))
	r.post(x, n)
	for i := range n {
		r.play(blob(1024, uint64(i)))
	}
}

// ownPause is the pause frame that [F6] gives for a time.
func (r *rig) ownPause(f *nicspec.PortEntryFields, mac []byte, time uint16) []byte {
	b := pauseFrame(nicspec.PauseOpcode, time)
	if f.TxMode == nicspec.PauseModePriority {
		b = classPause(0, 0)
		be.PutUint16(b[16:], uint16(f.TxClasses))
		for i := range 8 {
			v := uint16(0)
			if f.TxClasses>>i&1 != 0 {
				v = time
			}
			be.PutUint16(b[18+2*i:], v)
		}
	}
	copy(b[6:], mac)
	return b
}

// setMac writes PORT_MAC of the port.
func (r *rig) setMac(mac []byte) {
	r.t.Helper()
	p := r.portOf(0)
	r.write(nicspec.RegPortMac(2*p), uint32(mac[0])|uint32(mac[1])<<8|uint32(mac[2])<<16|uint32(mac[3])<<24)
	r.write(nicspec.RegPortMac(2*p+1), uint32(mac[4])|uint32(mac[5])<<8|0xbeef<<16) // what has no effect
	r.synced()
}

func pausesSent(r *rig) {
	mac := []byte{0x02, 0xa1, 0xb2, 0xc3, 0xd4, 0xe5}
	r.setMac(mac)
	x := r.openRx(1, 8, nil)
	r.receiveAll(1)
	for _, mode := range []nicspec.PauseMode{nicspec.PauseModePause, nicspec.PauseModePriority} {
		cfg := nicspec.PortEntryFields{TxMode: mode, TxClasses: 0x92, PauseTime: 1000, Xoff: 8192, Xon: 2048}
		r.portCfg(cfg)
		before, first := r.counters(), r.ordinal()
		p := r.pauses()
		const n = 20
		r.flood(x, n, 4000)
		for i := range n {
			r.delivered(x, first+i, nicspec.RuleNone)
		}
		r.quiet()
		r.frames = nil
		own := 0
		for i, s := range r.out {
			require.Equal(r.t, nicspec.PauseQueue, s.queue)
			time := cfg.PauseTime
			if i == len(r.out)-1 {
				time = 0
			}
			require.Equal(r.t, r.ownPause(&cfg, mac, time), s.data, "pause frame %d of %d", i, len(r.out))
			own++
		}
		require.GreaterOrEqual(r.t, own, 4, "pause frames: one when the buffer fills, more while it stays so, one at the end")
		for i := 1; i < own-1; i++ {
			gap := p.begins[i].First - p.begins[i-1].First
			require.GreaterOrEqual(r.t, gap, 500*r.quantum()-nicspec.VisibleCycles, "cycles between pause frames")
			require.LessOrEqual(r.t, gap, 500*r.quantum()+2*nicspec.VisibleCycles, "cycles between pause frames")
		}
		r.out = nil
		want := steps{port(nicspec.CntRxFrames): n, port(nicspec.CntRxBytes): 1024 * n}.taken(n).with(port(nicspec.CntTxPause), own)
		r.moved("pauses sent", before, want)
	}
}

// pausesInAStop fills the buffer of a port that is stopped itself.
func pausesInAStop(r *rig) {
	x := r.openRx(1, 8, nil)
	r.receiveAll(1)
	r.portCfg(nicspec.PortEntryFields{RxPause: 1, TxMode: nicspec.PauseModePause, PauseTime: 2000, Xoff: 8192, Xon: 2048})
	p := r.pauses()
	r.play(pauseFrame(1, 0xffff))
	r.until("the pause is there", func() bool { return len(p.ins) == 1 })
	first := r.ordinal()
	r.flood(x, 16, 2500)
	for i := range 16 {
		r.delivered(x, first+i, nicspec.RuleNone)
	}
	r.quiet()
	require.GreaterOrEqual(r.t, len(r.out), 2)
	for i, c := range p.begins {
		require.Equal(r.t, nicspec.PauseQueue, c.Port)
		require.Less(r.t, c.Last, p.ins[0]+0xffff*r.quantum(), "pause frame %d", i)
	}
	r.frames, r.out = nil, nil
	r.play(pauseFrame(1, 0))
	r.quiet()
}

// pausesEnd sets tx_mode to 0 while the buffer is full: no frame is sent any more, the one that would end the pause neither.
func pausesEnd(r *rig) {
	x := r.openRx(1, 8, nil)
	r.receiveAll(1)
	r.portCfg(nicspec.PortEntryFields{TxMode: nicspec.PauseModePause, PauseTime: 1000, Xoff: 8192, Xon: 2048})
	first := r.ordinal()
	r.flood(x, 16, 5000)
	r.until("a pause is sent", func() bool { return len(r.out) > 0 })
	r.portCfg(nicspec.PortEntryFields{})
	n := len(r.out)
	for i := range 16 {
		r.delivered(x, first+i, nicspec.RuleNone)
	}
	r.quiet()
	require.Len(r.t, r.out, n)
	r.out = nil
}
