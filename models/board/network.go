package board

import (
	"errors"
	"fmt"
	"slices"

	"nictwin/models/fabric/etherlink"
	"nictwin/models/inject"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// validateNetwork checks the network against the cards' ports.
func (s *RackSpec) validateNetwork() error {
	n := &s.Network
	if n.Latency < 0 || n.Latency > 100*simcore.Millisecond {
		return field.Errorf("network.latency_ps", "%d: want 0 to 100 ms", int64(n.Latency))
	}
	if (n.Switch != nil) != (n.Kind == NetworkSwitch) {
		return field.Against(field.Errorf("network.switch", ": want one for kind %s, and else none", NetworkSwitch),
			"network.kind")
	}
	cards := s.cards()
	if err := errors.Join(n.validateFaults(), n.validateInserts(cards)); err != nil {
		return err
	}
	switch n.Kind {
	case NetworkOpen:
		return s.validateBonds()
	case NetworkSwitch:
		return s.validateSwitch(cards)
	case NetworkBackToBack:
	default:
		return field.Errorf("network.kind", "%q: want %s, %s or %s", n.Kind, NetworkOpen, NetworkBackToBack,
			NetworkSwitch)
	}
	if len(cards) != 2 {
		return field.Errorf("network.kind", "%s: there are %d cards: want 2", n.Kind, len(cards))
	}
	if a, b := cards[0].Cables(), cards[1].Cables(); a != b {
		what := "Ethernet ports"
		if cards[0].Bond != nil || cards[1].Bond != nil {
			what = "cables"
		}
		return field.Errorf("network.kind", "%s: the cards have %d and %d %s: want as many", n.Kind, a, b, what)
	}
	return n.validateRules(cards[0].Cables())
}

// validateFaults checks Loss and Faults of the cables. A network may have only one of the two, and none without
// cables.
func (n *NetworkSpec) validateFaults() error {
	if n.Loss != nil {
		if err := n.Loss.Validate(); err != nil {
			return field.Under("network.loss", err)
		}
	}
	if n.Faults != nil {
		if err := n.Faults.Validate(); err != nil {
			return field.Under("network.faults", err)
		}
	}
	switch {
	case n.Loss != nil && n.Faults != nil:
		return field.Errorf("network.loss", ": want none beside %s, whose chances.loss loses frames, too",
			field.Path("network.faults"))
	case n.Loss != nil && n.Kind == NetworkOpen:
		return field.Errorf("network.loss", ": want none: a network of kind %s has no cables", NetworkOpen)
	case n.Faults != nil && n.Kind == NetworkOpen:
		return field.Errorf("network.faults", ": want none: a network of kind %s has no cables", NetworkOpen)
	}
	return nil
}

// validateInserts checks that the ports with an Insert have a cable of their own.
func (n *NetworkSpec) validateInserts(cards []*CardSpec) error {
	for _, x := range n.Inserts {
		switch {
		case n.Kind == NetworkOpen:
			return field.Errorf("network.kind", "%s: its ports have no cables that could carry other traffic", n.Kind)
		case x.Card < 0 || x.Card >= len(cards) || x.Port < 0 || x.Port >= max(cards[x.Card].Ports, 1):
			return field.Errorf("network", ": no card %d with port %d for other traffic", x.Card, x.Port)
		case cards[x.Card].Bond != nil:
			return field.Errorf("network", ": card %s has a bond: want none for other traffic at its port",
				cards[x.Card].Name)
		}
	}
	return nil
}

// inserts reports whether the cable of a card's port adds frames to those that go there.
func (n *NetworkSpec) inserts(card, port int) bool {
	return slices.Contains(n.Inserts, CardPort{card, port})
}

// validateRules checks that the rules of faults name existing cables.
func (n *NetworkSpec) validateRules(cables int) error {
	if n.Faults == nil {
		return nil
	}
	var errs []error
	for i, r := range n.Faults.Rules {
		if r.Cable != nil && *r.Cable >= cables {
			at := field.Path(fmt.Sprintf("network.faults.rules[%d].cable", i))
			errs = append(errs, field.Errorf(at, "%d: want 0 to %d, a cable of the network", *r.Cable, cables-1))
		}
	}
	return errors.Join(errs...)
}

// validateSwitch checks the switch, and the cables to it, against the cards.
func (s *RackSpec) validateSwitch(cards []*CardSpec) error {
	if sw, ports := s.Network.Switch, portsOf(cards); sw.Ports != 0 && sw.Ports < ports {
		return field.Errorf("network.switch.ports", "%d: the cards have %d: want as many or more, or 0 for as many",
			sw.Ports, ports)
	}
	for _, c := range cards {
		if c.Eth.Rate == (simcore.Rate{}) {
			return field.Errorf("network.kind", "%s: card %s has no eth.rate: want one, a port of the switch goes at "+
				"that of its cable", NetworkSwitch, c.Name)
		}
	}
	sw := s.switchSpec(cards)
	return errors.Join(field.Under("network.switch", sw.Validate()), s.Network.validateRules(portsOf(cards)))
}

// switchSpec returns the spec of the network's switch, with its number of ports filled in, and a LAG
// for the ports of each bond.
func (s *RackSpec) switchSpec(cards []*CardSpec) etherlink.Spec {
	sw := *s.Network.Switch
	sw.LAGs = slices.Concat(sw.LAGs, lags(cards))
	if sw.Ports == 0 {
		sw.Ports = portsOf(cards)
	}
	return sw
}

// cards returns the cards of all servers, in order.
func (s *RackSpec) cards() (cards []*CardSpec) {
	for _, v := range s.All() {
		for i := range v.Cards {
			cards = append(cards, &v.Cards[i])
		}
	}
	return cards
}

// portsOf returns the number of cables of all cards: each takes a port of a switch.
func portsOf(cards []*CardSpec) (n int) {
	for _, c := range cards {
		n += c.Cables()
	}
	return n
}

// connect plugs in the cables of the network.
func (r *Rack) connect(e *simcore.Engine, p *Pools, s *RackSpec) error {
	switch s.Network.Kind {
	case NetworkBackToBack:
		return r.connectPair(e, p, s)
	case NetworkSwitch:
		return r.connectSwitch(e, p, s)
	}
	return nil
}

// PairCable returns the spec of each cable of a network of kind back_to_back.
func (s *RackSpec) PairCable() simcore.LinkSpec {
	specs := s.cards()
	cable := joinShares(specs[0].Eth, specs[1].Eth)
	cable.Latency += s.Network.Latency
	return cable
}

// connectPair plugs each port of one card, or each cable of its bond, into the same one of the
// other. A cable's latency is its own plus those that both cards add (CardSpec.Eth); its rate is
// that of the slower card.
func (r *Rack) connectPair(e *simcore.Engine, p *Pools, s *RackSpec) error {
	var ends [2][]outlet
	for i, c := range r.Cards() {
		var err error
		if ends[i], err = r.outlets(e, s.cards()[i], c); err != nil {
			return err
		}
	}
	for i, a := range ends[0] {
		b := ends[1][i]
		c := connection{name: fmt.Sprintf("%s.Cable%d", r.Name, i), a: a.port, b: b.port}
		c.near, c.far = joinShares(a.share, b.share), b.share
		c.near.Latency, c.near.CreditLatency = a.share.Latency, a.share.CreditLatency
		c.inserts = [2]bool{s.Network.inserts(0, i), s.Network.inserts(1, i)}
		if err := r.plug(e, p, &s.Network, c); err != nil {
			return err
		}
	}
	return nil
}

// connection describes a cable to be plugged in. Each end contributes a share of its latency and
// credits: `near` is that of card port a, which also has the cable's rate; `far` is that of the other end, b.
type connection struct {
	name      string
	a, b      *simcore.Port
	near, far simcore.LinkSpec
	inserts   [2]bool // whether frames are added to those that go to the end
}

// PluggedCable is a cable of a rack: its ports and links, for observers, and the decorator that
// drops or corrupts its frames.
type PluggedCable struct {
	Name  string
	Ports [2]*simcore.Port // ports at the ends of the cable: the first belongs to a card or its bond
	Entry [2]*simcore.Link // by end: the first link for frames from it: all of the cable, or the part before Wire
	Wire  *inject.Wire     // applies NetworkSpec.Faults in the middle of the cable; nil: none

	Inserts [2]*inject.Insert // by end: adds frames to those that go there (NetworkSpec.Inserts); nil: none
}

// plug plugs in a cable. Without loss, faults or added frames it is one link with the latencies that both ends
// contribute. Otherwise the decorators sit between two links, and only the link at the card has a rate.
func (r *Rack) plug(e *simcore.Engine, p *Pools, n *NetworkSpec, c connection) error {
	c.far.Latency += n.Latency
	plugged := PluggedCable{Name: c.name, Ports: [2]*simcore.Port{c.a, c.b}}
	between, err := r.newDecorators(e, p, n, &c, &plugged)
	if err != nil {
		return err
	}
	if len(between) == 0 {
		c.near.Latency, c.near.CreditLatency = c.near.Latency+c.far.Latency, c.near.CreditLatency+c.far.CreditLatency
		link, err := cable(c.name, e, c.near, c.a, c.b)
		plugged.Entry = [2]*simcore.Link{link, link}
		r.Cables = append(r.Cables, plugged)
		return err
	}
	c.far.Rate, c.far.OverheadBytes = simcore.Rate{}, 0
	last := len(between) - 1
	if plugged.Entry[1], err = cable(c.name+".Far", e, c.far, between[last].Peer(), c.b); err != nil {
		return err
	}
	for i, x := range between[:last] {
		if _, err := cable(fmt.Sprintf("%s.Middle%d", c.name, i), e, simcore.LinkSpec{}, x.Peer(),
			between[i+1].Device()); err != nil {
			return err
		}
	}
	plugged.Entry[0], err = cable(c.name+".Near", e, c.near, c.a, between[0].Device())
	r.Cables = append(r.Cables, plugged)
	return err
}

// newDecorators makes the decorators in the middle of the next cable, in the order from its first end on.
func (r *Rack) newDecorators(e *simcore.Engine, p *Pools, n *NetworkSpec, c *connection, to *PluggedCable) (
	all []decorator, err error) {
	for end, name := range [...]string{".ToFirst", ".ToSecond"} {
		if !c.inserts[end] {
			continue
		}
		// The link at the first end has the cable's rate; the one at the second end has no rate.
		spec := inject.InsertSpec{To: inject.ToDevice}
		if end == 1 {
			spec = inject.InsertSpec{To: inject.FromDevice, Rate: c.near.Rate, Overhead: c.near.OverheadBytes}
		}
		if to.Inserts[end], err = inject.NewInsert(c.name+name, e, spec, &p.Frames); err != nil {
			return nil, err
		}
	}
	if x := to.Inserts[0]; x != nil {
		all = append(all, x)
	}
	x, err := r.newDecorator(e, p, n, c.name, to)
	if x != nil {
		all = append(all, x)
	}
	if x := to.Inserts[1]; x != nil {
		all = append(all, x)
	}
	return all, err
}

// newDecorator makes the decorator for the frames of the next cable; nil if the network has neither
// loss nor faults.
func (r *Rack) newDecorator(e *simcore.Engine, p *Pools, n *NetworkSpec, name string, c *PluggedCable) (_ decorator,
	err error) {
	switch {
	case n.Loss != nil:
		spec := *n.Loss
		spec.Seed += uint64(len(r.Losses)) // Loss scrambles its seed, so consecutive ones do not correlate
		loss, err := inject.NewLoss(name+".Loss", e, spec, &p.Frames)
		if err != nil {
			return nil, err
		}
		r.Losses = append(r.Losses, loss)
		return loss, nil
	case n.Faults != nil:
		c.Wire, err = inject.NewWire(name+".Faults", e, *n.Faults, len(r.Cables), &p.Frames)
		return c.Wire, err
	}
	return nil, nil
}

// connectSwitch plugs each port of every card, or each cable of its bond, into the next port of the
// switch. All devices get the
// same kind of link, which supports devices that run ahead of the engine (RTL) and loses nothing: a
// frame that the receiver does not take waits, as if the receiver had paused the switch.
func (r *Rack) connectSwitch(e *simcore.Engine, p *Pools, s *RackSpec) (err error) {
	specs := s.cards()
	r.Switch, err = etherlink.Builder{Scheduler: e, Spec: s.switchSpec(specs), Frames: &p.Frames}.Build(r.Name +
		".Switch")
	if err != nil {
		return err
	}
	at := 0
	for i, c := range r.Cards() {
		outlets, err := r.outlets(e, specs[i], c)
		if err != nil {
			return err
		}
		for k, x := range outlets {
			cable := connection{name: fmt.Sprintf("%s.Cable%d", r.Name, at), a: x.port, b: r.Switch.Port(at),
				near: x.share}
			cable.inserts[0] = s.Network.inserts(i, k)
			if s.Network.Loss != nil || s.Network.Faults != nil || cable.inserts[0] {
				cable.far.Credits = x.share.Credits
				r.Switch.Pace(at, x.share, s.Network.Latency)
			}
			if err := r.plug(e, p, &s.Network, cable); err != nil {
				return err
			}
			at++
		}
	}
	return nil
}

// Err returns the first error of the switch, a cable or a card, or nil.
func (r *Rack) Err() error {
	if r.Switch != nil && r.Switch.Err() != nil {
		return r.Switch.Err()
	}
	for _, l := range r.Losses {
		if l.Err() != nil {
			return l.Err()
		}
	}
	for _, c := range r.Cables {
		if c.Wire != nil && c.Wire.Err() != nil {
			return c.Wire.Err()
		}
		for _, x := range c.Inserts {
			if x != nil && x.Err() != nil {
				return x.Err()
			}
		}
	}
	for _, c := range r.Cards() {
		if err := c.Err(); err != nil {
			return fmt.Errorf("card %s: %w", c.Name, err)
		}
	}
	return nil
}

// joinShares returns the link of a cable between two cards, from what each card contributes to it (outlet.share): the
// latencies add up, and the lower rate applies.
func joinShares(a, b simcore.LinkSpec) simcore.LinkSpec {
	c := a
	c.Latency, c.CreditLatency = a.Latency+b.Latency, a.CreditLatency+b.CreditLatency
	if a.Rate == (simcore.Rate{}) || b.Rate != (simcore.Rate{}) &&
		b.Rate.Bytes*int64(a.Rate.Ps) < a.Rate.Bytes*int64(b.Rate.Ps) {
		c.Rate = b.Rate
	}
	c.OverheadBytes = max(a.OverheadBytes, b.OverheadBytes)
	return c
}
