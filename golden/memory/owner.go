package memory

// Owner says which queue, descriptor or work entry a range belongs to. E is the caller's type of work entries.
type Owner[E any] struct {
	Kind  Kind
	Part  uint8  // buffer of a descriptor, or piece of a work entry
	Queue uint16 // index of the queue
	Index uint16 // index of the descriptor
	Entry *E     // work entry, for Piece and Copy
}

// Kind is the purpose of a range.
type Kind uint8

// Purposes of ranges that the device reads or writes.
const (
	RxCq Kind = iota
	TxCq
	Buffer // buffer of a descriptor
	RxRing
	TxRing
	Piece // piece of a work entry
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
