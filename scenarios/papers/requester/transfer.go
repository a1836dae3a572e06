package requester

import (
	"nictwin/models/format/tlp"
	"nictwin/models/memory/mem"
	"nictwin/models/sim/simcore"
)

// Place is where bytes come from or go to: the network, or memory by bus address.
type Place struct {
	Network bool
	Addr    uint64
}

// Memory returns a place in memory.
func Memory(bus uint64) Place { return Place{Addr: bus} }

// Wire is the place of the network behind the NIC.
var Wire = Place{Network: true}

// Transfer is one request. Its owner keeps it, and may reuse it after Done has been called.
type Transfer struct {
	From, To Place
	Data     []byte // its bytes: sent if they come from the network, else filled
	Done     func(t *Transfer, now simcore.Ps)

	reads   tlp.Split // to be issued
	asked   bool      // next is valid
	next    tlp.Piece
	arrived int // bytes that arrived
	left    int // bytes that left for their destination
	packed  int // bytes put into packets
}

// Port is the interface that experiments use of a NIC.
type Port interface {
	// Start begins a transfer.
	Start(t *Transfer) error
	// Moved returns the number of bytes that have left for their destinations.
	Moved() uint64
}

func endpoint(addr uint64) int {
	ep, _ := mem.Split(addr)
	return ep
}
