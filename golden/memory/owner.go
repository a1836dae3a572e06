package memory

// Owner says whose a range is. The type of a work entry is the caller's.
type Owner[E any] struct {
	Kind  Kind
	Part  uint8  // of a descriptor: which of its buffers; of a work entry: which of its pieces
	Queue uint16 //
	Index uint16 // of a descriptor
	Entry *E     // of a piece or copy
}

// Kind is what a range is for.
type Kind uint8

// The kinds.
const (
	RxCq Kind = iota
	TxCq
	Buffer // to which a descriptor points
	RxRing
	TxRing
	Piece // of a work entry
	Copy  // where a copy writes
)

// Kinds is a set of kinds.
type Kinds uint16

// Of is a set of kinds.
func Of(kinds ...Kind) (s Kinds) {
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

func (s Kinds) has(k Kind) bool { return s>>k&1 != 0 }
