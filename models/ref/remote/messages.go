package remote

import "nictwin/models/ref"

// Package is the import path under which a reference is built; Prefix is the prefix of its
// functions' names.
const (
	Package = "nictwin/userref"
	Prefix  = Package + "."
)

// NoChannel is the exit code of a process whose channel does not work.
const NoChannel = 4

// Kind is the kind of request.
type Kind int

// The kinds of request.
const (
	Begin Kind = iota // sets a run up
	Draw              // draws a transaction of a stream
	Tell              // passes transactions
	Reset             // the device was reset
	Over              // asks whether anything is still due
	Stuck             // nothing happens any more: asks what is due
	End               // the run is over
)

// Request is a message to the reference's process.
type Request struct {
	N        uint64 // number in the run, from 1
	Kind     Kind
	Cycle    uint64
	Observed []uint64 // in the order of Setup.Observe
	Setup    *Setup   // of Begin
	Stream   int      // of Draw
	Msgs     []Msg    // of Tell
	Silence  string   // of Stuck: what the device does instead
}

// Setup begins a run.
type Setup struct {
	Nonce      uint64
	Seed       uint64
	Streams    []ref.Stream
	Plain      bool // nothing stalls
	Declared   ref.Declared
	Some       bool     // do only the jobs of Keep
	Keep       [][2]int // ranges, first and last number
	Parameters map[string]string
	Observe    []string
	Most       int // limit of transactions of the reference in a run
	Stack      int // limit of a stack in bytes
}

// Msg is a transaction that has crossed the pins.
type Msg struct {
	Stream      int
	N           uint64
	First, Last uint64
	Side, Data  []byte
}

// Offer is a transaction for an input.
type Offer struct {
	Stream     int
	Delay      uint64
	Side, Data []byte
	Answer     bool
}

// Answer returns the effects of a request.
type Answer struct {
	N    uint64
	Told uint64 // transactions so far

	Offers     []Offer
	Jobs       int // so far
	Drawn      bool
	Side, Data []byte // of Draw

	Seats   []Seat
	Longest int
	Missing int
	Judged  int
	Resets  bool // the reference handles resets
	Asks    bool // it has functions of Done, so Over must ask
	Over    bool

	Failure  *ref.Failure
	Mistake  *Mistake
	Tallies  []ref.Tally // of End
	Memories int         // of End
	File     string      // of Begin: where the reference is
	Line     int
}

// Seat reports the uses that the reference has for a stream.
type Seat struct{ Draws, Plays, Listens bool }

// Mistake reports a fault of the reference, not of the device.
type Mistake struct {
	What string
	File string // as the compiler names it; empty: not known
	Line int
}
