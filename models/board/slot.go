package board

import (
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// NIC is any device with the NIC's boundary: the Go model, RTL behind the bridge, another process.
// Nothing around it may depend on which.
type NIC interface {
	boundary.Observable
	Name() string

	PCIe() *simcore.Port        // of the TLP streams; its messages are msg.TLP
	Eth(port int) *simcore.Port // of an Ethernet port; its messages are msg.Frame

	Period() simcore.Ps // of its clock
	EthBits() int       // of an Ethernet stream: what a port carries a cycle

	// Begin is called once everything is connected, and before time starts. done reports that
	// nothing more will be asked of the NIC, which then has bounded time to become idle.
	Begin(done func() bool) error

	// Check returns the device's own faults after the run: rules of its streams that it broke.
	Check() error

	Cycles() int64 // worked so far

	// Close closes the device. The NIC must not be used any more.
	Close() error
}

// Slot describes the place of a NIC to its factory.
type Slot struct {
	Name   string          // of the component
	Device DeviceSpec      // from the board's spec; what it leaves open is the factory's choice
	Engine *simcore.Engine // owned by the caller
	Period simcore.Ps      // of the NIC's clock; 0: the NIC's own

	Build   *nicspec.Build // sizes and parts [B2]; nil: the NIC's own
	Ports   int            // Ethernet ports
	EthBits int            // width of an Ethernet stream; 0: the NIC's own

	// PCIe and Eth are the links that the ports will be plugged into: a device that runs ahead of
	// the engine needs them in advance. A cable between two such devices takes the time of both:
	// its latency must be the sum of both slots' Eth.
	PCIe, Eth simcore.LinkSpec

	// Limits are those of the Arm's and the host's root.
	Limits [nicspec.EndpointHost + 1]tlp.Limits

	// Turn is that of the card's Waits: the longest time that links and memories take for the NIC's
	// traffic in flight.
	Turn simcore.Ps

	Seed  uint64
	Stall int // percent of the cycles in which its streams stall
	// Burst makes a stream stall, or flow, for 2^Burst cycles at a time. It does not apply to the
	// stream of TLPs into the NIC, because reads whose completions come that late time out.
	Burst int

	// Frames and TLPs are the message pools.
	Frames *msg.Frames
	TLPs   *msg.TLPs
}

// Factory makes the NIC for a slot.
type Factory func(Slot) (NIC, error)
