package rtlbridge

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/manifest"
)

// requester sends TLPs as fast as the link accepts them and checks those that come back.
type requester struct {
	*sim.ComponentBase
	port      *simcore.Port
	s         simcore.Scheduler
	pool      msg.TLPs
	sent, got int
	total     int
	refused   int
	times     []simcore.Ps // times of all sends and arrivals
	bad       error
}

// request returns TLP i: a write of varying length, or a read, which has no data.
func (r *requester) request(i int) *msg.TLP {
	p, addr := r.pool.Get(), uint64(i)<<12|uint64(i%64)
	var err error
	if i%3 == 0 {
		err = p.SetMemRead(tlp.Origin{RequesterID: 0x100}, uint8(i), addr, 64)
	} else {
		err = p.SetMemWrite(tlp.Origin{RequesterID: 0x100}, addr, frame(1+(i*37)%400, i))
	}
	if err != nil {
		r.bad = err
	}
	return p
}

func (r *requester) pump() {
	for r.sent < r.total {
		p := r.request(r.sent)
		p.Depart = simcore.Now(r.s)
		if r.port.Send(p) != nil {
			r.pool.Put(p)
			r.refused++
			return
		}
		r.times = append(r.times, p.Depart)
		r.sent++
	}
}

func (r *requester) Handle(sim.Event) error                  { r.pump(); return r.bad }
func (r *requester) NotifyPortFree(sim.VTimeInSec, sim.Port) { r.pump() }
func (r *requester) NotifyRecv(now sim.VTimeInSec, p sim.Port) {
	for m := p.Retrieve(now); m != nil; m = p.Retrieve(now) {
		got, want := m.(*msg.TLP), r.request(r.got)
		if got.Hdr != want.Hdr || string(got.Data) != string(want.Data) {
			r.bad = fmt.Errorf("TLP %d came back as %v, wanted %v", r.got, got, want)
		}
		r.times = append(r.times, got.Arrive)
		r.got++
		r.pool.Put(got)
		r.pool.Put(want)
	}
}

// TestBackpressure checks that a device that is held back also holds its requester back, by the link's
// credits, and that results are the same for every quantum and mode.
func TestBackpressure(t *testing.T) {
	m, err := manifest.Load(filepath.Join(filepath.Dir(fifoManifest), "tlp.yaml"))
	require.NoError(t, err)
	d, err := build.Build(m, build.Options{Variant: build.VariantDebug, Log: os.Stderr})
	require.NoError(t, err)
	var digest uint64
	var times []simcore.Ps
	for i, x := range []CompSpec{{Mode: Serial, Quantum: 1}, {Mode: Serial, Quantum: 120},
		{Mode: Pipelined, Quantum: 17}, {Mode: Pipelined, Quantum: 60}} {
		c := launch(t, d, LaunchOptions{})
		e := simcore.NewEngine()
		r := &requester{ComponentBase: sim.NewComponentBase("Host"), s: e, total: 150}
		r.port = simcore.NewPort(r, 256, "Host.PCIe")
		b := TLPBinding("PCIe", "in", "out", &r.pool, true)
		x.InLatency, x.OutLatency, x.Digest, x.MaxCycles = 150_000, 150_000, true, 1_000_000
		k, err := NewComp("DUT", e, c, x, []Binding{b})
		require.NoError(t, err)
		_, err = simcore.Connect("Link", e, simcore.LinkSpec{Latency: 150_000, Rate: simcore.Gbps(256), Credits: 3,
			ReverseCredits: 2, CreditLatency: 150_000}, r.port, k.Port(0))
		require.NoError(t, err)
		k.Done = func() bool { return r.got == r.total || r.bad != nil }
		s := c.NewStart(9)
		s.Streams[1].StallPercent, s.Streams[1].BurstLog2 = 60, 4
		require.NoError(t, k.Begin(s))
		e.Schedule(&simcore.Event{H: r})
		require.NoError(t, e.Run())
		require.NoError(t, r.bad)
		require.Equal(t, r.total, r.got)
		require.Greater(t, r.refused, 100, "the link's credits never ran out")
		require.Zero(t, r.pool.Live())
		if i == 0 {
			digest, times = k.Digest(), r.times
		}
		require.Equal(t, digest, k.Digest(), "%v, quantum %d", x.Mode, x.Quantum)
		require.ElementsMatch(t, times, r.times)
	}
}
