package board

import (
	"errors"
	"fmt"

	"nictwin/models/fabric/etherlink"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// BondSpec makes several cables one link (LAG): each Ethernet port of the NIC leads to that many
// cables, and the hash of a frame's flow selects the cable by which it leaves.
type BondSpec struct {
	Cables int    `yaml:"cables"` // of each port
	Seed   uint64 `yaml:"seed"`   // of the hash; each bond of a rack derives its own
}

// maxBond is the largest number of cables of a bond: LACP's limit on active links.
const maxBond = 8

func (s *BondSpec) validate() error {
	if s.Cables < 2 || s.Cables > maxBond {
		return field.Errorf("cables", "%d: want 2 to %d", s.Cables, maxBond)
	}
	return nil
}

// Cables returns the number of cables of the card: one for each Ethernet port, or as many as the
// bond has for each.
func (s *CardSpec) Cables() int { return max(s.Ports, 1) * s.bonded() }

// bonded returns the number of cables of a port.
func (s *CardSpec) bonded() int {
	if s.Bond == nil {
		return 1
	}
	return s.Bond.Cables
}

// portShare returns rate and latency that the card's spec adds to the link at a port of the NIC. At a bond, this is
// the link between NIC and bond, with the rate of all cables of the bond together.
func (s *CardSpec) portShare() simcore.LinkSpec {
	l := s.Eth
	l.Rate.Bytes *= int64(s.bonded())
	return l
}

// validateBonds refuses bonds in a network of kind open, which has no cables.
func (s *RackSpec) validateBonds() error {
	if s.Network.Kind != NetworkOpen {
		return nil
	}
	var errs []error
	refuse := func(at field.Path, c *CardSpec) {
		if c.Bond != nil {
			err := field.Errorf(at+".bond", ": want none: a network of kind %s has no cables", NetworkOpen)
			errs = append(errs, field.Against(err, "network.kind"))
		}
	}
	for i := range s.Servers {
		for k := range s.Servers[i].Cards {
			refuse(field.Path(fmt.Sprintf("servers[%d].cards[%d]", i, k)), &s.Servers[i].Cards[k])
		}
	}
	if s.Fleet != nil {
		refuse("fleet.card", &s.Fleet.Card)
	}
	return errors.Join(errs...)
}

// outlet is a place for a cable: a port of a NIC, or of a bond at it. share is what the card contributes to the cable's
// link: latency, rate, credits.
type outlet struct {
	port  *simcore.Port
	share simcore.LinkSpec
}

// outlets returns the places for a card's cables, in the order of its ports, and makes its bonds.
func (r *Rack) outlets(e *simcore.Engine, s *CardSpec, c *Card) (all []outlet, err error) {
	for port := range max(s.Ports, 1) {
		if s.Bond == nil {
			all = append(all, outlet{c.NIC.Eth(port), s.Eth})
			continue
		}
		b, err := etherlink.NewBond(fmt.Sprintf("%s.Bond[%d]", c.Name, port), e, s.Bond.Cables,
			s.Bond.Seed+uint64(len(r.Bonds))) // hashed, so that bonds with consecutive seeds do not correlate
		if err != nil {
			return nil, err
		}
		toNIC := s.Eth // MAC, PHY and FEC of the port, without a rate: the cables behind the bond limit it
		toNIC.Rate, toNIC.OverheadBytes = simcore.Rate{}, 0
		if err := Cable(b.Name()+".Link", e, toNIC, c.NIC.Eth(port), b.Host()); err != nil {
			return nil, err
		}
		share := s.Eth
		share.Latency, share.CreditLatency = 0, 0
		for i := range s.Bond.Cables {
			all = append(all, outlet{b.Member(i), share})
		}
		r.Bonds = append(r.Bonds, b)
	}
	return all, nil
}

// lags returns the groups of switch ports that lead to one bond each.
func lags(cards []*CardSpec) (all [][]int) {
	at := 0
	for _, c := range cards {
		for range max(c.Ports, 1) {
			var group []int
			for range c.bonded() {
				group = append(group, at)
				at++
			}
			if c.Bond != nil {
				all = append(all, group)
			}
		}
	}
	return all
}
