package testbed

import (
	"errors"
	"fmt"

	"nictwin/models/board"
	"nictwin/models/fabric/root"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/traffic"
	"nictwin/stack/driver"
	"nictwin/stack/driver/rootbus"
)

// Bed is a card with its device, driver and players, connected, at time 0. The caller must Close it.
type Bed struct {
	*board.Card
	Engine  *simcore.Engine
	NIC     device.Device // NIC of the card
	Arm     *root.MMIO    // register accesses through the Arm's root complex, shared with the driver
	Bus     driver.Bus    // memory and register accesses of the driver
	Driver  *driver.Driver
	Players []*traffic.Player // by Ethernet port
	Waits   board.Waits       // upper bounds of latencies of the card's links and memories

	spec  board.CardSpec
	pools board.Pools
	idle  idleWatch
}

// linkCredits is the default of Spec.Credits. The Ethernet link into the NIC has this many whatever Credits says.
const linkCredits = 4096

// New connects a bed. It builds an RTL device, or finds it in the cache, and starts it.
func New(s Spec) (*Bed, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	s = s.resolved()
	dev, err := device.Open(s.Spec)
	if err != nil {
		return nil, err
	}
	b := &Bed{Engine: simcore.NewEngine(), spec: s.card(dev.Period())}
	b.Card, err = board.NewCard(b.Engine, &b.pools, b.spec, dev.NIC)
	if err != nil {
		return nil, errors.Join(err, dev.Close())
	}
	b.NIC = dev.Device()
	if err := b.connect(&s); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *Bed) connect(s *Spec) (err error) {
	period := b.NIC.Period()
	for port := range max(s.Ports, 1) {
		p := traffic.NewPlayer(fmt.Sprintf("Player%d", port), b.Engine, &b.pools.Frames, port, period)
		if err := board.Cable(fmt.Sprintf("EthLink%d", port), b.Engine, b.spec.Eth, p.Eth(),
			b.NIC.Eth(port)); err != nil {
			return err
		}
		b.Players = append(b.Players, p)
	}
	b.Arm = b.Root.MMIO(nicspec.RequesterArm)
	b.Bus = Bus(b.Card, b.Arm)
	if b.Waits, err = b.spec.Waits(); err != nil {
		return err
	}
	if b.Driver, err = driver.New(b.Bus, b.driverOptions(s, &b.spec.Endpoint)); err != nil {
		return err
	}
	if s.Card != nil {
		err = SetLimits(b.Driver, b.spec.Endpoint.Limits)
	}
	return errors.Join(err, SetWaits(b.Driver, b.Waits))
}

// SetWaits sets the NIC's read time-outs to the longest time that a read on its card can take.
func SetWaits(d *driver.Driver, w board.Waits) error {
	if w.CplTimeout == nicspec.ResetCplTimeout {
		return nil
	}
	return d.SetCompletionTimeout(w.CplTimeout)
}

// SetLimits lowers the NIC's TLP limits to those of the card's endpoint, if they are below the reset values.
func SetLimits(d *driver.Driver, want tlp.Limits) error {
	reset, to := driver.ResetControl(), driver.ControlFor(want)
	if to.MPS >= reset.MPS && to.MRRS >= reset.MRRS {
		return nil
	}
	to.MPS, to.MRRS = min(reset.MPS, to.MPS), min(reset.MRRS, to.MRRS)
	return d.SetDeviceControl(to)
}

// Pace parses the pace of a player like traffic.ParsePace, with the rate of the cables as the maximum.
func (b *Bed) Pace(text string) (traffic.Pace, error) {
	p, err := traffic.ParsePace(text, b.NIC.EthBits(), b.NIC.Period())
	if err != nil {
		return p, err
	}
	return p.AtMost(b.spec.Eth.Rate)
}

// Cable returns the spec of the players' cables.
func (b *Bed) Cable() simcore.LinkSpec { return b.spec.Eth }

// Bus returns the bus of software on a card's Arm cores: memory accesses, with the latency of the card's memory, and
// register accesses through parameter `arm`.
func Bus(c *board.Card, arm *root.MMIO) driver.Bus {
	var bus driver.Bus = rootbus.Bus{Regs: arm, Memory: c.Memory}
	if c.Memory.Timed() {
		bus = rootbus.NewTimed(arm, c.Memory)
	}
	if c.Switch == nil {
		return bus
	}
	return rootbus.Apart{Bus: bus, Roots: [...]*root.MMIO{
		nicspec.EndpointArm: arm, nicspec.EndpointHost: c.Host.MMIO(nicspec.RequesterHost),
	}}
}

// Begin must be called once the work is loaded, before the engine runs. Once done returns true, nothing more is
// requested of the NIC: NIC and card then have rtlbridge.DefaultPatience cycles to become idle, or Waits.Turn if that
// is longer.
func (b *Bed) Begin(done func() bool) error {
	if busy, ok := b.NIC.(interface{ Busy() bool }); ok { // the Go NIC; RTL is watched by the bridge
		b.idle = idleWatch{
			engine: b.Engine, period: b.NIC.Period(), device: b.NIC.Name(), busy: busy.Busy, done: done,
			patience: max(rtlbridge.DefaultPatience, int64(b.Waits.Turn/b.NIC.Period())),
		}
		b.idle.begin()
	}
	return b.NIC.Begin(done)
}

// driverOptions returns the driver's options for the card: the NIC's build, memory sizes and the limit of polls.
func (b *Bed) driverOptions(s *Spec, e *board.Endpoint) driver.Options {
	o := driver.DefaultOptions()
	if s.Build != nil {
		o.Build = *s.Build
	}
	o.Build.Ports = max(s.Ports, 1)
	o.MaxPolls = max(o.MaxPolls, b.Waits.Polls)
	for ep, n := range [...]uint64{nicspec.EndpointArm: e.ArmBytes, nicspec.EndpointHost: e.HostBytes} {
		o.Memory[ep].Bytes = n - min(n, o.Memory[ep].From)
	}
	if b.Faults != nil {
		o.ReadsMayFail = func() bool { return b.Faults.Hits() > 0 }
	}
	return o
}

// Cycles returns the time of n cycles of the NIC's clock.
func (b *Bed) Cycles(n int) simcore.Ps { return simcore.Ps(n) * b.NIC.Period() }
