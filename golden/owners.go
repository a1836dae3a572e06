package golden

// owner says whose a range is.
type owner struct {
	kind  ownerKind
	part  uint8    // of a descriptor: its buffer; of a work entry: its piece
	queue uint16   //
	index uint16   // of a descriptor
	entry *txEntry // of a piece
}

type ownerKind uint8

const (
	ownsRxCq ownerKind = iota
	ownsTxCq
	ownsBuffer // to which a descriptor points
	ownsRxRing
	ownsTxRing
	ownsPiece
	ownsCopy // where a copy writes
	ownsMsg  // where a queue's messages go; part tells receive from transmit queues
)
