package board

import (
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// NIC is whatever has the NIC's boundary: the Go model, RTL behind the bridge,
// another process. Nothing around it may know which.
type NIC interface {
	boundary.Observable
	Name() string

	PCIe() *simcore.Port        // of the TLP streams; its messages are msg.TLP
	Eth(port int) *simcore.Port // of an Ethernet port; its messages are msg.Frame

	Period() simcore.Ps // of its clock
	EthBits() int       // of an Ethernet stream: what a port carries a cycle

	// Begin is called once everything is connected, and before time starts. done reports that nothing more will be
	// asked of the NIC: it then has bounded time to come to rest.
	Begin(done func() bool) error

	// Check returns what is wrong with the device itself after the run: rules of its streams that it broke.
	Check() error

	Cycles() int64 // that it has worked

	// Close ends what stands behind it. The NIC is not used any more.
	Close() error
}

// Slot is where a NIC is to stand.
type Slot struct {
	Name   string          // of the component
	Device DeviceSpec      // what the board's spec wants; what it leaves open is the factory's choice
	Engine *simcore.Engine // that the caller owns
	Period simcore.Ps      // of the NIC's clock; 0: as the NIC has it by itself

	Build   *nicspec.Build // sizes and parts [B2]; nil: as the NIC has them by itself
	Ports   int            // Ethernet ports
	EthBits int            // of an Ethernet stream; 0: as the NIC has it by itself

	// PCIe and Eth are the links that the ports will be plugged into: a device that runs ahead of the engine needs to
	// know them before. A cable between two such devices takes the time of both: its latency must be the sum of what
	// either slot says of Eth.
	PCIe, Eth simcore.LinkSpec

	// Limits are what the roots of Arm and host take.
	Limits [nicspec.EndpointHost + 1]tlp.Limits

	// Turn is that of the card's Waits: links and memories take no longer for what the NIC has under way.
	Turn simcore.Ps

	Seed  uint64
	Stall int // percent of the cycles in which its streams are to stand still
	// Burst has a stream stand still, or go on, for 2^Burst cycles at a time. It leaves out the stream of TLPs into
	// the NIC: reads whose completions come that late time out.
	Burst int

	// Frames and TLPs are where messages come from and go back to.
	Frames *msg.Frames
	TLPs   *msg.TLPs
}

// Factory makes the NIC for a slot.
type Factory func(Slot) (NIC, error)
