package golden

import (
	"fmt"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/format/ether"
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/nic"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nictest"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// rig runs a Go NIC, with a memory and a driver behind its PCIe port and a peer at each Ethernet port. It records
// all crossings.
type rig struct {
	t     testing.TB
	opt   rigOpt
	eng   *simcore.Engine
	nic   *nic.Comp
	mem   *endpoint
	peers []*peer

	frames msg.Frames
	tlps   msg.TLPs
	tape   []boundary.Crossing // copies of the crossings, if opt.record is set
	held   []boundary.Held     // intervals of back-pressure, if opt.record is set
}

type rigOpt struct {
	spec    nic.Spec
	seed    uint64
	shuffle bool
	record  bool
	policy  tlp.CplPolicy
	see     func(boundary.Crossing)
	stalls  inject.Stalls
}

func defaultRig() rigOpt { return rigOpt{spec: nic.DefaultSpec(), record: true, seed: 1} }

// smallRig returns options for a NIC with few queues and rules, whose counters are read quickly.
func smallRig() rigOpt {
	o := defaultRig()
	o.spec.NumRxq, o.spec.NumTxq, o.spec.NumRules = 8, 8, 16
	return o
}

func newRig(t testing.TB, o rigOpt) *rig {
	t.Helper()
	r := &rig{t: t, opt: o, eng: simcore.NewEngine()}
	var err error
	r.nic, err = nic.Builder{Scheduler: r.eng, Spec: o.spec, Stalls: &o.stalls, Frames: &r.frames,
		TLPs: &r.tlps}.Build("NIC")
	require.NoError(t, err)
	link := simcore.LinkSpec{Latency: 10 * simcore.Nanosecond}
	r.mem = newMemory(r)
	_, err = simcore.Connect("PCIe", r.eng, link, r.nic.PCIe(), r.mem.Port())
	require.NoError(t, err)
	for p := range o.spec.Ports {
		e := &peer{ComponentBase: sim.NewComponentBase(fmt.Sprintf("Peer[%d]", p)), rig: r}
		e.port = simcore.NewPort(e, 64, fmt.Sprintf("Peer[%d].Eth", p))
		_, err = simcore.Connect(fmt.Sprintf("Wire[%d]", p), r.eng, link, r.nic.Eth(p), e.port)
		require.NoError(t, err)
		r.peers = append(r.peers, e)
	}
	r.nic.ObserveHeld(func(x boundary.Held) {
		if o.record {
			r.held = append(r.held, x)
		}
	})
	r.nic.Observe(func(x boundary.Crossing) {
		if o.record {
			r.tape = append(r.tape, clone(x))
		}
		if o.see != nil {
			o.see(x)
		}
	})
	return r
}

// clone returns a copy of a crossing that outlives the observer's call.
func clone(x boundary.Crossing) boundary.Crossing {
	if x.Frame != nil {
		x.Frame = &ether.Frame{Port: x.Frame.Port, Queue: x.Frame.Queue, Data: append([]byte(nil), x.Frame.Data...)}
	}
	if x.TLP != nil {
		x.TLP = &tlp.Packet{Hdr: x.TLP.Hdr, Data: append([]byte(nil), x.TLP.Data...)}
	}
	return x
}

// settle runs the engine until it has no more events.
func (r *rig) settle() {
	r.t.Helper()
	require.NoError(r.t, r.eng.Run())
}

// step runs the engine for a duration.
func (r *rig) step(d simcore.Ps) {
	r.t.Helper()
	require.NoError(r.t, r.eng.RunUntil(r.eng.Now()+d))
}

// judge replays a tape to a referee and returns its report.
func judge(t testing.TB, cfg Config, tape []boundary.Crossing, final ...CounterValue) *Report {
	t.Helper()
	return judgeHeld(t, cfg, tape, nil, final...)
}

// judgeHeld is judge with the intervals in which streams were held back.
func judgeHeld(t testing.TB, cfg Config, tape []boundary.Crossing, held []boundary.Held,
	final ...CounterValue) *Report {
	t.Helper()
	g, err := New(cfg)
	require.NoError(t, err)
	for i := range tape {
		for ; len(held) > 0 && held[0].Last < tape[i].Last; held = held[1:] {
			g.Held(held[0])
		}
		g.Observe(tape[i])
	}
	return g.Finish(final...)
}

// peer is the link partner at an Ethernet port.
type peer struct {
	*sim.ComponentBase
	rig  *rig
	port *simcore.Port
	out  fifo.Queue[*msg.Frame]
	got  int
}

func (p *peer) NotifyRecv(now sim.VTimeInSec, _ sim.Port) {
	for p.port.Len() > 0 {
		p.got++
		p.rig.frames.Put(p.port.Retrieve(now).(*msg.Frame))
	}
}

func (p *peer) Handle(sim.Event) error                  { return nil }
func (p *peer) NotifyPortFree(sim.VTimeInSec, sim.Port) { p.flush() }

func (p *peer) send(data []byte) {
	p.out.Push(p.rig.frames.Copy(data))
	p.flush()
}

func (p *peer) flush() {
	for p.out.Len() > 0 && p.port.CanSend() {
		if p.port.SendAt(p.out.Pop(), p.rig.eng.Now()) != nil {
			panic("refused after CanSend")
		}
	}
}

// endpoint is the link partner at the PCIe port: Arm and host memory, with a driver.
type endpoint struct {
	*nictest.Endpoint
	rig *rig
}

func newMemory(r *rig) *endpoint {
	s := nictest.EndpointSpec{Latency: 200 * simcore.Nanosecond, Split: r.opt.policy, Seed: r.opt.seed}
	if r.opt.shuffle {
		s.Jitter = 200 * simcore.Nanosecond
	}
	m := &endpoint{nictest.NewEndpoint(r.t, r.eng, &r.tlps, s), r}
	m.Wait = func(holds func() bool) {
		for n := 0; n < 10_000 && !holds(); n++ {
			r.step(100 * simcore.Nanosecond)
		}
	}
	return m
}
