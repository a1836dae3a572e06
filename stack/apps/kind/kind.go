// Package kind describes the kinds of workload: their traits, transports, message lengths and options.
//
// Every kind is a type of its own. It knows nothing of how applications carry it out; that is in package apps.
package kind

import (
	"errors"
	"slices"
	"strings"

	"nictwin/models/sim/field"
	"nictwin/stack/rb2"
)

// Name is the name of a kind.
type Name string

// Transport is the service type of the queue pairs.
type Transport string

// Transports; a workload uses one.
const (
	RC Transport = "rc"
	UC Transport = "uc"
	UD Transport = "ud"

	Raw   Transport = "raw"   // Ethernet frames, whose header the application writes
	Solar Transport = "solar" // blocks of storage, one packet each
)

// By selects the reader of a lookup.
type By string

// Ways to look something up in the server's memory.
const (
	ByEngine By = "engine" // a handler on the server's card
	ByReads  By = "reads"  // RDMA_READs of the client
)

// Pattern selects the roles of the applications at both ends of a flow.
type Pattern uint8

// Patterns.
const (
	Requests Pattern = iota // a client that issues one request for each message, and a server
	Rings                   // the writer and the reader of a ring buffer
	Lookups                 // a client that issues several READs for each message, and a server with memory
)

// Traits describe a kind to the applications.
type Traits struct {
	Pattern  Pattern
	Sends    bool // messages land in the memory of receive requests of the server
	TwoWay   bool // the server's application answers every message
	Served   bool // a handler on the server's card answers every message
	Receives bool // messages take receive requests of the server
	Lookup   bool // messages are lookups in the server's memory
}

// Answered reports whether every message has an answer that takes one of the client's receive requests.
func (t Traits) Answered() bool { return t.TwoWay || t.Served }

// HandedOver reports whether messages are handed to an application, not only written to or read from memory.
func (t Traits) HandedOver() bool { return t.Receives || t.Served || t.Pattern == Rings }

// Option is a field of a workload that only some kinds have.
type Option = field.Path

// Options.
const (
	Inline        Option = "inline"
	Immediate     Option = "immediate"
	Invalidate    Option = "invalidate"
	LowLatency    Option = "low_latency"
	Notice        Option = "notice"
	SharedReceive Option = "shared_receive"
	Head          Option = "head"
	CloseEvery    Option = "close_every"
	SharedCounter Option = "shared_counter"
	Reused        Option = "payload" // reused
	Hops          Option = "hops"
	Access        Option = "by" // reads
	RingSpec      Option = "ring"
	Misuse        Option = "misuse"
)

// Fields are the fields of a workload that kinds restrict.
type Fields struct {
	Transport                                           Transport
	Sizes, Hops                                         []int
	Depth, Pieces, Offset, Batch, SignalEvery, Receives int
	Ring                                                rb2.Spec
	KV                                                  KVSpec
	Chunks                                              ChunkSpec
	VXLAN                                               VXLANSpec
	Answer                                              *int
	Set                                                 []Option // options that differ from their defaults
}

// largest returns the largest of Sizes; ok is false without valid sizes.
func (f *Fields) largest() (n int, ok bool) {
	if len(f.Sizes) == 0 {
		return 0, false
	}
	n = slices.Max(f.Sizes)
	return n, n >= 0 && n <= MaxBytes
}

// Faults collects errors of fields.
type Faults struct{ list []error }

// Check records an error of a field unless ok is true.
func (x *Faults) Check(ok bool, path field.Path, format string, a ...any) {
	if !ok {
		x.Add(field.Errorf(path, format, a...))
	}
}

// Add records errors.
func (x *Faults) Add(err error) { x.list = append(x.list, err) }

// Err returns the recorded errors, or nil.
func (x *Faults) Err() error { return errors.Join(x.list...) }

// Lengths are the lengths that messages may have.
type Lengths struct{ Least, Most, Step int }

// Kind is a kind of workload.
type Kind interface {
	Name() Name
	Traits() Traits
	Transports() []Transport
	Lengths() Lengths
	Options() []Option
	// lacks returns why the kind lacks an option, and what its value must be.
	lacks(o Option) (why, want string)
	validate(f *Fields, bad *Faults)
}

// Limits of fields.
const (
	MaxBytes = 1 << 24 // of a message
	MaxHops  = 1 << 12
	// NumberBytes is the length of the number with which messages begin that have as many bytes.
	NumberBytes = 4
	MaxDepth    = 1 << 12

	// ValueBytes is the length of a node's value, and of a value of a batched READ.
	ValueBytes = 64
	// MaxBatch is the largest number of addresses whose request fits into an MTU of 4,096.
	MaxBatch   = 510
	CounterLen = 8 // bytes of a counter
)

