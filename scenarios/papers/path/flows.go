package path

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/requester"
	"nictwin/scenarios/papers/study"
)

// flow keeps transfers of one kind in flight.
type flow struct {
	name   string
	from   requester.Place
	to     requester.Place
	size   int
	window int        // number of transfers in flight
	every  simcore.Ps // interval at which transfers start, if the window allows it; 0: a transfer starts when one ends
	first  int        // number of transfers that a flow with an interval starts at once; without one it is the window

	meter   *study.Meter
	counted uint64     // bytes of the transfers that ended while the meter counted
	seed    uint64     // of addresses
	phase   simcore.Ps // start of the first transfer
	wake    simcore.Event
	idle    []*requester.Transfer
	r       *rig
	stop    *bool
	err     error
}

// span is the size in bytes of the memory over which a flow's transfers are spread.
const span = 16 << 20

// place returns the network unchanged and, for memory, an address at a random offset within span.
func (f *flow) place(p requester.Place) requester.Place {
	if p.Network {
		return p
	}
	f.seed = f.seed*6364136223846793005 + 1442695040888963407
	p.Addr += (f.seed >> 33) % uint64(span/f.size) * uint64(f.size)
	return p
}

func (f *flow) begin(r *rig, stop *bool, total *study.Meter) {
	f.r, f.stop, f.meter = r, stop, total
	for range f.window {
		t := &requester.Transfer{Data: make([]byte, f.size)}
		pattern(t.Data, 0)
		t.Done = func(t *requester.Transfer, now simcore.Ps) { f.done(t, now) }
		f.idle = append(f.idle, t)
	}
	if f.every == 0 {
		f.first = f.window
	}
	f.wake.H, f.wake.At = f, r.engine.Now()+f.phase
	r.engine.Schedule(&f.wake)
}

func (f *flow) start() {
	t := f.idle[len(f.idle)-1]
	f.idle = f.idle[:len(f.idle)-1]
	t.From, t.To = f.place(f.from), f.place(f.to)
	if err := f.r.nic.Start(t); err != nil && f.err == nil {
		f.err = err
		f.r.engine.Stop()
	}
}

func (f *flow) done(t *requester.Transfer, now simcore.Ps) {
	f.idle = append(f.idle, t)
	if *f.stop {
		return
	}
	if f.meter.Warm() {
		f.counted += uint64(f.size)
	}
	if f.every > 0 {
		return
	}
	if *f.stop = !f.meter.Done(now, f.size); !*f.stop {
		f.start()
	}
}

// Name implements sim.Named.
func (f *flow) Name() string { return f.name }

// flows runs flows side by side until the total rate of those without an interval is known to the required precision.
func flows(s *study.Session, name string, spec rigSpec, roundTrips int, list ...*flow) (study.Estimate, *rig, error) {
	r, err := newRig(spec)
	if err != nil {
		return study.Estimate{}, nil, err
	}
	warm := 0
	for _, f := range list {
		warm += 2 * f.window
	}
	total := s.NewMeterAfter(warm, roundTrips).Doubling(1)
	stop := false
	for i, f := range list {
		stream := fmt.Sprintf("flow %d", i)
		f.seed, f.phase = s.Random(stream).Uint64(), s.Phase(stream, max(f.every, simcore.Microsecond))
		f.begin(r, &stop, total)
	}
	if err := r.finish(); err != nil {
		return study.Estimate{}, r, fmt.Errorf("%s: %w", name, err)
	}
	for _, f := range list {
		if f.err != nil {
			return study.Estimate{}, r, fmt.Errorf("%s: %s: %w", name, f.name, f.err)
		}
	}
	if err := s.Err(); err != nil {
		return study.Estimate{}, r, err
	}
	e := total.Estimate()
	s.Ran(name, e, 1)
	s.Outcome.SimPs += int64(r.engine.Now())
	return e, r, nil
}

// Handle implements sim.Handler: it starts the first transfers or, later, the next one of a flow with an interval.
func (f *flow) Handle(sim.Event) error {
	if *f.stop {
		return nil
	}
	for range min(max(f.first, 1), len(f.idle)) {
		f.start()
	}
	if f.first = 1; f.every > 0 {
		f.wake.At += f.every
		f.r.engine.Schedule(&f.wake)
	}
	return f.err
}
