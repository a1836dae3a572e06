package golden

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// calmPauses records a run in which both ports receive pause frames and send them, port 0 whole-port pauses and
// port 1 priority pauses.
func calmPauses(t testing.TB) (Config, []boundary.Crossing) {
	t.Helper()
	o := smallRig()
	o.spec.Ports, o.spec.Parts = 2, nicspec.PartPause
	r := newRig(t, o)
	m := r.mem
	m.Write32(nicspec.RegDevctl, 1|2<<4)
	m.Write32(nicspec.RegCtrl, 3)
	m.Write32(nicspec.RegRxDefault, toQueue0)
	m.rule(1, dmacRule(1, nicspec.ActionDrop, 0))
	for i, w := range []uint32{0x04030201, 0x0605, 0x14131211, 0x1615} {
		m.Write32(nicspec.RegPortMac(i), w)
	}
	for p := range 2 {
		m.portCfg(p, nicspec.PortEntryFields{RxPause: 1, RxPfc: 0x0f, TxMode: nicspec.PauseMode(1 + p), TxClasses: 0x41,
			PauseTime: 1200,
			Xoff:      4000, Xon: 1000})
	}
	m.readable(pattern(keySpan, 1))
	m.OpenRx(0, 7, nil)
	for q := range 2 {
		m.OpenTx(q, 5, func(f *nicspec.TxqEntryFields) { f.PfcClass = uint8(q) })
	}
	r.step(simcore.Microsecond)
	for p := range 2 { // a delayed read of descriptors lets the buffer fill
		m.Strike(inject.Fault{From: m.Rx[0].Base + 16*uint64(m.Rx[0].PI), Delay: 6 * simcore.Microsecond})
		m.post(0, 32)
		r.step(simcore.Microsecond)
		for i := range 30 {
			r.peers[p].send(pattern(300+i, uint64(i)))
		}
		r.peers[p].send(destined(1, 60))
		r.settle()
	}
	send := func(q, port, n int) {
		for i := range n {
			w := entryAt(i, 300)
			w.Port = uint8(port)
			m.push(q, w)
		}
		m.RingTx(q)
	}
	for p := range 2 {
		r.peers[p].send(pauseFrame(800))
		send(0, p, 4)
		r.step(4 * simcore.Microsecond)
		r.peers[p].send(pfcFrame(2, 800))
		r.step(simcore.Microsecond)
		send(1, p, 4)
		r.step(200 * simcore.Nanosecond)
		send(0, p, 4)
		r.settle()
		r.peers[p].send(pauseFrame(60000))
		r.step(simcore.Microsecond)
		r.peers[p].send(pauseFrame(0))
		r.step(simcore.Microsecond)
		send(1, p, 2)
		r.settle()
	}
	m.readCounters()
	cfg := DefaultConfig(o.spec.Build)
	cfg.ForbidNoDesc, cfg.ForbidOverflow = true, true
	return cfg, r.tape
}

// paused picks pause frames that left a port: those that end a pause, or else the others.
func paused(port int, end bool) pick {
	return func(x *boundary.Crossing) bool {
		if x.Kind != boundary.FrameOut || x.Frame.Queue != nicspec.PauseQueue || x.Port != port {
			return false
		}
		return (binary.BigEndian.Uint16(x.Frame.Data[16+2*port:]) == 0) == end
	}
}

// cameIn picks pause frames that a port received.
func cameIn(port int, opcode byte) pick {
	return func(x *boundary.Crossing) bool {
		return x.Kind == boundary.FrameIn && x.Port == port && x.Frame.Data[0] == 1 && x.Frame.Data[12] == 0x88 &&
			x.Frame.Data[14] == opcode
	}
}

// without removes every picked crossing.
func (p *tape) without(is pick) {
	for i := len(p.s) - 1; i >= 0; i-- {
		if is(&p.s[i]) {
			p.drop(i)
		}
	}
}

