// Package route decides where a PCIe switch sends a TLP: requests by bus address, completions by
// requester ID, messages by their routing (PCIe 2.2.4, 2.2.8, 2.2.9). It is function without time;
// models/fabric/nicswitch moves the TLPs.
//
// Not supported, and treated as a request that no port claims: messages routed by address (their
// headers are not decoded), gathered messages, address translation, multicast.
//
// Invariants:
//   - A TLP is never sent back to the port that it came from.
//   - Ranges of different ports do not overlap, so a TLP has one route.
package route

import (
	"errors"
	"fmt"

	"nictwin/models/format/tlp"
	"nictwin/models/sim/field"
)

// Port describes the addresses and IDs behind one port of the switch.
type Port struct {
	Memory []Range   `yaml:"memory"` // bus addresses
	IDs    []IDRange `yaml:"ids"`    // requester and completer IDs
	Root   bool      `yaml:"root"`   // messages to the root leave by this port; one port at most
}

// Range is a range of bus addresses.
type Range struct {
	From  uint64 `yaml:"from"`
	Bytes uint64 `yaml:"bytes"`
}

func (r Range) last() uint64 { return r.From + r.Bytes - 1 }

// IDRange is a range of IDs, both ends included.
type IDRange struct {
	From uint16 `yaml:"from"`
	To   uint16 `yaml:"to"`
}

// Verdict is the decision on what to do with a TLP.
type Verdict uint8

// Values of Verdict.
const (
	Forward     Verdict = iota // one port claims the TLP: forwarded to that port
	Broadcast                  // a broadcast message: sent to every port except the one where the message entered
	Consume                    // a message that ends at this receiver: the switch ignores it without an error
	Unsupported                // a request that no port claims: answered with UR, or dropped and counted (PCIe 2.3.1)
	Unexpected                 // a completion that no port claims: dropped and counted (PCIe 2.3.2)
	// a vendor-defined message of type 1 that no port claims: dropped silently (PCIe 2.2.8.6)
	Discard
)

func (v Verdict) String() string {
	return [...]string{"forward", "broadcast", "consume", "unsupported request", "unexpected completion", "discard"}[v]
}

// Table routes TLPs between ports.
type Table struct {
	ports  []Port
	ranges []claim
	root   int // index of the port that leads to the root; -1: none
}

// claim is one address or ID range of one port.
type claim struct {
	from, last uint64
	port       int
}

// NewTable returns the routing table of the given ports. The error lists every fault, each a
// field.Error with the path ports[i].
func NewTable(ports []Port) (*Table, error) {
	t := &Table{ports: ports, root: -1}
	var errs []error
	for i := range ports {
		errs = append(errs, t.add(i, field.Path(fmt.Sprintf("ports[%d]", i))))
	}
	return t, errors.Join(errs...)
}

func (t *Table) add(i int, at field.Path) error {
	var errs []error
	p := &t.ports[i]
	for k, r := range p.Memory {
		rangePath := field.Path(fmt.Sprintf("%s.memory[%d]", at, k))
		if r.Bytes == 0 || r.last() < r.From {
			errs = append(errs, field.Errorf(rangePath, "%d bytes from %#x: want 1 or more that do not wrap", r.Bytes,
				r.From))
			continue
		}
		for _, c := range t.ranges {
			if r.From <= c.last && c.from <= r.last() {
				errs = append(errs, field.Errorf(rangePath, "%#x..%#x overlaps %#x..%#x of ports[%d]", r.From, r.last(),
					c.from, c.last, c.port))
			}
		}
		t.ranges = append(t.ranges, claim{r.From, r.last(), i})
	}
	for k, r := range p.IDs {
		rangePath := field.Path(fmt.Sprintf("%s.ids[%d]", at, k))
		if r.To < r.From {
			errs = append(errs, field.Errorf(rangePath, "%#x to %#x: want the lower one first", r.From, r.To))
		}
		for j := range t.ports[:i] {
			for _, o := range t.ports[j].IDs {
				if r.From <= o.To && o.From <= r.To {
					errs = append(errs, field.Errorf(rangePath, "%#x..%#x overlaps %#x..%#x of ports[%d]", r.From, r.To,
						o.From, o.To, j))
				}
			}
		}
	}
	if p.Root && t.root >= 0 {
		errs = append(errs, field.Errorf(at+".root", ": ports[%d] is the root already", t.root))
	} else if p.Root {
		t.root = i
	}
	return errors.Join(errs...)
}

// Route decides about a TLP that arrived at port `in`. For verdict Forward, `out` is the port to send it from, else -1.
func (t *Table) Route(in int, h *tlp.Header) (out int, v Verdict) {
	switch {
	case h.Kind.IsMemory():
		return to(t.byAddress(h.Address), in, Unsupported)
	case h.Kind.IsCompletion():
		return to(t.byID(h.RequesterID), in, Unexpected)
	}
	nobody := Unsupported
	if h.Code == tlp.CodeVendor1 {
		nobody = Discard
	}
	switch h.Routing {
	case tlp.RouteToRoot:
		return to(t.root, in, nobody)
	case tlp.RouteByID:
		return to(t.byID(h.TargetID), in, nobody)
	case tlp.RouteBroadcast:
		if in == t.root {
			return -1, Broadcast
		}
	case tlp.RouteLocal:
		return -1, Consume
	}
	return -1, nobody
}

// to returns Forward to a port. If no port claims the TLP, or only the one where it entered, it
// returns the verdict nobody.
func to(port, in int, nobody Verdict) (int, Verdict) {
	if port < 0 || port == in {
		return -1, nobody
	}
	return port, Forward
}

func (t *Table) byAddress(addr uint64) int {
	for i := range t.ranges {
		if c := &t.ranges[i]; addr >= c.from && addr <= c.last {
			return c.port
		}
	}
	return -1
}

func (t *Table) byID(id uint16) int {
	for i := range t.ports {
		for _, r := range t.ports[i].IDs {
			if id >= r.From && id <= r.To {
				return i
			}
		}
	}
	return -1
}
