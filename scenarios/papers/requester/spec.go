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

// Copies says how writes of transfers from memory to memory go beside those of what the network brings.
type Copies string

// The policies. But for InOrder, reads take turns with writes, too: no write that a read could depend on is still here
// when it is issued.
const (
	InOrder Copies = ""      // as they come, and reads when no write waits
	InTurn  Copies = "turn"  // a TLP of either in turn: an engine beside the NIC
	Yield   Copies = "yield" // while there are no others: loopback, as frames cannot be held back
)

// Spec configures a Requester.
type Spec struct {
	MPS    [Endpoints]int `yaml:"mps"`          // of writes to each endpoint
	MRRS   int            `yaml:"mrrs"`         // of reads
	Tags   int            `yaml:"tags"`         // reads in flight
	Buffer int            `yaml:"buffer_bytes"` // asked for and not passed on
	Ports  int            `yaml:"port_tlps"`    // TLPs that have come and were not taken
	Copies Copies         `yaml:"copies"`       // whose writes go first

	Network `yaml:",inline"`
}

// Network is the wire behind the NIC, with what its packets cost.
type Network struct {
	Rate     simcore.Rate `yaml:"net_rate"`          // of a direction; zero: no network
	Payload  int          `yaml:"net_mtu"`           // bytes of payload a packet
	Header   int          `yaml:"net_header_bytes"`  // of every packet
	Extended int          `yaml:"net_request_bytes"` // more on a request: address, key and length
	Ack      int          `yaml:"net_ack_bytes"`     // more on an acknowledgement or on the first packet of an answer
}

// InfiniBand is the network of the off-path study. Rate: bf2.nic (2 × 100 Gbps). PMTU 1,024 and 26 B of headers (LRH
// 8, BTH 12, ICRC 4, VCRC 2), RETH 16 and AETH 4: the InfiniBand specification's formats; the PMTU is declared
// (assumption).
func InfiniBand() Network {
	return Network{Rate: simcore.Gbps(200), Payload: 1024, Header: 26, Extended: 16, Ack: 4}
}

// RoCEv2 is the same with the headers of RoCEv2: 82 B a packet with preamble and gap.
func RoCEv2() Network {
	n := InfiniBand()
	n.Header = 82
	return n
}

// Default is the NIC of BlueField-2. MPS: bf2.mtu_soc, bf2.mtu_host. MRRS 512 and 256 tags: the most that a read of
// the host may ask for at once without changing its count of completions, and all extended tags (assumption). Buffer:
// 256 KB, several times bandwidth × round trip (assumption).
func Default() Spec {
	return Spec{MPS: [Endpoints]int{128, 512}, MRRS: 512, Tags: 256, Buffer: 256 << 10, Ports: 1024,
		Network: InfiniBand()}
}

// Validate returns every error of the spec, each a field.Error.
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
