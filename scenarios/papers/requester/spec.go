package requester

import (
	"errors"
	"fmt"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// Endpoints are the memories that a card has: Arm and host.
const Endpoints = nicspec.EndpointHost + 1

// Copies selects how memory-to-memory transfers share the port with writes from the network.
type Copies string

// Policies of sharing the port. Except with InOrder, reads and writes take turns, so a read may pass queued writes.
// Whatever the policy, a transfer that reads what an earlier one writes starts when all writes of the earlier one have
// left.
const (
	InOrder Copies = ""      // in order of arrival; reads only when no write waits
	InTurn  Copies = "turn"  // writes of copies and of frames take turns by TLP, as with a copy engine beside the NIC
	Yield   Copies = "yield" // a copy writes only while no frame waits; as in loopback, frames cannot be held back
)

// Spec configures a Requester.
type Spec struct {
	MPS    [Endpoints]int `yaml:"mps"`          // for writes to each endpoint
	MRRS   int            `yaml:"mrrs"`         // for reads
	Tags   int            `yaml:"tags"`         // reads in flight
	Buffer int            `yaml:"buffer_bytes"` // bytes requested and not passed on yet
	Ports  int            `yaml:"port_tlps"`    // TLPs that have arrived and were not taken yet
	Copies Copies         `yaml:"copies"`       // whose writes go first: of frames or of copies

	Network `yaml:",inline"`
}

// Network is the wire behind the NIC, with the overheads of its packets.
type Network struct {
	Rate     simcore.Rate `yaml:"net_rate"`          // rate in each direction; zero: no network
	Payload  int          `yaml:"net_mtu"`           // bytes of payload per packet
	Header   int          `yaml:"net_header_bytes"`  // per packet
	Extended int          `yaml:"net_request_bytes"` // additional bytes of a request: address, key and length
	Ack      int          `yaml:"net_ack_bytes"`     // additional bytes of an acknowledgement or first answer packet
}

// InfiniBand returns the network of the off-path study. The rate is bf2.nic (2 × 100 Gbps). Headers follow the
// InfiniBand specification: 26 B per packet (LRH 8, BTH 12, ICRC 4, VCRC 2), RETH 16 and AETH 4. The PMTU of 1,024 is
// an assumption.
func InfiniBand() Network {
	return Network{Rate: simcore.Gbps(200), Payload: 1024, Header: 26, Extended: 16, Ack: 4}
}

// RoCEv2 returns the network InfiniBand, but with RoCEv2 headers: 82 B per packet, preamble and gap included.
func RoCEv2() Network {
	n := InfiniBand()
	n.Header = 82
	return n
}

// Default returns the NIC of BlueField-2. The MPS are bf2.mtu_soc and bf2.mtu_host. Assumptions: MRRS 512, the longest
// read that the host, with its MPS, answers by one completion; 256 tags, all that extended tags allow; and a buffer
// of 256 KB, several times bandwidth × round trip.
func Default() Spec {
	return Spec{MPS: [Endpoints]int{128, 512}, MRRS: 512, Tags: 256, Buffer: 256 << 10, Ports: 1024,
		Network: InfiniBand()}
}

// Validate returns all errors of the spec, each a field.Error.
func (s *Spec) Validate() error {
	var errs []error
	bad := func(ok bool, path field.Path, got any, want string) {
		if !ok {
			errs = append(errs, field.Errorf(path, "%v: want %s", got, want))
		}
	}
	legal := func(mps, mrrs int) bool { return (tlp.Limits{MPS: mps, MRRS: mrrs, RCB: 64}).Validate() == nil }
	const sizes = "128, 256, 512, 1024, 2048 or 4096"
	for i, n := range s.MPS {
		bad(legal(n, 128), field.Path(fmt.Sprintf("mps[%d]", i)), n, sizes)
	}
	bad(legal(128, s.MRRS), "mrrs", s.MRRS, sizes)
	bad(s.Tags >= 1 && s.Tags <= 256, "tags", s.Tags, "1 to 256")
	bad(s.Buffer >= tlp.PageBytes && s.Buffer <= 1<<30, "buffer_bytes", s.Buffer, "4096 to 2^30")
	bad(s.Ports >= 1 && s.Ports <= 1<<16, "port_tlps", s.Ports, "1 to 2^16")
	bad(s.Copies == InOrder || s.Copies == InTurn || s.Copies == Yield, "copies", fmt.Sprintf("%q", string(s.Copies)),
		"turn, yield, or none for the order in which they come")
	if n := s.Network; n != (Network{}) {
		bad(n.Rate.Bytes > 0 && n.Rate.Ps > 0, "net_rate", n.Rate, "a rate, or no network at all")
		bad(n.Payload >= 1 && n.Payload <= 1<<16, "net_mtu", n.Payload, "1 to 2^16")
		bad(n.Header >= 0 && n.Extended >= 0 && n.Ack >= 0, "net_header_bytes", n.Header,
			"0 or more, as the bytes of requests and acknowledgements")
	}
	return errors.Join(errs...)
}
