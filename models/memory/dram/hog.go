package dram

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/field"
	"nictwin/models/sim/quantity"
	"nictwin/models/sim/simcore"
)

const permille = 1000

// HogSpec configures a Hog.
type HogSpec struct {
	Rate     simcore.Rate `yaml:"rate"`           // at which accesses are issued, reads and writes together
	Writes   int          `yaml:"write_permille"` // per thousand accesses
	Bytes    int          `yaml:"access_bytes"`   // per access
	Base     uint64       `yaml:"-"`              // address of the range that it reads, and writes zeros to
	Span     uint64       `yaml:"span_bytes"`     // length of that range
	Random   bool         `yaml:"random"`         // random addresses, seeded by Seed, else consecutive ones
	Seed     uint64       `yaml:"seed"`
	InFlight int          `yaml:"in_flight"` // most accesses in flight; an access due beyond that is counted as missed
	From     simcore.Ps   `yaml:"from_ps"`   // time before which the hog issues nothing, even after Start
	Until    simcore.Ps   `yaml:"until_ps"`  // time after which the hog issues nothing; 0: until Stop
}

// DefaultHogSpec returns a hog that issues as many reads as writes, over 64 MB.
func DefaultHogSpec() HogSpec {
	return HogSpec{Rate: simcore.Gbps(100), Writes: 500, Bytes: 256, Span: 64 << 20, Random: true, InFlight: 256}
}

// Validate returns every error of the spec.
func (s HogSpec) Validate() error {
	var errs []error
	bad := func(path field.Path, got any, want string) {
		errs = append(errs, field.Errorf(path, "%v: want %s", got, want))
	}
	// No DRAM reaches a hundredth of this rate, but also accesses that wait take time to simulate.
	const most = 10_000 // Gbps
	if r := s.Rate; r.Bytes <= 0 || r.Ps <= 0 || r.Bytes > 1<<30 || r.Ps > simcore.Second {
		bad("rate", fmt.Sprintf("%d bytes in %v", r.Bytes, r.Ps), "1 to 2^30 bytes in 1 ps to 1 s")
	} else if float64(r.Bytes)*8000/float64(r.Ps) > most {
		bad("rate", fmt.Sprintf("%d bytes in %v", r.Bytes, r.Ps), fmt.Sprintf("%d Gbps at most", most))
	}
	if s.Writes < 0 || s.Writes > permille {
		bad("write_permille", s.Writes, "0 to 1000")
	}
	if s.Bytes < 1 || s.Bytes > 1<<16 {
		bad("access_bytes", s.Bytes, "1 to 65536")
	} else if s.Span < uint64(s.Bytes) || s.Span > mem.MaxBytes {
		errs = append(errs, field.Against(field.Errorf("span_bytes", "%d: want access_bytes to %d", s.Span,
			uint64(mem.MaxBytes)), "access_bytes"))
	}
	if s.InFlight < 1 || s.InFlight > 1<<16 {
		bad("in_flight", s.InFlight, "1 to 65536")
	}
	if s.From < 0 || s.From > simcore.MaxPs/2 {
		bad("from_ps", quantity.Time(s.From), fmt.Sprintf("0 to %v", quantity.Time(simcore.MaxPs/2)))
	}
	if s.Until < 0 || s.Until != 0 && s.Until < s.From {
		errs = append(errs, field.Against(field.Errorf("until_ps", "%v: want 0 for no end, or %v or more: %v",
			quantity.Time(s.Until), field.Path("from_ps"), quantity.Time(s.From)), "from_ps"))
	}
	return errors.Join(errs...)
}

// Hog loads a memory with its own accesses at a given rate, as other programs would. It is a
// traffic generator beside the other users of the memory.
type Hog struct {
	HogCounters

	name   string
	spec   HogSpec
	sched  simcore.Scheduler
	memory mem.Target
	event  simcore.Event
	armed  bool
	stop   bool
	n      uint64 // number of accesses due so far
	part   int64  // rounding remainder of the access times, in ps/Rate.Bytes
	rng    rand.PCG
	idle   []*mem.Access
	failed error
}

