package inject_test

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/fabric/root"
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// device records the TLPs that it receives, with the time of each.
type device struct {
	*sim.ComponentBase
	port *simcore.Port
	pool *msg.TLPs
	got  []tlp.Packet
	at   []simcore.Ps
	full bool // the device receives nothing, so that its port fills up
}

func (d *device) Handle(sim.Event) error                  { return nil }
func (d *device) NotifyPortFree(sim.VTimeInSec, sim.Port) {}
func (d *device) NotifyRecv(now sim.VTimeInSec, _ sim.Port) {
	for !d.full && d.port.Len() > 0 {
		p := d.port.Retrieve(now).(*msg.TLP)
		d.got = append(d.got, tlp.Packet{Hdr: p.Hdr, Data: append([]byte(nil), p.Data...)})
		d.at = append(d.at, simcore.FromSec(now))
		d.pool.Put(p)
	}
}

// bench is a device with every decorator between it and a root complex with memory.
type bench struct {
	*simcore.Engine
	t      *testing.T
	pool   msg.TLPs
	dev    *device
	gate   *inject.Gate
	faults *inject.Faults
	tapped []inject.Direction
	root   *root.Root
	mem    *mem.Space
}

func newBench(t *testing.T, d inject.DelaySpec) *bench {
	t.Helper()
	b := &bench{Engine: simcore.NewEngine(), t: t}
	var err error
	b.mem, err = mem.NewSpace(1<<30, 1<<30)
	require.NoError(t, err)
	slow, err := inject.NewDelay("Delay", b, d, b.mem)
	require.NoError(t, err)
	b.root, err = root.Builder{Scheduler: b, Spec: root.DefaultSpec(), Memory: slow, TLPs: &b.pool}.Build("Root")
	require.NoError(t, err)
	b.gate, b.faults = inject.NewGate("Gate", b), inject.NewFaults("Faults", b, &b.pool)
	tap := inject.NewTap("Tap", b, func(d inject.Direction, m sim.Msg) { b.tapped = append(b.tapped, d) })
	b.dev = &device{ComponentBase: sim.NewComponentBase("Device"), pool: &b.pool}
	b.dev.port = simcore.NewPort(b.dev, 4, "Device.PCIe")
	for _, l := range []struct {
		name string
		spec simcore.LinkSpec
		a, b *simcore.Port
	}{
		{"Link", simcore.LinkSpec{Latency: 100 * simcore.Nanosecond}, b.dev.port, b.gate.Device()},
		{"GateFaults", simcore.LinkSpec{}, b.gate.Peer(), b.faults.Device()},
		{"FaultsTap", simcore.LinkSpec{}, b.faults.Peer(), tap.Device()},
		{"TapRoot", simcore.LinkSpec{}, tap.Peer(), b.root.PCIe()},
	} {
		_, err = simcore.Connect(l.name, b, l.spec, l.a, l.b)
		require.NoError(t, err)
	}
	return b
}

func (b *bench) read(tag uint8, bus uint64, n int) {
	p := b.pool.Get()
	require.NoError(b.t, p.SetMemRead(tlp.Origin{RequesterID: nicspec.RequesterNic}, tag, bus, n))
	require.Nil(b.t, b.dev.port.SendAt(p, b.Now()))
}

func (b *bench) write(bus uint64, data ...byte) {
	p := b.pool.Get()
	require.NoError(b.t, p.SetMemWrite(tlp.Origin{RequesterID: nicspec.RequesterNic}, bus, data))
	require.Nil(b.t, b.dev.port.SendAt(p, b.Now()))
}
