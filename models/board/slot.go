package board

import (
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// NIC is any device with the NIC's boundary: the Go model, RTL behind the bridge, another process.
// Nothing outside the slot may depend on which of them it is.
type NIC interface {
	boundary.Observable
	Name() string

	PCIe() *simcore.Port        // port of the TLP streams; its messages are msg.TLP
	Eth(port int) *simcore.Port // Ethernet port; its messages are msg.Frame

	Period() simcore.Ps // period of the NIC's clock
	EthBits() int       // width of an Ethernet stream: the bits that a port carries in a cycle

	// Begin is called once everything is connected, before time starts. done reports that the NIC
	// will receive no more work and has bounded time to become idle.
	Begin(done func() bool) error

	// Check returns an error after the run if the device broke a rule of its streams.
	Check() error

	Cycles() int64 // clock cycles simulated so far

	// Close closes the device, which cannot be used afterwards.
	Close() error
}

// Slot tells a factory what NIC to make and where it will be connected.
type Slot struct {
	Name   string          // name of the component
	Device DeviceSpec      // from the board's spec; the factory chooses what it leaves open
	Engine *simcore.Engine // owned by the caller
	Period simcore.Ps      // period of the NIC's clock; 0: the NIC's own

	Build   *nicspec.Build // sizes and parts [B2]; nil: the NIC's own
	Ports   int            // number of Ethernet ports
	EthBits int            // width of an Ethernet stream; 0: the NIC's own

	// PCIe and Eth specify the links that the ports will be connected to: a device that runs ahead
	// of the engine needs them in advance. A cable between two slots has the latency of both slots'
	// Eth together.
	PCIe, Eth simcore.LinkSpec

	// Bar is the bus address of the device's registers, ID its requester and completer ID; both 0:
	// those of the contract NIC [P1].
	Bar uint64
	ID  uint16

	// Limits holds MPS, MRRS and RCB of the roots, by endpoint.
	Limits [nicspec.EndpointHost + 1]tlp.Limits

	// Turn is Waits.Turn of the card: an upper bound on the time from a doorbell until software
	// sees the result.
	Turn simcore.Ps

	Seed  uint64
	Stall int // percent of the cycles in which the NIC's streams stall
	// Burst makes streams stall, or flow, for 2^Burst cycles at a time. The stream of TLPs into the
	// NIC is exempt: completions that come so late would make reads time out.
	Burst int

	// Frames and TLPs are the message pools.
	Frames *msg.Frames
	TLPs   *msg.TLPs
}

// Factory makes the NIC for a slot.
type Factory func(Slot) (NIC, error)