var pauseSabotages = []sabotage{
	{"no pause frame", func(p *tape) { p.without(paused(0, false)); p.without(paused(0, true)) }, "port 0", "F6",
		"frame"},
	{"no priority pause", func(p *tape) { p.without(paused(1, false)); p.without(paused(1, true)) }, "port 1", "F6",
		"frame"},
	{"not sent again", func(p *tape) {
		first := p.find(0, paused(0, false))
		keep := p.s[first].Frame
		p.without(func(x *boundary.Crossing) bool { return paused(0, false)(x) && x.Frame != keep })
	}, "port 0", "F6", "frame"},
	{"no end", func(p *tape) { p.without(paused(0, true)) }, "port 0", "F6", "frame"},
	{"end too early", func(p *tape) { binary.BigEndian.PutUint16(p.get(0, paused(0, false)).Frame.Data[16:], 0) },
		"port 0", "F6", "pause.time"},
	{"end while much is held",
		func(p *tape) { binary.BigEndian.PutUint16(p.get(2, paused(0, false)).Frame.Data[16:], 0) }, "port 0", "F6",
		"pause.time"},
	{"pause while little is held", func(p *tape) { p.move(p.find(0, paused(0, false)), p.find(0, frameIn)) }, "port 0",
		"F6", "frame"},
	{"sent again too soon", func(p *tape) { i := p.find(1, paused(0, false)); p.insert(i+1, clone(p.s[i])) }, "port 0",
		"F6", "pause.time"},
	{"ended twice", func(p *tape) { i := p.find(0, paused(0, true)); p.insert(i+1, clone(p.s[i])) }, "port 0", "F6",
		"pause.time"},
	{"before any is asked for", func(p *tape) { p.move(p.find(0, paused(0, false)), 0) }, "port 0", "F7", "frame"},
	{"pause time", func(p *tape) { p.get(1, paused(0, false)).Frame.Data[17]++ }, "port 0", "F6", "pause.time"},
	{"pause opcode", func(p *tape) { p.get(1, paused(0, false)).Frame.Data[14] = 1 }, "port 0", "F6", "pause.opcode"},
	{"pause source", func(p *tape) { p.get(1, paused(0, false)).Frame.Data[6] = 0 }, "port 0", "F6", "eth.src"},
	{"priority pause source", func(p *tape) { p.get(1, paused(1, false)).Frame.Data[11] = 0 }, "port 1", "F6",
		"eth.src"},
	{"pause destination", func(p *tape) { p.get(1, paused(0, false)).Frame.Data[5] = 2 }, "port 0", "F6", "eth.dst"},
	{"pause padding", func(p *tape) { p.get(1, paused(0, false)).Frame.Data[59] = 2 }, "port 0", "F6", "padding"},
	{"pause length", func(p *tape) { f := p.get(1, paused(0, false)).Frame; f.Data = append(f.Data, 0) }, "port 0",
		"F6", "frame length"},
	{"class not asked for", func(p *tape) { p.get(1, paused(1, false)).Frame.Data[17] |= 2 }, "port 1", "F6",
		"pause.time"},
	{"class time", func(p *tape) { p.get(1, paused(1, false)).Frame.Data[18+2*6] ^= 1 }, "port 1", "F6",
		"pause.class_times"},
	{"port not stopped", func(p *tape) { binary.BigEndian.PutUint16(p.get(0, cameIn(0, 0)).Frame.Data[16:], 3000) },
		"txq 0", "F4", "frame"},
	{"class not stopped", func(p *tape) { binary.BigEndian.PutUint16(p.get(0, cameIn(1, 1)).Frame.Data[18+2:], 3000) },
		"txq 1", "F4", "frame"},
	{"other class not stopped", func(p *tape) { p.get(0, cameIn(1, 1)).Frame.Data[17] |= 1 }, "txq 0", "F4", "frame"},
	{"end of a stop that is none",
		func(p *tape) { binary.BigEndian.PutUint16(p.get(2, cameIn(0, 0)).Frame.Data[16:], 9000) }, "txq 1", "F4",
		"frame"},
	{"not a pause frame", func(p *tape) { p.get(0, cameIn(0, 0)).Frame.Data[15] = 3 }, "rxq 0", "R10", "frame"},
	counter("RX_PAUSE[0]", nicspec.CntRxPause.Index(0)),
	counter("TX_PAUSE[1]", nicspec.CntTxPause.Index(1)),
}

func TestPauseSabotageIsCaught(t *testing.T) {
	cfg, clean := calmPauses(t)
	sabotagesAreCaught(t, cfg, clean, pauseSabotages)
}

// A frame that was offered before a stop took effect, and then held back, may leave during the stop.
func TestFrameHeldBackBeforeAStop(t *testing.T) {
	cfg, clean := calmPauses(t)
	p := newTape(t, clean)
	binary.BigEndian.PutUint16(p.get(2, cameIn(0, 0)).Frame.Data[16:], 9000)
	began := p.find(0, func(x *boundary.Crossing) bool {
		return x.Kind == boundary.FrameOut && x.First > p.get(2, cameIn(0, 0)).Last
	})
	for i := len(p.s) - 1; i > began; i-- {
		if frameOut(1)(&p.s[i]) && p.s[i].Port == 0 {
			p.drop(i) // keep the first frame only: one frame at most can have been offered before the stop
		}
	}
	first := p.s[began].First
	stop := p.get(1, cameIn(0, 0)).Last + nicspec.VisibleCycles // the previous pause frame has stopped the port already
	for _, c := range []struct {
		from int64 // cycle in which the frame is first offered
		ok   bool
	}{{first, false}, {stop + 1, false}, {stop, true}} {
		got := judgeHeld(t, cfg, p.s,
			[]boundary.Held{{Kind: boundary.FrameOut, First: c.from, Last: first - 1}}[:oneIf(c.from < first)])
		require.Equal(t, c.ok, got.List[0].Rule != "F4", "offered in cycle %d, stopped from cycle %d on: %v", c.from,
			stop, got.List[0])
	}
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A device must not fetch the entries of a class that is stopped on every port [F4].
func TestFetchWhileStopped(t *testing.T) {
	o := defaultRig()
	o.spec.Parts = nicspec.PartPause
	r := newRig(t, o)
	m := r.mem
	m.Write32(nicspec.RegCtrl, 3)
	m.readable(pattern(keySpan, 1))
	m.portCfg(0, nicspec.PortEntryFields{RxPfc: 2})
	m.OpenTx(1, 5, func(f *nicspec.TxqEntryFields) { f.PfcClass = 1 })
	r.settle()
	r.peers[0].send(pfcFrame(2, 4000))
	r.step(simcore.Microsecond)
	m.push(1, entryAt(0, 300))
	m.RingTx(1)
	m.readCounters()
	cfg := DefaultConfig(o.spec.Build)
	require.True(t, judge(t, cfg, r.tape).Passed())
	p := newTape(t, r.tape)
	binary.BigEndian.PutUint16(p.get(0, cameIn(0, 1)).Frame.Data[18+2:], 60000)
	got := judge(t, cfg, p.s)
	require.Equal(t, Differs, got.Result)
	require.Equal(t, [2]string{"F4", "read"}, [2]string{got.List[0].Rule, got.List[0].Field})
}
