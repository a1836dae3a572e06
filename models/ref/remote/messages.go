package remote

import "nictwin/models/ref"

// Package is the import path under which a user's reference is built; Prefix begins the names of its functions.
const (
	Package = "nictwin/userref"
	Prefix  = Package + "."
)

// NoChannel is the exit code of a reference's process whose channel does not work.
const NoChannel = 4

// Kind names what a request asks for.
type Kind int

// Kinds of request.
const (
	Begin   Kind = iota // set up a run
	Draw                // draw a transaction of a stream
	Deliver             // handle transactions that have crossed the pins
	Reset               // handle a reset of the device
	Over                // report whether the device owes nothing any more
	Stuck               // report which outputs are missing, since the device does nothing any more
	End                 // finish the run
)

// Request is a message from the player to the reference's process.
type Request struct {
	N        uint64 // number of the request in its run, from 1
	Kind     Kind
	Cycle    uint64
	Observed []uint64 // values in the order of Setup.Observe
	Setup    *Setup   // for Begin
	Stream   int      // for Draw: index of the stream
	Msgs     []Msg    // for Deliver
	Silence  string   // for Stuck: description of the inactive device
}

// Setup describes a run.
type Setup struct {
	Nonce      uint64
	Seed       uint64
	Streams    []ref.Stream
	Plain      bool // the run has no stalls
	Declared   ref.Declared
	Some       bool     // the run includes only the jobs of Keep
	Keep       [][2]int // ranges of jobs, each with its first and last number
	Parameters map[string]string
	Observe    []string
	Most       int // largest number of transactions of the reference in the run
	Stack      int // largest size of a goroutine's stack in the reference's process, in bytes; 0: Go's default
}

// Msg is a transaction that has crossed the pins.
type Msg struct {
	Stream      int
	N           uint64
	First, Last uint64
	Side, Data  []byte
}

// Offer is a transaction that the reference offers to an input.
type Offer struct {
	Stream     int
	Delay      uint64
	Side, Data []byte
	Answer     bool
}

// Answer holds the effects of a request on the reference, and the reference's state after it.
type Answer struct {
	N    uint64
	Told uint64 // number of transactions delivered so far

	Offers     []Offer
	Jobs       int // number of calls of Job so far
	Drawn      bool
	Side, Data []byte // for Draw: the transaction drawn

	Uses    []StreamUse
	Longest int
	Missing int
	Judged  int
	Resets  bool // the reference handles resets
	HasDone bool // the reference has called Done, so the player must ask whether the run is over
	Over    bool

	Failure  *ref.Failure
	Mistake  *Mistake
	Tallies  []ref.Tally // in the answer to End: the transactions of each stream
	Memories int         // in the answer to End: number of comparisons of memories
	File     string      // for Begin: position of the reference
	Line     int
}

// StreamUse reports what the reference does with a stream: whether it draws its transactions, plays it as a channel
// of an AXI port, or looks at its transactions.
type StreamUse struct{ Draws, Plays, Listens bool }

// Mistake reports a fault of the reference, not of the device.
type Mistake struct {
	What string
	File string // path as the compiler names it; empty: not known
	Line int
}
