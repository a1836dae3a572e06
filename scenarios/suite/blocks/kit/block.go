package kit

import (
	"fmt"
	"math/rand/v2"
)

// Packet is one transaction on a stream of a block.
type Packet struct {
	Side []byte // side-band bytes, where the stream has some
	Data []byte
}

// Op is a kind of request that a block takes.
type Op struct {
	Name    string
	Request *Layout // of the side bytes, if there are some, else of the data
	Result  *Layout
}

// Block is a pair: a module of the RTL and a file of models/nic.
type Block struct {
	Name string // also of its manifest
	RTL  string // file, from verilator/rtl
	Go   string // file of the Go block, from the root of the tree
	// Ops are the kinds of requests. Where there are several, the first byte of a request and of its result is the
	// number of its kind.
	Ops []Op
	// Stimulus makes n requests.
	Stimulus func(rng *rand.Rand, n int) []Packet
	// Reference is the functional core after reset: what it is given are the requests in their order, what it
	// returns are the results of each.
	Reference func() func(Packet) []Packet
	// Settle turns a result of the block into what the reference says, where the block leaves something to those that
	// follow it; nil: it leaves nothing.
	Settle func(data []byte) []byte
}

// Op is the kind of a packet. One that a device has made up has any.
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
