package memory

// Owner identifies the owner of a range. E is the caller's type of work entries.
type Owner[E any] struct {
	Kind  Kind
	Part  uint8  // which buffer of a descriptor, or which piece of a work entry
	Queue uint16 //
	Index uint16 // for a descriptor
	Entry *E     // for a piece or a copy
}

// Kind is the purpose of a range.
type Kind uint8

// The kinds of range.
const (
	RxCq Kind = iota
	TxCq
	Buffer // of a descriptor
	RxRing
	TxRing
	Piece // of a work entry
	Copy  // destination of a copy
)

// Kinds is a set of kinds.
type Kinds uint16

// Of returns a set of kinds.
func Of(kinds ...Kind) (s Kinds) {
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

func (s Kinds) has(k Kind) bool { return s>>k&1 != 0 }
