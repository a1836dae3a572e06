package akita

import (
	"fmt"
	"math"
	"time"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/fabric/nicswitch"
	"nictwin/models/fabric/nicswitch/route"
	"nictwin/models/fabric/pcielink"
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// Switch measures the time per TLP, in nanoseconds, over a PCIe link, the switch and another link. `own` is that of our
// parts on simcore.Engine, `theirs` that of Akita's SerialEngine, LimitNumMsgPort and DirectConnection with a component
// that looks up the same route. Both are measured alternately in many slices; the least of each counts.
func Switch() (own, theirs float64, err error) {
	ours, err := ownSwitch()
	if err != nil {
		return 0, 0, err
	}
	akitas, err := akitaSwitch()
	if err != nil {
		return 0, 0, err
	}
	const turns, slice, akitaSlice = 72, 20_000, 1_500
	own, theirs = math.Inf(1), math.Inf(1)
	for range turns {
		o, err := ours(slice)
		if err != nil {
			return 0, 0, err
		}
		a, err := akitas(akitaSlice)
		if err != nil {
			return 0, 0, err
		}
		own, theirs = min(own, o), min(theirs, a)
	}
	return own, theirs, nil
}

// switchBoard is a source, a switch and a sink, each with a clock of 4.5 ns, the time that a 256 B write takes
// on a Gen5 link. On Akita's side the switch is a component that looks up the same route and forwards over stock
// ports and connections.
type switchBoard struct {
	free      []*msg.TLP
	out, end  sim.Port // of source and sink
	in, on    sim.Port // ports of Akita's switch
	stamp     *simcore.Engine
	routes    *route.Table
	sent, got int
	want      int
	err       string
}

const (
	switchPeriod = 4500
	switchPool   = 256 // TLPs in circulation: more than the buffers can hold
	switchBytes  = 256
	switchAddr   = uint64(1)<<56 + 0x1000
)

func newSwitchBoard() (*switchBoard, error) {
	spec := nicswitch.Default()
	h := &switchBoard{}
	var err error
	h.routes, err = route.NewTable(spec.Routes())
	if err != nil {
		return nil, err
	}
	for range switchPool {
		p := new(msg.TLP)
		if err := p.SetMemWrite(tlp.Origin{RequesterID: nicspec.RequesterNic}, switchAddr,
			make([]byte, switchBytes)); err != nil {
			return nil, err
		}
		h.free = append(h.free, p)
	}
	return h, nil
}

func (h *switchBoard) source(now sim.VTimeInSec) bool {
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

func (h *switchBoard) forward(now sim.VTimeInSec) bool {
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

func (h *switchBoard) sink(now sim.VTimeInSec) bool {
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

// run sends n TLPs and returns the wall time per TLP, in nanoseconds.
func (h *switchBoard) run(e sim.Engine, start func(), n int) (float64, error) {
	h.want += n
	begin := time.Now()
	start()
	err := e.Run()
	took := time.Since(begin)
	if h.err == "" && h.got != h.want {
		h.err = fmt.Sprintf("%d of %d TLPs came", h.got, h.want)
	}
	if err == nil && h.err != "" {
		err = fmt.Errorf("akita: measurement: %s", h.err)
	}
	return float64(took.Nanoseconds()) / float64(n), err
}

// side measures n TLPs on nictwin's or Akita's side, and returns the wall time per TLP in nanoseconds.
type side func(n int) (float64, error)

func ownSwitch() (side, error) {
	e := simcore.NewEngine()
	h, err := newSwitchBoard()
	if err != nil {
		return nil, err
	}
	h.stamp = e
	sw, err := nicswitch.Builder{Scheduler: e, Spec: nicswitch.Default()}.Build("Switch")
	if err != nil {
		return nil, err
	}
	comp := func(name string, tick func(sim.VTimeInSec) bool) *simcore.TickingComponent {
		return simcore.NewTickingComponent(name, e, simcore.Freq{PeriodPs: switchPeriod},
			func(simcore.Ps) (bool, error) {
				return tick(e.CurrentTime()), nil
			})
	}
	src, dst := comp("Source", h.source), comp("Sink", h.sink)
	out, end := simcore.NewPort(src, 16, "Source.Out"), simcore.NewPort(dst, 16, "Sink.In")
	h.out, h.end = out, end
	ends := [][2]*simcore.Port{{sw.Port(nicswitch.PortNIC), out}, {sw.Port(nicswitch.PortHost), end}}
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

func akitaSwitch() (side, error) {
	const freq = sim.GHz / 4.5
	e := sim.NewSerialEngine()
	h, err := newSwitchBoard()
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
