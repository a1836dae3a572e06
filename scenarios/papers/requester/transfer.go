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

// Memory is a place in memory.
func Memory(bus uint64) Place { return Place{Addr: bus} }

// Wire is the network behind the NIC.
var Wire = Place{Network: true}

// Transfer is one request. Its owner keeps it, and may use it again once Done was called.
type Transfer struct {
	From, To Place
	Data     []byte // its bytes: to be sent if they come from the network, else filled
	Done     func(t *Transfer, now simcore.Ps)

	reads   tlp.Split // that are to be issued
	asked   bool      // next is the next of them
	next    tlp.Piece
	arrived int // bytes that came
	left    int // bytes that left for their destination
	packed  int // bytes that a packet was made of
}

// Port is what experiments use of a NIC.
type Port interface {
	// Start begins a transfer.
	Start(t *Transfer) error
	// Moved is how many bytes have left for their destinations.
	Moved() uint64
}

func endpoint(addr uint64) int {
	ep, _ := mem.Split(addr)
	return ep
}
