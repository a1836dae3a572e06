package nic

import (
	"fmt"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// rig is a NIC between a memory endpoint and one test peer per Ethernet port.
type rig struct {
	t      testing.TB
	eng    *simcore.Engine
	nic    *Comp
	host   *host
	events uint64 // Events of receive queues that the NIC has written
	peers  []*peer
	mon    *tlp.Monitor
	frames msg.Frames
	tlps   msg.TLPs
	seen   [boundary.NumKinds]int
	order  int64 // cycle of the last beat of the latest crossing
	trace  func(boundary.Crossing)
}

type rigOpt struct {
	spec    Spec
	latency simcore.Ps // latency of the memory
	policy  tlp.CplPolicy
	seed    uint64
	shuffle bool // completions of different reads come in random order
	link    simcore.LinkSpec
	quiet   bool // do not use the TLP monitor
	bare    bool // no fault injection and no gate in the PCIe link
	stalls  boundary.Stalls
}

func defaultRig() rigOpt {
	return rigOpt{spec: DefaultSpec(), latency: 200 * simcore.Nanosecond,
		link: simcore.LinkSpec{Latency: 10 * simcore.Nanosecond}}
}

func newRig(t testing.TB, o rigOpt) *rig {
	t.Helper()
	r := &rig{t: t, eng: simcore.NewEngine()}
	var err error
	b := Builder{Scheduler: r.eng, Spec: o.spec, Frames: &r.frames, TLPs: &r.tlps}
	if o.stalls != nil {
		b.Stalls = o.stalls
	}
	r.nic, err = b.Build("NIC")
	require.NoError(t, err)
	r.host = newHost(r, o)
	pcie := o.link
	if pcie.Credits == 0 {
		pcie.Credits = 64
	}
	_, err = simcore.Connect("PCIe", r.eng, pcie, r.nic.PCIe(), r.host.Port())
	require.NoError(t, err)
	for p := range o.spec.Ports {
		e := &peer{ComponentBase: sim.NewComponentBase(fmt.Sprintf("Peer[%d]", p)), rig: r}
		e.port = simcore.NewPort(e, 16, fmt.Sprintf("Peer[%d].Eth", p))
		_, err = simcore.Connect(fmt.Sprintf("Wire[%d]", p), r.eng, o.link, r.nic.Eth(p), e.port)
		require.NoError(t, err)
		r.peers = append(r.peers, e)
	}
	cfg := tlp.DefaultMonitorConfig()
	cfg.MPS, cfg.MRRS = 256, 512
	cfg.DeviceID, cfg.CheckDeviceID = nicspec.RequesterNic, true
	r.mon, err = tlp.NewMonitor(cfg)
	require.NoError(t, err)
	r.nic.Observe(func(x boundary.Crossing) { r.observe(x, o.quiet) })
	return r
}

func (r *rig) observe(x boundary.Crossing, quiet bool) {
	r.seen[x.Kind]++
	if x.Last < r.order || x.First > x.Last {
		r.t.Errorf("crossing out of order: %v after cycle %d", x, r.order)
	}
	r.order = x.Last
	if r.trace != nil {
		r.trace(x)
	}
	if !x.Kind.IsTLP() || quiet {
		return
	}
	dir := tlp.FromDevice
	if x.Kind == boundary.TLPIn {
		dir = tlp.ToDevice
	}
	for _, v := range r.mon.Check(dir, uint64(x.Last), x.TLP) {
		if dir == tlp.FromDevice {
			r.t.Errorf("%v", v)
		}
	}
}

// run runs the simulation until no event is left.
func (r *rig) run() {
	r.t.Helper()
	require.NoError(r.t, r.eng.Run())
}

// idle runs the simulation until no event is left, and checks that the NIC is idle and its counters
// agree [C1].
func (r *rig) idle() {
	r.t.Helper()
	r.run()
	require.False(r.t, r.nic.Busy(), "the device is busy with nothing left to happen")
	require.Zero(r.t, r.nic.reader.Outstanding())
	c := &r.nic.Regs().Counters
	delivered := uint64(0)
	for p := range r.nic.spec.Ports {
		d := c.Port(nicspec.CntRxDelivered, p)
		delivered += d
		require.Equal(r.t, c.Port(nicspec.CntRxFrames, p), d+c.Dropped(p), "port %d: frames in = delivered + dropped",
			p)
	}
	require.Equal(r.t, delivered, c.Dev(nicspec.CntRxCqe)-r.events, "delivered = entries - events")
}

// host is the endpoint, which records the NIC's writes if keep is set.
type host struct {
	*nictest.Endpoint
	rig    *rig
	writes []write // the NIC's writes, if keep is set
	keep   bool
}

type write struct {
	addr uint64
	data []byte
}

func newHost(r *rig, o rigOpt) *host {
	s := nictest.EndpointSpec{Latency: o.latency, Split: o.policy, Seed: o.seed, Bare: o.bare}
	if o.shuffle {
		s.Jitter = o.latency
	}
	h := &host{rig: r, Endpoint: nictest.NewEndpoint(r.t, r.eng, &r.tlps, s)}
	h.Wait = func(func() bool) { r.run() }
	h.Wrote = func(addr uint64, b []byte) {
		if addr >= nictest.RxCq(0) && addr < nictest.RxCq(256) && nicspec.RxCqe(b).Type() == nicspec.CqeTypeEvent {
			r.events++
		}
		if h.keep {
			h.writes = append(h.writes, write{addr, append([]byte(nil), b...)})
		}
	}
	return h
}

// peer is the other end of an Ethernet port.
type peer struct {
	*sim.ComponentBase
	rig  *rig
	port *simcore.Port
	out  fifo.Queue[*msg.Frame]
	got  []gotFrame
	n    int
	drop bool // counts the frames received, but does not keep them
	hold bool // receives nothing: the link backs up
}

type gotFrame struct {
	queue int
	data  []byte
}

func (p *peer) NotifyRecv(now sim.VTimeInSec, _ sim.Port) {
	for !p.hold && p.port.Len() > 0 {
		f := p.port.Retrieve(now).(*msg.Frame)
		p.n++
		if !p.drop {
			p.got = append(p.got, gotFrame{f.Queue, append([]byte(nil), f.Data...)})
		}
		p.rig.frames.Put(f)
	}
}

func (p *peer) Handle(sim.Event) error                  { return nil }
func (p *peer) NotifyPortFree(sim.VTimeInSec, sim.Port) { p.flush() }

func (p *peer) flush() {
	for p.out.Len() > 0 && p.port.CanSend() {
		if err := p.port.SendAt(p.out.Pop(), p.rig.eng.Now()); err != nil {
			panic("refused")
		}
	}
}

func (p *peer) send(data []byte) {
	p.out.Push(p.rig.frames.Copy(data))
	p.flush()
}

// plainRig returns the options of a NIC without optional parts.
func plainRig() rigOpt {
	o := defaultRig()
	o.spec.Parts = 0
	return o
}
