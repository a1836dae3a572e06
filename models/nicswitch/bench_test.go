package nicswitch

import (
	"math"
	"testing"
	"time"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/msg"
	"nictwin/models/nicspec"
	"nictwin/models/nicswitch/route"
	"nictwin/models/pcielink"
	"nictwin/models/simcore"
	"nictwin/models/tlp"
)

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

const hopPeriod = 4500

func newHops(t testing.TB) *hops {
	spec := Default()
	h := &hops{}
	var err error
	h.routes, err = route.NewTable(spec.routes())
	require.NoError(t, err)
	for range 256 {
		p := new(msg.TLP)
		require.NoError(t, p.SetMemWrite(tlp.Origin{RequesterID: nicspec.RequesterNic}, hostAddr, make([]byte, 256)))
		h.free = append(h.free, p)
	}
	return h
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
func (h *hops) run(t testing.TB, e sim.Engine, start func(), n int) float64 {
	h.want += n
	begin := time.Now()
	start()
	require.NoError(t, e.Run())
	took := time.Since(begin)
	require.Empty(t, h.err)
	require.Equal(t, h.want, h.got)
	return float64(took.Nanoseconds()) / float64(n)
}

func ownHops(t testing.TB) func(n int) float64 {
	e := simcore.NewEngine()
	h := newHops(t)
	h.stamp = e
	sw, err := Builder{Scheduler: e, Spec: Default()}.Build("Switch")
	require.NoError(t, err)
	comp := func(name string, tick func(sim.VTimeInSec) bool) *simcore.TickingComponent {
		return simcore.NewTickingComponent(name, e, simcore.Freq{PeriodPs: hopPeriod}, func(simcore.Ps) (bool, error) {
			return tick(e.CurrentTime()), nil
		})
	}
	src, dst := comp("Source", h.source), comp("Sink", h.sink)
	out, end := simcore.NewPort(src, 16, "Source.Out"), simcore.NewPort(dst, 16, "Sink.In")
	h.out, h.end = out, end
	for name, pair := range map[string][2]*simcore.Port{"NICLink": {sw.Port(PortNIC), out}, "HostLink": {sw.Port(PortHost), end}} {
		l, err := pcielink.Builder{Scheduler: e, Spec: pcielink.Default(5)}.Build(name)
		require.NoError(t, err)
		require.NoError(t, l.Connect(pair[0], pair[1]))
	}
	return func(n int) float64 { return h.run(t, e, src.TickLater, n) }
}

// akitaTick makes a function an Akita ticker.
type akitaTick func(sim.VTimeInSec) bool

func (f akitaTick) Tick(now sim.VTimeInSec) bool { return f(now) }

func akitaHops(t testing.TB) func(n int) float64 {
	const freq = sim.GHz / 4.5
	e := sim.NewSerialEngine()
	h := newHops(t)
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
	return func(n int) float64 { return h.run(t, e, func() { src.TickLater(e.CurrentTime()) }, n) }
}

// Prints both sides and their ratio, measured turn about in one run: the least of many slices.
func BenchmarkAgainstAkita(b *testing.B) {
	own, akita := ownHops(b), akitaHops(b)
	a, o := math.Inf(1), math.Inf(1)
	for range 9 * 8 {
		o = min(o, own(20_000))
		a = min(a, akita(1_500))
	}
	b.ReportMetric(o, "own-ns")
	b.ReportMetric(a, "akita-ns")
	b.ReportMetric(a/o, "ratio")
	b.ReportMetric(0, "ns/op")
}

// One TLP over link, switch and link.
func BenchmarkLinkSwitchLink(b *testing.B) {
	own := ownHops(b)
	own(1000)
	b.ReportAllocs()
	b.ResetTimer()
	own(b.N)
}