// HogCounters counts a hog's accesses.
type HogCounters struct {
	Issued, Missed uint64 // number of accesses issued, and of those not issued because InFlight were in flight
	Read, Written  uint64 // bytes of completed accesses
}

// NewHog returns a hog that is idle until Start.
func NewHog(name string, s simcore.Scheduler, spec HogSpec, memory mem.Target) (*Hog, error) {
	if err := spec.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := memory.Check(mem.Write, spec.Base, int(spec.Span)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	h := &Hog{name: name, spec: spec, sched: s, memory: memory}
	h.event.H = h
	const stream = 0x686f67 // separates the hog's random addresses from those of other generators with the same seed
	h.rng.Seed(spec.Seed, stream)
	for range spec.InFlight {
		h.idle = append(h.idle, &mem.Access{By: mem.Core, Data: make([]byte, spec.Bytes), Done: h.done})
	}
	return h, nil
}

// Name returns the name used in the engine's errors.
func (h *Hog) Name() string { return h.name }

// Start makes the hog issue accesses from now on, or from HogSpec.From on if that is later.
func (h *Hog) Start() {
	if h.stop = false; !h.armed {
		now := simcore.Now(h.sched)
		h.event.Timer = h.spec.From > now // a load that has not begun is nothing to wait for
		h.arm(max(now, h.spec.From))
	}
}

// StartFrom does what Start does, with the times of the spec counted from an origin, now or later.
func (h *Hog) StartFrom(origin simcore.Ps) {
	h.spec.From += origin
	if h.spec.Until != 0 {
		h.spec.Until += origin
	}
	h.Start()
}

// Stop makes the hog issue no more accesses. Accesses in flight still complete.
func (h *Hog) Stop() { h.stop = true }

func (h *Hog) arm(at simcore.Ps) {
	h.armed, h.event.At = true, at
	h.sched.Schedule(&h.event)
}

// Handle implements sim.Handler: the next access is due.
func (h *Hog) Handle(sim.Event) error {
	h.armed, h.event.Timer = false, false
	now := h.event.At
	if h.failed != nil || h.stop || h.spec.Until != 0 && now > h.spec.Until {
		return h.failed
	}
	h.issue()
	t := int64(h.spec.Bytes)*int64(h.spec.Rate.Ps) + h.part
	h.part = t % h.spec.Rate.Bytes
	h.arm(now + max(1, simcore.Ps(t/h.spec.Rate.Bytes)))
	return nil
}

// issue issues one access, or counts it as missed if InFlight are in flight. Writes are spread
// evenly: access n is a write when n·Writes/1000 reaches a new whole number.
func (h *Hog) issue() {
	h.n++
	last := len(h.idle) - 1
	if last < 0 {
		h.Missed++
		return
	}
	a := h.idle[last]
	h.idle = h.idle[:last]
	h.Issued++
	places := h.spec.Span / uint64(h.spec.Bytes)
	place := h.n % places
	if h.spec.Random {
		place = h.rng.Uint64() % places
	}
	a.Addr, a.Op = h.spec.Base+place*uint64(h.spec.Bytes), mem.Read
	if n := h.n * uint64(h.spec.Writes); n/permille != (n-uint64(h.spec.Writes))/permille {
		a.Op = mem.Write
		clear(a.Data)
	}
	h.memory.Access(a)
}

func (h *Hog) done(a *mem.Access) {
	switch {
	case a.Err != nil:
		h.failed = fmt.Errorf("%s: %w", h.name, a.Err)
	case a.Op == mem.Read:
		h.Read += uint64(len(a.Data))
	default:
		h.Written += uint64(len(a.Data))
	}
	h.idle = append(h.idle, a)
}

var _ sim.Handler = (*Hog)(nil)
