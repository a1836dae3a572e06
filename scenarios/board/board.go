package board

import (
	"errors"
	"fmt"

	"nictwin/models/inject"
	"nictwin/models/mem"
	"nictwin/models/msg"
	"nictwin/models/nicspec"
	"nictwin/models/root"
	"nictwin/models/simcore"
	"nictwin/stack/driver"
	"nictwin/stack/driver/rootbus"
)

// Board is everything connected, before time starts. The caller must Close it.
type Board struct {
	Engine *simcore.Engine
	NIC    Device
	Memory *mem.Space
	Root   *root.Root
	Arm    *root.MMIO     // register accesses of the Arm root, which the driver uses, too
	Faults *inject.Faults // strikes reads of the NIC, if the spec wants it; else nil
	Gate   *inject.Gate   // holds back what the NIC sends, if the spec wants it; else nil
	Driver *driver.Driver
	// Players are the far ends of the NIC's Ethernet ports, by port.
	Players []*Player

	pools pools
}

// pools are shared by the board, so that messages are recycled.
type pools struct {
	frames msg.Frames
	tlps   msg.TLPs
}

// linkCredits bound the messages in flight on a link, each way, unless a spec says otherwise.
const linkCredits = 4096

// New puts a board together; an RTL device is built, or found in the cache, and started.
func New(s Spec) (*Board, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	b := &Board{Engine: simcore.NewEngine()}
	var err error
	if b.NIC, err = s.newDevice(b.Engine, &b.pools); err != nil {
		return nil, err
	}
	if err := b.connect(&s); err != nil {
		return nil, errors.Join(err, b.NIC.Close())
	}
	return b, nil
}

func (b *Board) connect(s *Spec) error {
	e := s.endpoint()
	root, err := e.build(b)
	if err != nil {
		return err
	}
	period := b.NIC.Period()
	latency := s.latency(period)
	link := simcore.LinkSpec{Latency: latency, Credits: linkCredits, CreditLatency: latency}
	if s.Credits != 0 {
		link.Credits = s.Credits
	}
	if _, err = simcore.Connect("PCIeLink", b.Engine, link, root, b.NIC.PCIe()); err != nil {
		return err
	}
	// Ethernet into the NIC cannot be held back.
	link.Credits, link.ReverseCredits = linkCredits, link.Credits
	for port := range s.ports() {
		p := newPlayer(b.Engine, &b.pools.frames, port, period)
		if _, err = simcore.Connect(fmt.Sprintf("EthLink%d", port), b.Engine, link, p.port, b.NIC.Eth(port)); err != nil {
			return err
		}
		b.Players = append(b.Players, p)
	}
	b.Arm = b.Root.MMIO(nicspec.RequesterArm)
	b.Driver, err = driver.New(rootbus.Bus{Regs: b.Arm, Memory: b.Memory}, b.driverOptions(s, &e))
	return err
}

// driverOptions are what the driver may take for granted.
func (b *Board) driverOptions(s *Spec, e *Endpoint) driver.Options {
	o := driver.DefaultOptions()
	o.Build.Ports = s.ports()
	for ep, n := range [...]uint64{nicspec.EndpointArm: e.ArmBytes, nicspec.EndpointHost: e.HostBytes} {
		o.Memory[ep].Bytes = n - min(n, o.Memory[ep].From)
	}
	if b.Faults != nil {
		o.ReadsMayFail = func() bool { return b.Faults.Hits() > 0 }
	}
	return o
}

// Cycles is the time that so many cycles of the NIC's clock take.
func (b *Board) Cycles(n int) simcore.Ps { return simcore.Ps(n) * b.NIC.Period() }

// Close ends the device.
func (b *Board) Close() error { return b.NIC.Close() }
