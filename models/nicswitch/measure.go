package nicswitch

import (
	"fmt"
	"math"
	"time"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/msg"
	"nictwin/models/nicspec"
	"nictwin/models/nicswitch/route"
	"nictwin/models/pcielink"
	"nictwin/models/simcore"
	"nictwin/models/tlp"
)

// MeasureHops measures the time per TLP, in nanoseconds, over a PCIe link, the switch and another link. It compares them, on
// simcore.Engine, with Akita's SerialEngine, LimitNumMsgPort and DirectConnection and a component that looks up the same route:
// turn about in one run, the least of many slices.
func MeasureHops() (own, akita float64, err error) {
	ours, err := ownHops()
	if err != nil {
		return 0, 0, err
	}
	theirs, err := akitaHops()
	if err != nil {
		return 0, 0, err
	}
	const turns, slice, akitaSlice = 72, 20_000, 1_500
	own, akita = math.Inf(1), math.Inf(1)
	for range turns {
		o, err := ours(slice)
		if err != nil {
			return 0, 0, err
		}
		a, err := theirs(akitaSlice)
		if err != nil {
			return 0, 0, err
		}
		own, akita = min(own, o), min(akita, a)
	}
	return own, akita, nil
}

// hops is a source, a switch and a sink, each with a clock of 4.5 ns, at which a 256 B write takes a Gen5 link as long. On
// Akita's side the switch is a component that looks the same route up and forwards over stock ports and connections.
type hops struct {
	free      []*msg.TLP
	out, end  sim.Port // of source and sink
	in, on    sim.Port // of Akita's switch
	stamp     *simcore.Engine
	routes    *route.Table
	sent, got int
	want      int
	err       string
}

const (
	hopPeriod = 4500
	hopPool   = 256 // TLPs in circulation: more than the buffers can hold
	hopBytes  = 256
	hopAddr   = uint64(1)<<56 + 0x1000
)

func newHops() (*hops, error) {
	spec := Default()
	h := &hops{}
	var err error
	h.routes, err = route.NewTable(spec.routes())
	if err != nil {
		return nil, err
	}
	for range hopPool {
		p := new(msg.TLP)
		if err := p.SetMemWrite(tlp.Origin{RequesterID: nicspec.RequesterNic}, hopAddr, make([]byte, hopBytes)); err != nil {
			return nil, err
		}
		h.free = append(h.free, p)
	}
	return h, nil
}

func (h *hops) source(now sim.VTimeInSec) bool {
	n := len(h.free)
	if h.sent >= h.want || n == 0 || !h.out.CanSend() {
		return false
	}
	p := h.free[n-1]
	h.free = h.free[:n-1]
	p.Seq = uint64(h.sent)
	p.Src, p.Dst, p.SendTime = h.out, h.in, now
	if h.stamp != nil {
		p.Depart = h.stamp.Now()
	}
	if h.out.Send(p) != nil {
		h.err = "refused after CanSend"
	}
	h.sent++
	return true
}

func (h *hops) forward(now sim.VTimeInSec) bool {
	if h.in.Peek() == nil || !h.on.CanSend() {
		return false
	}
	p := h.in.Retrieve(now).(*msg.TLP)
	if out, v := h.routes.Route(0, p.Parsed()); v != route.Forward || out != 2 {
		h.err = "not forwarded to the host"
	}
	p.Src, p.Dst, p.SendTime = h.on, h.end, now
	if h.on.Send(p) != nil {
		h.err = "refused after CanSend"
	}
	return true
}

func (h *hops) sink(now sim.VTimeInSec) bool {
	m := h.end.Retrieve(now)
	if m == nil {
		return false
	}
	p := m.(*msg.TLP)
	if p.Seq != uint64(h.got) {
		h.err = "out of order"
	}
	h.got++
	h.free = append(h.free, p)
	return true
}

// run sends n TLPs and returns the time of each, in nanoseconds.
func (h *hops) run(e sim.Engine, start func(), n int) (float64, error) {
	h.want += n
	begin := time.Now()
	start()
	err := e.Run()
	took := time.Since(begin)
	if h.err == "" && h.got != h.want {
		h.err = fmt.Sprintf("%d of %d TLPs came", h.got, h.want)
	}
	if err == nil && h.err != "" {
		err = fmt.Errorf("nicswitch: measurement: %s", h.err)
	}
	return float64(took.Nanoseconds()) / float64(n), err
}

// side measures n TLPs.
type side func(n int) (float64, error)

func ownHops() (side, error) {
	e := simcore.NewEngine()
	h, err := newHops()
	if err != nil {
		return nil, err
	}
	h.stamp = e
	sw, err := Builder{Scheduler: e, Spec: Default()}.Build("Switch")
	if err != nil {
		return nil, err
	}
	comp := func(name string, tick func(sim.VTimeInSec) bool) *simcore.TickingComponent {
		return simcore.NewTickingComponent(name, e, simcore.Freq{PeriodPs: hopPeriod}, func(simcore.Ps) (bool, error) {
			return tick(e.CurrentTime()), nil
		})
	}
	src, dst := comp("Source", h.source), comp("Sink", h.sink)
	out, end := simcore.NewPort(src, 16, "Source.Out"), simcore.NewPort(dst, 16, "Sink.In")
	h.out, h.end = out, end
	ends := [][2]*simcore.Port{{sw.Port(PortNIC), out}, {sw.Port(PortHost), end}}
	for i, name := range []string{"NICLink", "HostLink"} {
		l, err := pcielink.Builder{Scheduler: e, Spec: pcielink.Default(5)}.Build(name)
		if err == nil {
			err = l.Connect(ends[i][0], ends[i][1])
		}
		if err != nil {
			return nil, err
		}
	}
	return func(n int) (float64, error) { return h.run(e, src.TickLater, n) }, nil
}

// akitaTick makes a function an Akita ticker.
type akitaTick func(sim.VTimeInSec) bool

func (f akitaTick) Tick(now sim.VTimeInSec) bool { return f(now) }

func akitaHops() (side, error) {
	const freq = sim.GHz / 4.5
	e := sim.NewSerialEngine()
	h, err := newHops()
	if err != nil {
		return nil, err
	}
	src := sim.NewTickingComponent("Source", e, freq, akitaTick(h.source))
	mid := sim.NewTickingComponent("Switch", e, freq, akitaTick(h.forward))
	dst := sim.NewTickingComponent("Sink", e, freq, akitaTick(h.sink))
	h.out, h.in = sim.NewLimitNumMsgPort(src, 16, "Source.Out"), sim.NewLimitNumMsgPort(mid, 16, "Switch.In")
	h.on, h.end = sim.NewLimitNumMsgPort(mid, 16, "Switch.Out"), sim.NewLimitNumMsgPort(dst, 16, "Sink.In")
	for _, pair := range [][2]sim.Port{{h.out, h.in}, {h.on, h.end}} {
		c := sim.NewDirectConnection("Connection", e, freq)
		c.PlugIn(pair[0], 16)
		c.PlugIn(pair[1], 16)
	}
	return func(n int) (float64, error) { return h.run(e, func() { src.TickLater(e.CurrentTime()) }, n) }, nil
}
