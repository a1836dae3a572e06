package nicswitch

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/fabric/pcielink"
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// device is an endpoint behind the switch: it sends its list of TLPs, in order, as fast as its link
// takes them, and keeps those that it receives.
type device struct {
	*sim.ComponentBase
	s    simcore.Scheduler
	port *simcore.Port
	out  fifo.Queue[*msg.TLP]
	got  []*msg.TLP
	at   []simcore.Ps
	hold bool // leave received TLPs in the port
	on   func(*msg.TLP)
}

func newDevice(s simcore.Scheduler, name string) *device {
	d := &device{ComponentBase: sim.NewComponentBase(name), s: s}
	d.port = simcore.NewPort(d, 1024, name+".Port")
	return d
}

func (d *device) Handle(sim.Event) error                    { return nil }
func (d *device) NotifyPortFree(sim.VTimeInSec, sim.Port)   { d.push() }
func (d *device) NotifyRecv(now sim.VTimeInSec, _ sim.Port) { d.drain(now) }

func (d *device) push() {
	for d.out.Len() > 0 && d.port.CanSend() {
		d.port.SendAt(d.out.Pop(), simcore.Now(d.s))
	}
}

func (d *device) drain(now sim.VTimeInSec) {
	for !d.hold && d.port.Len() > 0 {
		p := d.port.Retrieve(now).(*msg.TLP)
		if d.on != nil {
			d.on(p)
			continue
		}
		d.got, d.at = append(d.got, p), append(d.at, simcore.FromSec(now))
	}
}

func (d *device) seqs() (all []uint64) {
	for _, p := range d.got {
		all = append(all, p.Seq)
	}
	return all
}

// rig is a switch whose first port is on a simcore.Link, the others on PCIe links.
type rig struct {
	t    testing.TB
	e    sim.Engine
	sw   *Switch
	devs map[string]*device
	seq  uint64
	pool msg.TLPs
}

const nicLatency = LinkLatency

func link() pcielink.Spec {
	s := pcielink.Default(4)
	s.DLLP, s.Ends[1].MPS, s.Latency = pcielink.DLLP{}, 512, 100*simcore.Nanosecond
	return s
}

func newRig(t testing.TB, e sim.Engine, spec Spec, pcie pcielink.Spec) *rig {
	t.Helper()
	r := &rig{t: t, e: e, devs: map[string]*device{}}
	var err error
	r.sw, err = Builder{Scheduler: e, Spec: spec, TLPs: &r.pool}.Build("Switch")
	require.NoError(t, err)
	for i := range spec.Ports {
		name := spec.Ports[i].Name
		d := newDevice(e, "Dev"+name)
		r.devs[name] = d
		if name == PortNIC {
			s := simcore.LinkSpec{Latency: nicLatency, Credits: 64, CreditLatency: nicLatency}
			_, err = simcore.Connect(name+"Link", e, s, r.sw.Port(name), d.port)
			require.NoError(t, err)
			continue
		}
		l, err := pcielink.Builder{Scheduler: e, Spec: pcie}.Build(name + "Link")
		require.NoError(t, err)
		require.NoError(t, l.Connect(r.sw.Port(name), d.port))
	}
	return r
}

func (r *rig) packet(h tlp.Header) *msg.TLP {
	r.seq++
	p := &msg.TLP{Seq: r.seq}
	if h.Kind.HasData() {
		p.Own(int(h.Length) * tlp.DWBytes)
	}
	require.NoError(r.t, p.SetHeader(&h))
	return p
}

// write returns a memory write of n bytes to a bus address.
func (r *rig) write(to uint64, n int) *msg.TLP {
	h := tlp.Header{Kind: tlp.MWr, Address: to &^ 3, Addr64: to>>32 != 0, RequesterID: nicspec.RequesterNic}
	h.Length, h.FirstBE, h.LastBE = tlp.Enables(to, n)
	return r.packet(h)
}

func (r *rig) read(id uint16, from uint64, n int) *msg.TLP {
	h := tlp.Header{Kind: tlp.MRd, Address: from &^ 3, Addr64: from>>32 != 0, RequesterID: id, Tag: uint8(r.seq)}
	h.Length, h.FirstBE, h.LastBE = tlp.Enables(from, n)
	return r.packet(h)
}

func (r *rig) completion(to uint16, n int) *msg.TLP {
	return r.packet(tlp.Header{Kind: tlp.CplD, Length: uint16(n / 4), RequesterID: to, Tag: uint8(r.seq),
		ByteCount: uint16(n)})
}

func (r *rig) message(routing tlp.Routing, id uint16, code uint8) *msg.TLP {
	return r.packet(tlp.Header{Kind: tlp.MsgD, Length: 4, Routing: routing, TargetID: id, Code: code})
}

func (r *rig) send(from string, ps ...*msg.TLP) {
	d := r.devs[from]
	for _, p := range ps {
		d.out.Push(p)
	}
	d.push()
}

// run runs until no event is left, and requires that no TLP is lost.
func (r *rig) run() {
	r.t.Helper()
	require.NoError(r.t, r.e.Run())
	require.NoError(r.t, r.sw.Err())
	in, out := r.sw.Balance()
	require.Equal(r.t, in, out)
}

const (
	armAddr  = uint64(0x1000)
	hostAddr = uint64(1)<<56 + 0x1000
)
