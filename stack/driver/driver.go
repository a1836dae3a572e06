package driver

import (
	"errors"
	"fmt"
	"strings"

	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/fifo"
)

// Options are a driver's assumptions about the NIC and its memory.
type Options struct {
	// Build holds the sizes and parts of the NIC. Probe reads it from the NIC instead.
	Build nicspec.Build

	// Memory is the memory that the driver may allocate, by endpoint.
	Memory [nicspec.EndpointHost + 1]Range

	// ReadsMayFail, if set, reports whether reads of the NIC are being made to fail on purpose. Otherwise an Event
	// without a handler is a breach of the contract.
	ReadsMayFail func() bool

	// MaxPolls limits the number of reads when polling a register.
	MaxPolls int
}

// Range is a range of an endpoint's memory.
type Range struct{ From, Bytes uint64 }

// DefaultOptions returns options for the default build and 1 GB of memory at each endpoint, without the first megabyte.
func DefaultOptions() Options {
	const low, all = 1 << 20, 1 << 30
	r := Range{low, all - low}
	return Options{Build: nicspec.DefaultBuild(), Memory: [...]Range{r, r}, MaxPolls: 10_000}
}

// Validate returns every error of the options.
func (o *Options) Validate() error {
	errs := []error{o.Build.Validate()}
	for ep, r := range o.Memory {
		if end := r.From + r.Bytes; end < r.From || end > 1<<nicspec.EndpointShift {
			errs = append(errs, fmt.Errorf("memory of endpoint %d: %d bytes from %#x on: want an end of 2^%d at most",
				ep, r.Bytes, r.From, nicspec.EndpointShift))
		}
	}
	if o.MaxPolls < 1 {
		errs = append(errs, fmt.Errorf("max polls is %d: want 1 or more", o.MaxPolls))
	}
	return errors.Join(errs...)
}

// Driver drives one NIC. It carries out commands one after the other; queues work beside them.
type Driver struct {
	bus    Bus
	opts   Options
	arenas [nicspec.EndpointHost + 1]*Arena
	err    error

	commands fifo.Queue[command]
	begun    uint64
	running  bool // runCommands is on the stack
	waiting  bool // the current command waits for its answer
	word     [4]byte

	rx, tx map[int]*Queue // open queues, by number
	uses   Uses
	keys   map[int]KeySpec // memory keys as last set, by index
}

// New returns a driver that accesses its NIC through bus.
func New(bus Bus, o Options) (*Driver, error) {
	if bus == nil {
		return nil, errors.New("driver: no bus: want one that reaches a NIC")
	}
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("driver: %w", err)
	}
	d := &Driver{bus: bus, opts: o, rx: map[int]*Queue{}, tx: map[int]*Queue{},
		keys: map[int]KeySpec{}}
	for ep, r := range o.Memory {
		d.arenas[ep] = NewArena(uint64(ep)<<nicspec.EndpointShift|r.From, r.Bytes)
		d.arenas[ep].uses = &d.uses
	}
	return d, nil
}

// Err returns the first error that no call has returned, or nil. After an error no more commands are carried out.
func (d *Driver) Err() error { return d.err }

// Build returns the sizes and parts that the driver assumes.
func (d *Driver) Build() nicspec.Build { return d.opts.Build }

// Uses returns the uses of the driver's memory.
func (d *Driver) Uses() *Uses { return &d.uses }

// Posted sums the entries of receive and transmit queues that are not known to have ended.
func (d *Driver) Posted() (rx, tx int) {
	for _, q := range d.rx {
		rx += q.Posted()
	}
	for _, q := range d.tx {
		tx += q.Posted()
	}
	return rx, tx
}

// Within returns an arena of n bytes at a bus address, which the driver has allocated.
func (d *Driver) Within(from, n uint64) *Arena {
	a := NewArena(from, n)
	a.uses = &d.uses
	return a
}

// Alloc allocates n bytes of an endpoint's memory at a multiple of align (a power of two), and returns the bus address.
func (d *Driver) Alloc(endpoint int, n, align uint64) (uint64, error) {
	a, err := d.arena(endpoint)
	if err != nil {
		return 0, err
	}
	at, err := a.Alloc(n, align)
	if room, ok := errors.AsType[*RoomError](err); ok {
		room.Endpoint = endpoint
	}
	return at, err
}

// AllocBuffers allocates memory for packets as Alloc does, and marks it as payload, as headers of raw frames are, too.
func (d *Driver) AllocBuffers(endpoint int, n, align uint64) (uint64, error) {
	at, err := d.Alloc(endpoint, n, align)
	if err == nil {
		d.uses.Mark(at, n, UsePayload)
	}
	return at, err
}

// Free frees memory that Alloc returned.
func (d *Driver) Free(addr uint64) error {
	a, err := d.arena(int(addr >> nicspec.EndpointShift))
	if err != nil {
		return err
	}
	return a.Free(addr)
}

func (d *Driver) arena(endpoint int) (*Arena, error) {
	if endpoint < 0 || endpoint >= len(d.arenas) {
		return nil, fmt.Errorf("driver: endpoint %d has no memory: want %d (Arm) or %d (host)", endpoint,
			nicspec.EndpointArm, nicspec.EndpointHost)
	}
	return d.arenas[endpoint], nil
}

// breach ends the driver because the device broke a rule of the contract.
func (d *Driver) breach(rule, format string, a ...any) { d.check(boundary.Breach(rule, format, a...)) }

// check ends the driver if err is not nil.
func (d *Driver) check(err error) {
	const name = "driver: "
	if err != nil && d.err == nil {
		d.err = err
		if !strings.HasPrefix(err.Error(), name) {
			d.err = fmt.Errorf(name+"%w", err)
		}
	}
}

// needPart returns an error if the NIC lacks a part.
func (d *Driver) needPart(part nicspec.Cap1Reg, what, name string) error {
	if d.opts.Build.Has(part) {
		return nil
	}
	return fmt.Errorf("driver: %s: want a NIC with part %s, which this one lacks [N1]", what, name)
}

// checkIndex returns an error if an index is not below a size of the build.
func checkIndex(what string, index, size int) error {
	if index >= 0 && index < size {
		return nil
	}
	return fmt.Errorf("driver: %s %d: want 0 to %d", what, index, size-1)
}
