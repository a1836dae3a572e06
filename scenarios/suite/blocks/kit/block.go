package kit

import (
	"fmt"
	"math/rand/v2"
)

// Packet is one transaction on a stream of a block.
type Packet struct {
	Side []byte // side-band bytes, if the stream has any
	Data []byte
}

// Op is a kind of request.
type Op struct {
	Name    string
	Request *Layout // layout of the side bytes, if the stream has any, else of the data
	Result  *Layout
}

// Block is a pair to be compared: a module of the RTL and a file of models/nic.
type Block struct {
	Name string // name of the block and of its manifest
	RTL  string // file, relative to verilator/rtl
	Go   string // file of the Go block, relative to the root of the tree
	// Ops are the kinds of requests. If there are several, the first byte of a request and of its result is the
	// number of its kind.
	Ops []Op
	// Stimulus returns n requests.
	Stimulus func(rng *rand.Rand, n int) []Packet
	// Reference returns the functional core after reset: a function that takes the requests in order and returns
	// the results of each.
	Reference func() func(Packet) []Packet
	// Settle converts a result of the RTL block to the form of the reference, if the RTL leaves part of the work to the
	// blocks behind it; nil if it does not.
	Settle func(data []byte) []byte
}

// Op returns the kind of a request or result. A number that the block does not have, which only a faulty device sends,
// gives a kind without fields.
func (b *Block) Op(data []byte) *Op {
	i := 0
	if len(b.Ops) > 1 && len(data) > 0 {
		i = int(data[0])
	}
	if i >= len(b.Ops) {
		return &Op{Name: fmt.Sprintf("op %d", i), Result: &Layout{}, Request: &Layout{}}
	}
	return &b.Ops[i]
}
