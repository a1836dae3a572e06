package requester

import (
	"nictwin/models/format/tlp"
	"nictwin/models/memory/mem"
	"nictwin/models/sim/simcore"
)

// Place is a source or a destination of bytes: the network, or memory by bus address.
type Place struct {
	Network bool
	Addr    uint64
}

// Memory returns the location of a bus address.
func Memory(bus uint64) Place { return Place{Addr: bus} }

// Wire stands for the network behind the NIC.
var Wire = Place{Network: true}

// Transfer moves bytes from one place to another. Its owner keeps it, and may reuse it after Done has been called.
type Transfer struct {
	From, To Place
	Data     []byte // bytes to send if the source is the network; else filled with the bytes read
	Done     func(t *Transfer, now simcore.Ps)

	reads   tlp.Split // reads not yet issued
	asked   bool      // next holds a read that is still to be issued
	next    tlp.Piece
	arrived int // bytes that have arrived at the requester
	left    int // bytes that have left for the destination
	packed  int // bytes already put into packets
}

// Port is the interface of a NIC that experiments use.
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
