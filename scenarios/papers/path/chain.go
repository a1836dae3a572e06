package path

import (
	"encoding/binary"
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/requester"
	"nictwin/scenarios/papers/study"
)

// region is one end of a leg: the network, or a cyclic ring of slots in a memory.
type region struct {
	requester.Place
	slots int
}

// leg is one transfer of a chain.
type leg struct{ from, to region }

// chain moves packets over several legs in sequence, such as into Arm memory and from there to the network, as staged
// transmission does. It checks the bytes at the end of the last leg.
type chain struct {
	name   string
	legs   []leg
	size   int
	window int
	every  simcore.Ps // interval at which packets start, if the window allows it; 0: each starts when one ends
	warm   int        // packets before the meter counts: enough to fill a cache

	phase   simcore.Ps // start of the first packet
	rig     *rig
	meter   *study.Meter // shared by chains that run side by side
	leads   bool         // the meter counts this chain's packets; when it knows the rate, it ends the run
	stop    *bool
	begun   uint64
	moved   uint64 // packets that reached the end
	counted uint64 // packets that reached the end while the meter counted
	idle    []*hop
	wake    simcore.Event
	err     error
}

// hop is a packet on its way along the chain.
type hop struct {
	requester.Transfer
	c   *chain
	seq uint64
	leg int
}

func (c *chain) begin(r *rig, m *study.Meter, stop *bool) error {
	c.rig, c.meter, c.stop, c.wake.H = r, m, stop, c
	if from := c.legs[0].from; !from.Network { // packets start in memory: the application writes them there
		b := make([]byte, c.size)
		for i := range from.slots {
			stamp(b, uint64(i))
			if err := r.card.Memory.Write(from.Addr+uint64(i*c.size), b); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	for range c.window {
		h := &hop{c: c}
		h.Data, h.Done = make([]byte, c.size), h.ended
		c.idle = append(c.idle, h)
	}
	if c.every > 0 {
		c.wake.At = r.engine.Now() + c.phase
		r.engine.Schedule(&c.wake)
		return nil
	}
	for len(c.idle) > 0 {
		c.start()
	}
	return c.err
}

// stamp writes a number into each line of a packet.
func stamp(b []byte, n uint64) {
	for i := 0; i+8 <= len(b); i += mem.LineBytes {
		binary.LittleEndian.PutUint64(b[i:], n)
	}
}

// stamped returns the number that packet seq carries in its lines. Packets that start in a ring in memory repeat in
// every lap of it.
func (c *chain) stamped(seq uint64) uint64 {
	if from := c.legs[0].from; !from.Network {
		return seq % uint64(from.slots)
	}
	return seq
}

func (c *chain) start() {
	h := c.idle[len(c.idle)-1]
	c.idle = c.idle[:len(c.idle)-1]
	h.seq, h.leg = c.begun, 0
	c.begun++
	stamp(h.Data, c.stamped(h.seq))
	h.next()
}

func (c *chain) fail(err error) {
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("%s: %w", c.name, err)
		c.rig.engine.Stop()
	}
}

// next starts the transfer of the packet's current leg.
func (h *hop) next() {
	l := h.c.legs[h.leg]
	at := func(g region) requester.Place {
		if !g.Network {
			g.Addr += h.seq % uint64(g.slots) * uint64(h.c.size)
		}
		return g.Place
	}
	h.From, h.To = at(l.from), at(l.to)
	if !h.From.Network {
		clear(h.Data) // the transfer fills it with the bytes of memory
	}
	h.c.fail(h.c.rig.nic.Start(&h.Transfer))
}

// ended starts the packet's next leg or, after the last, checks and counts the packet.
func (h *hop) ended(_ *requester.Transfer, now simcore.Ps) {
	c := h.c
	if h.leg++; h.leg < len(c.legs) {
		h.next()
		return
	}
	for i, want := 0, c.stamped(h.seq); i+8 <= len(h.Data); i += mem.LineBytes {
		if got := binary.LittleEndian.Uint64(h.Data[i:]); got != want {
			c.fail(fmt.Errorf("packet %d, line %d: its bytes are those of %d, want %d", h.seq, i/mem.LineBytes, got,
				want))
			return
		}
	}
	c.moved++
	c.idle = append(c.idle, h)
	if *c.stop {
		return
	}
	if c.leads && !c.meter.Done(now, c.size) {
		*c.stop = true
		return
	}
	if c.meter.Warm() {
		c.counted++
	}
	if c.every == 0 {
		c.start()
	}
}

// Handle implements sim.Handler: the next packet is due.
func (c *chain) Handle(sim.Event) error {
	if *c.stop {
		return nil
	}
	if len(c.idle) > 0 {
		c.start()
	}
	c.wake.At += c.every
	c.rig.engine.Schedule(&c.wake)
	return c.err
}

// Name implements sim.Named.
func (c *chain) Name() string { return c.name }

// chains runs chains side by side until the rate of the first is known to the required precision.
func chains(s *study.Session, name string, spec rigSpec, roundTrips int, scale float64, list ...*chain) (study.Estimate,
	*rig, error) {
	fail := func(r *rig, err error) (study.Estimate, *rig, error) {
		return study.Estimate{}, r, fmt.Errorf("%s: %w", name, err)
	}
	r, err := newRig(spec)
	if err != nil {
		return fail(nil, err)
	}
	lead := list[0]
	lead.leads = true
	m, stop := s.NewMeterAfter(lead.warm+lead.window, roundTrips), false
	for _, c := range list {
		c.phase = s.Phase(c.name, c.every)
		if err := c.begin(r, m, &stop); err != nil {
			return fail(r, err)
		}
	}
	if err := r.finish(); err != nil {
		return fail(r, err)
	}
	for _, c := range list {
		if c.err != nil {
			return fail(r, c.err)
		}
	}
	if err := s.Err(); err != nil {
		return fail(r, err)
	}
	e := m.Estimate()
	s.Ran(name, e, scale)
	s.Outcome.SimPs += int64(r.engine.Now())
	return e, r, nil
}
