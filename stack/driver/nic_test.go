package driver_test

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/fabric/root"
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	"nictwin/models/nic"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
	"nictwin/stack/driver"
	"nictwin/stack/driver/drivertest"
	"nictwin/stack/driver/rootbus"
)

// TestContract checks that the driver fulfils its contract on the Go NIC, whether its memory accesses, and those of the
// NIC, take time or not.
func TestContract(t *testing.T) {
	for _, c := range []struct {
		name  string
		late  bool
		delay inject.DelaySpec
	}{
		{name: "at once"}, {name: "late", late: true},
		{name: "slow memory", delay: inject.DelaySpec{Latency: 3 * simcore.Microsecond, Jitter: simcore.Microsecond}},
		{name: "both", late: true, delay: inject.DelaySpec{Latency: simcore.Microsecond, Jitter: simcore.Microsecond}},
	} {
		t.Run(c.name, func(t *testing.T) {
			drivertest.RunContract(t, func(t *testing.T) *drivertest.Rig { return newRig(t, c.late, c.delay) })
		})
	}
}

// newRig returns a Go NIC between memory and the other end of its Ethernet port.
func newRig(t *testing.T, late bool, delay inject.DelaySpec) *drivertest.Rig {
	t.Helper()
	return newRigOn(t, func(e *simcore.Engine, space *mem.Space) (mem.Target, func(rc *root.Root) driver.Bus) {
		memory, err := inject.NewDelay("Delay", e, delay, space)
		require.NoError(t, err)
		return memory, func(rc *root.Root) driver.Bus {
			bus := rootbus.Bus{Regs: rc.MMIO(nicspec.RequesterArm), Memory: space}
			if !late {
				return bus
			}
			return &drivertest.Late{Bus: bus, Soon: func(f func()) {
				e.Schedule(&simcore.Event{At: simcore.Now(e) + 70*simcore.Nanosecond, H: call(f)})
			}}
		}
	})
}

// newRigOn is newRig with a custom memory system: machine returns the NIC root's target and the driver's bus.
func newRigOn(t *testing.T, machine func(e *simcore.Engine, space *mem.Space) (mem.Target,
	func(rc *root.Root) driver.Bus)) *drivertest.Rig {
	t.Helper()
	const size = 1 << 30
	e := simcore.NewEngine()
	r := &drivertest.Rig{Options: driver.DefaultOptions(), Settle: e.Run}
	space, err := mem.NewSpace(size, size)
	require.NoError(t, err)
	pool := new(msg.TLPs)
	memory, bus := machine(e, space)
	rc, err := root.Builder{Scheduler: e, Spec: root.DefaultSpec(), Memory: memory, TLPs: pool}.Build("Root")
	require.NoError(t, err)
	n, err := nic.Builder{Scheduler: e, Spec: nic.DefaultSpec(), TLPs: pool}.Build("NIC")
	require.NoError(t, err)
	faults := inject.NewFaults("Faults", e, pool)
	link := simcore.LinkSpec{Latency: 10 * simcore.Nanosecond}
	other := newPeer(e, r)
	for _, x := range []struct {
		name string
		a, b *simcore.Port
	}{{"Link", faults.Device(), n.PCIe()}, {"FaultsLink", rc.PCIe(), faults.Peer()}, {"Wire", n.Eth(0), other.port}} {
		_, err = simcore.Connect(x.name, e, link, x.a, x.b)
		require.NoError(t, err)
	}
	r.Receive = func(_ int, b []byte) { other.send(b) }
	r.FailReads = func(from, to uint64) error {
		faults.Clear()
		if from == to {
			return nil
		}
		return faults.Add(inject.Fault{Kind: inject.FaultUR, From: from, To: to})
	}
	rc.OnMessage = func(_ *tlp.Header, b []byte) { r.Messages = append(r.Messages, append([]byte(nil), b...)) }
	r.Bus = bus(rc)
	return r
}

// call is a handler that calls a function.
type call func()

// Handle implements sim.Handler.
func (f call) Handle(sim.Event) error { f(); return nil }

// peer is the other end of the Ethernet port: it records frames.
type peer struct {
	*sim.ComponentBase
	e    *simcore.Engine
	r    *drivertest.Rig
	port *simcore.Port
	pool msg.Frames
	out  fifo.Queue[*msg.Frame]
}

func newPeer(e *simcore.Engine, r *drivertest.Rig) *peer {
	p := &peer{ComponentBase: sim.NewComponentBase("Peer"), e: e, r: r}
	p.port = simcore.NewPort(p, 64, "Peer.Eth")
	return p
}

func (p *peer) NotifyRecv(now sim.VTimeInSec, _ sim.Port) {
	for p.port.Len() > 0 {
		f := p.port.Retrieve(now).(*msg.Frame)
		p.r.Sent = append(p.r.Sent, drivertest.Frame{Queue: f.Queue, Data: append([]byte(nil), f.Data...)})
	}
}

func (p *peer) Handle(sim.Event) error                  { return nil }
func (p *peer) NotifyPortFree(sim.VTimeInSec, sim.Port) { p.flush() }

func (p *peer) flush() {
	for p.out.Len() > 0 && p.port.CanSend() {
		if err := p.port.SendAt(p.out.Pop(), p.e.Now()); err != nil {
			panic("refused")
		}
	}
}

func (p *peer) send(b []byte) {
	p.out.Push(p.pool.Copy(b))
	p.flush()
}