// kinds lists the kinds in the order of the documentation; lookups by READs are variants of those by an engine.
var kinds = []Kind{send{}, write{}, writeImm{}, read{}, atomics{}, echo{}, pingPong{}, reflector{},
	listWalk{lookup{ByEngine}}, batchedRead{lookup{ByEngine}}, ring{}, nop{}, kv{}, chunks{}, vxlan{}}

// byReads lists the kinds that READs of the client can carry out.
var byReads = []Kind{listWalk{lookup{ByReads}}, batchedRead{lookup{ByReads}}}

// Of returns the kind with a name, or nil for an unknown name.
func Of(n Name, by By) Kind {
	list := kinds
	if by == ByReads {
		if i := index(byReads, n); i >= 0 {
			return byReads[i]
		}
	}
	if i := index(list, n); i >= 0 {
		return list[i]
	}
	return nil
}

func index(list []Kind, n Name) int {
	return slices.IndexFunc(list, func(k Kind) bool { return k.Name() == n })
}

// Names lists the kinds for which a condition holds, for errors.
func Names(holds func(Kind) bool) string {
	var list []string
	for _, k := range kinds {
		if holds(k) {
			list = append(list, string(k.Name()))
		}
	}
	return Either(list)
}

// Any holds for every kind.
func Any(Kind) bool { return true }

// Has reports whether a kind has an option.
func Has(k Kind, o Option) bool { return slices.Contains(k.Options(), o) }

// Either joins alternatives.
func Either(list []string) string {
	if n := len(list) - 1; n > 0 {
		return strings.Join(list[:n], ", ") + " or " + list[n]
	}
	return strings.Join(list, "")
}

// Validate reports the fields that a kind does not allow.
func Validate(k Kind, f *Fields) error {
	bad := &Faults{}
	if !slices.Contains(k.Transports(), f.Transport) {
		var over []string
		for _, t := range k.Transports() {
			over = append(over, string(t))
		}
		others := Names(func(o Kind) bool { return slices.Contains(o.Transports(), f.Transport) })
		// of a transport that no kind has, field transport has an error of its own
		bad.Check(others == "", "kind", "%s: %v %s does not support it: want %s, or %v %s", k.Name(),
			field.Path("transport"), f.Transport, others, field.Path("transport"), Either(over))
	}
	for _, o := range f.Set {
		if !Has(k, o) {
			why, want := k.lacks(o)
			bad.Check(false, o, ": kind %s %s: want %s", k.Name(), why, want)
		}
	}
	k.validate(f, bad)
	return bad.Err()
}

// plain has what most kinds have in common.
type plain struct{}

func (plain) Lengths() Lengths          { return Lengths{Most: MaxBytes, Step: 1} }
func (plain) validate(*Fields, *Faults) {}
func (plain) Transports() []Transport   { return []Transport{RC} }
func (plain) Options() []Option         { return []Option{Misuse} }
func (plain) lacks(o Option) (why, want string) {
	x, ok := missing[o]
	if !ok {
		return "does not have it", "false"
	}
	return x.why, x.want
}

// missing says of each option what a kind without it lacks, and the value that it must have.
var missing = map[Option]struct{ why, want string }{
	Inline:        {"sends no bytes inline", "false"},
	Immediate:     {"has no SENDs", "false"},
	Invalidate:    {"invalidates no regions", "false"},
	LowLatency:    {"has no SENDs that a low-latency queue pair could carry", "false"},
	Notice:        {"takes no messages from buffers of receive requests", "completion"},
	SharedReceive: {"takes no receive requests", "false"},
	Head:          {"has no messages that an application reads as they come", "0"},
	CloseEvery:    {"has no WRITEs that immediate data closes", "1"},
	SharedCounter: {"has no counter", "false"},
	Reused:        {"derives answers from received bytes", "fresh"},
	Hops:          {"walks no list", "none"},
	Access:        {"looks nothing up", "engine"},
	RingSpec:      {"has no ring", "kind ring"},
	Misuse:        {"cannot have a wrong request", "none"},
	SizesOption:   {"has messages of lengths of its own", "none"},
	DepthOption:   {"has no answers to wait for", "none"},
	AnswerOption:  {"has no answers whose length could be chosen", "none"},
	KVOption:      {"is no key-value store", "kind kv"},
	ChunksOption:  {"has no chunks of a file", "kind chunks"},
	VXLANOption:   {"has no VXLAN", "kind vxlan"},
}
