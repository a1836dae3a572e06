package akita

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/sim/simcore"
)

const (
	hopPool    = 128 // messages in circulation: more than the buffers can hold
	hopBytes   = 272 // a 16 B header and a 256 B payload
	hopBuffer  = 16
	hopLatency = simcore.DefaultPeriodPs
)

// hopMsg stands for a TLP: a header and a slice of data.
type hopMsg struct {
	simcore.Msg
	hdr  [16]byte
	data []byte
	seq  uint64
}

// hopBoard is a source, a forwarder and a sink, each a ticking component. They use Akita's interfaces only, so
// the same code runs on nictwin's engine and on Akita's.
type hopBoard struct {
	stamp            *simcore.Engine // sets the departure time of messages; nil on Akita's side
	free             []*hopMsg
	sent, got        int
	watch            stopwatch
	done             bool
	out, in, on, end sim.Port // source -> (in, on) of the forwarder -> sink
	err              error
}

func newHopBoard(slice int) *hopBoard {
	b := &hopBoard{watch: newStopwatch(slice)}
	payload := make([]byte, hopBytes-16)
	for range hopPool {
		b.free = append(b.free, &hopMsg{data: payload})
	}
	return b
}

func (b *hopBoard) source(now sim.VTimeInSec) bool {
	n := len(b.free)
	if b.done || n == 0 || !b.out.CanSend() {
		return false
	}
	m := b.free[n-1]
	b.free = b.free[:n-1]
	m.seq = uint64(b.sent)
	m.hdr[0] = byte(b.sent)
	m.TrafficBytes = hopBytes
	b.send(m, b.out, b.in, now)
	b.sent++
	return true
}

func (b *hopBoard) forward(now sim.VTimeInSec) bool {
	if b.in.Peek() == nil || !b.on.CanSend() {
		return false
	}
	b.send(b.in.Retrieve(now).(*hopMsg), b.on, b.end, now)
	return true
}

func (b *hopBoard) send(m *hopMsg, from, to sim.Port, now sim.VTimeInSec) {
	m.Src, m.Dst, m.SendTime = from, to, now
	if b.stamp != nil {
		m.Depart = b.stamp.Now()
	}
	if from.Send(m) != nil {
		b.err = fmt.Errorf("message %d was refused after CanSend", m.seq)
	}
}

func (b *hopBoard) sink(now sim.VTimeInSec) bool {
	msg := b.end.Retrieve(now)
	if msg == nil {
		return false
	}
	m := msg.(*hopMsg)
	if m.seq != uint64(b.got) || m.hdr[0] != byte(b.got) {
		b.err = fmt.Errorf("message %d came as number %d", m.seq, b.got)
	}
	b.got++
	if !b.done {
		b.done = !b.watch.unit()
	}
	b.free = append(b.free, m)
	return true
}

// run returns the time per message and checks that all arrived.
func (b *hopBoard) run(e sim.Engine) float64 {
	ns := b.watch.run(e)
	if b.err == nil && b.got != b.sent {
		b.err = fmt.Errorf("%d of %d messages came", b.got, b.sent)
	}
	if b.err != nil {
		panic(fmt.Sprintf("akita: measurement: %v", b.err))
	}
	return ns
}

var hopRate = simcore.PerCycle(512, simcore.Freq{})

func ownHops(slice int) float64 {
	e := simcore.NewEngine()
	b := newHopBoard(slice)
	b.stamp = e
	comp := func(name string, tick func(sim.VTimeInSec) bool) *simcore.TickingComponent {
		return simcore.NewTickingComponent(name, e, simcore.Freq{}, func(simcore.Ps) (bool, error) {
			return tick(e.CurrentTime()), nil
		})
	}
	src, mid, dst := comp("Source", b.source), comp("Forwarder", b.forward), comp("Sink", b.sink)
	out, in := simcore.NewPort(src, hopBuffer, "Source.Out"), simcore.NewPort(mid, hopBuffer, "Forwarder.In")
	on, end := simcore.NewPort(mid, hopBuffer, "Forwarder.Out"), simcore.NewPort(dst, hopBuffer, "Sink.In")
	b.out, b.in, b.on, b.end = out, in, on, end
	spec := simcore.LinkSpec{Latency: hopLatency, Rate: hopRate}
	for _, pair := range [][2]*simcore.Port{{out, in}, {on, end}} {
		if _, err := simcore.Connect("Link", e, spec, pair[0], pair[1]); err != nil {
			panic(err)
		}
	}
	src.TickLater()
	return b.run(e)
}

// akitaTick adapts a function to Akita's Ticker interface.
type akitaTick func(sim.VTimeInSec) bool

func (f akitaTick) Tick(now sim.VTimeInSec) bool { return f(now) }

func akitaHops(slice int) float64 {
	const freq = 400 * sim.MHz
	e := sim.NewSerialEngine()
	b := newHopBoard(slice)
	src := sim.NewTickingComponent("Source", e, freq, akitaTick(b.source))
	mid := sim.NewTickingComponent("Forwarder", e, freq, akitaTick(b.forward))
	dst := sim.NewTickingComponent("Sink", e, freq, akitaTick(b.sink))
	b.out = sim.NewLimitNumMsgPort(src, hopBuffer, "Source.Out")
	b.in = sim.NewLimitNumMsgPort(mid, hopBuffer, "Forwarder.In")
	b.on = sim.NewLimitNumMsgPort(mid, hopBuffer, "Forwarder.Out")
	b.end = sim.NewLimitNumMsgPort(dst, hopBuffer, "Sink.In")
	for _, pair := range [][2]sim.Port{{b.out, b.in}, {b.on, b.end}} {
		c := sim.NewDirectConnection("Connection", e, freq)
		c.PlugIn(pair[0], hopBuffer)
		c.PlugIn(pair[1], hopBuffer)
	}
	src.TickLater(0)
	return b.run(e)
}
