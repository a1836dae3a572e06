package board

import (
	"fmt"

	"nictwin/models/etherlink"
	"nictwin/models/field"
	"nictwin/models/simcore"
)

// validateNetwork holds the network to the ports that there are.
func (s *RackSpec) validateNetwork() error {
	n := &s.Network
	if n.Latency < 0 || n.Latency > simcore.Millisecond {
		return field.Errorf("network.latency_ps", "%d: want 0 to 1 ms", int64(n.Latency))
	}
	if (n.Switch != nil) != (n.Kind == NetworkSwitch) {
		return field.Errorf("network.switch", ": want one for kind %s, and else none", NetworkSwitch)
	}
	cards := s.cards()
	switch n.Kind {
	case NetworkOpen:
		return nil
	case NetworkSwitch:
		return s.validateSwitch(cards)
	case NetworkBackToBack:
	default:
		return field.Errorf("network.kind", "%q: want %s, %s or %s", n.Kind, NetworkOpen, NetworkBackToBack, NetworkSwitch)
	}
	if len(cards) != 2 {
		return field.Errorf("network.kind", "%s: there are %d cards: want 2", n.Kind, len(cards))
	}
	if a, b := max(cards[0].Ports, 1), max(cards[1].Ports, 1); a != b {
		return field.Errorf("network.kind", "%s: the cards have %d and %d Ethernet ports: want as many", n.Kind, a, b)
	}
	return nil
}

// validateSwitch holds the switch, and the cables to it, to the cards.
func (s *RackSpec) validateSwitch(cards []*CardSpec) error {
	if sw, ports := s.Network.Switch, portsOf(cards); sw.Ports != 0 && sw.Ports < ports {
		return field.Errorf("network.switch.ports", "%d: the cards have %d: want as many or more, or 0 for as many", sw.Ports, ports)
	}
	for _, c := range cards {
		if c.Eth.Rate == (simcore.Rate{}) {
			return field.Errorf("network.kind", "%s: card %s has no eth.rate: want one, a port of the switch goes at that of its cable", NetworkSwitch, c.Name)
		}
	}
	sw := s.switchSpec(cards)
	return field.Under("network.switch", sw.Validate())
}

// switchSpec is that of the network's switch, with its ports.
func (s *RackSpec) switchSpec(cards []*CardSpec) etherlink.Spec {
	sw := *s.Network.Switch
	if sw.Ports == 0 {
		sw.Ports = portsOf(cards)
	}
	return sw
}

// cards are those of all servers, in their order.
func (s *RackSpec) cards() (cards []*CardSpec) {
	for _, v := range s.All() {
		for i := range v.Cards {
			cards = append(cards, &v.Cards[i])
		}
	}
	return cards
}

func portsOf(cards []*CardSpec) (n int) {
	for _, c := range cards {
		n += max(c.Ports, 1)
	}
	return n
}

// connect plugs cables in.
func (r *Rack) connect(e *simcore.Engine, p *Pools, s *RackSpec) error {
	switch s.Network.Kind {
	case NetworkBackToBack:
		return r.connectPair(e, s)
	case NetworkSwitch:
		return r.connectSwitch(e, p, s)
	}
	return nil
}

// PairCable is the cable of a network of kind back_to_back.
func (s *RackSpec) PairCable() simcore.LinkSpec {
	specs := s.cards()
	cable := between(specs[0].Eth, specs[1].Eth)
	cable.Latency += s.Network.Latency
	return cable
}

// connectPair plugs each port of one card into that of the other. A cable takes the time of what either card has of it, and
// is as fast as the slower.
func (r *Rack) connectPair(e *simcore.Engine, s *RackSpec) error {
	specs, cards := s.cards(), r.Cards()
	for port := range max(specs[0].Ports, 1) {
		if err := Cable(fmt.Sprintf("%s.Cable%d", r.Name, port), e, s.PairCable(), cards[0].NIC.Eth(port), cards[1].NIC.Eth(port)); err != nil {
			return err
		}
	}
	return nil
}

// connectSwitch plugs each port of every card into one of the switch, by the same kind of link whatever stands in the slot:
// one that devices can hang on which run ahead of the engine (RTL). It loses nothing: what its receiver does not take waits,
// as if the switch were told to stop.
func (r *Rack) connectSwitch(e *simcore.Engine, p *Pools, s *RackSpec) (err error) {
	specs := s.cards()
	r.Switch, err = etherlink.Builder{Scheduler: e, Spec: s.switchSpec(specs), Frames: &p.Frames}.Build(r.Name + ".Switch")
	if err != nil {
		return err
	}
	at := 0
	for i, c := range r.Cards() {
		cable := specs[i].Eth
		cable.Latency += s.Network.Latency
		for port := range max(specs[i].Ports, 1) {
			if err := Cable(fmt.Sprintf("%s.Cable%d", r.Name, at), e, cable, c.NIC.Eth(port), r.Switch.Port(at)); err != nil {
				return err
			}
			at++
		}
	}
	return nil
}

// Err is what the switch or a card could not make sense of, or nil.
func (r *Rack) Err() error {
	if r.Switch != nil && r.Switch.Err() != nil {
		return r.Switch.Err()
	}
	for _, c := range r.Cards() {
		if err := c.Err(); err != nil {
			return fmt.Errorf("card %s: %w", c.Name, err)
		}
	}
	return nil
}

// between is the cable of two cards' shares.
func between(a, b simcore.LinkSpec) simcore.LinkSpec {
	c := a
	c.Latency, c.CreditLatency = a.Latency+b.Latency, a.CreditLatency+b.CreditLatency
	if a.Rate == (simcore.Rate{}) || b.Rate != (simcore.Rate{}) && b.Rate.Bytes*int64(a.Rate.Ps) < a.Rate.Bytes*int64(b.Rate.Ps) {
		c.Rate = b.Rate
	}
	c.OverheadBytes = max(a.OverheadBytes, b.OverheadBytes)
	return c
}
