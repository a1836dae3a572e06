package etherlink

import (
	"errors"

	"nictwin/models/format/ether"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// LinkSpec configures a cable together with the MACs and PHYs at its ends.
type LinkSpec struct {
	Mbps int64 `yaml:"mbps"` // on the wire, with preamble, FCS and gap

	// The link's latency is the sum of these. MAC, PHY and FEC cover both ends together; they are
	// zero where the devices at the ends include them in their own latency.
	Propagation simcore.Ps `yaml:"propagation_ps"`
	MAC         simcore.Ps `yaml:"mac_ps"`
	PHY         simcore.Ps `yaml:"phy_ps"`
	FEC         simcore.Ps `yaml:"fec_ps"`

	Backlog int     `yaml:"backlog_bytes"` // most bytes that wait before the wire
	Loss    float64 `yaml:"loss"`          // probability that a frame is lost: FCS errors
	Seed    uint64  `yaml:"seed"`          // of the losses
}

// DefaultLink returns a short cable at 200 Gbps.
//
// Sources: Mbps, bf3.ports (200 Gbps a port). Propagation: 10 ns, 2 m at 5 ns/m, so that two cables and a switch take
// 0.11 µs (assumption). MAC, PHY, FEC: 0, they are part of the NIC's latency. Backlog: 16 KiB, a frame of 9,216 B
// that is leaving and most of the next (assumption). Loss: none.
func DefaultLink() LinkSpec {
	return LinkSpec{Mbps: 200_000, Propagation: 10 * simcore.Nanosecond, Backlog: 16 << 10}
}

// Rate returns the rate on the wire.
func (s *LinkSpec) Rate() simcore.Rate {
	return simcore.Rate{Bytes: s.Mbps, Ps: 8 * simcore.Microsecond}
}

// Latency returns the time from the last bit sent to the last bit received.
func (s *LinkSpec) Latency() simcore.Ps { return s.Propagation + s.MAC + s.PHY + s.FEC }

// Plain returns a simcore.Link's spec with the same rate and latency, for devices that run ahead of
// the engine. credits bounds the frames in flight.
func (s *LinkSpec) Plain(credits int) simcore.LinkSpec {
	return simcore.LinkSpec{
		Latency: s.Latency(), Rate: s.Rate(), OverheadBytes: ether.WireOverhead, Credits: credits,
		CreditLatency: s.Latency(),
	}
}

// Validate returns every error of the spec, each a field.Error.
func (s *LinkSpec) Validate() error {
	var errs []error
	bad := func(ok bool, path field.Path, got any, want string) {
		if !ok {
			errs = append(errs, field.Errorf(path, "%v: want %s", got, want))
		}
	}
	const fastest = 1 << 30
	bad(s.Mbps >= 1 && s.Mbps <= fastest, "mbps", s.Mbps, "1 to 2^30")
	for _, p := range [...]struct {
		path field.Path
		ps   simcore.Ps
	}{{"propagation_ps", s.Propagation}, {"mac_ps", s.MAC}, {"phy_ps", s.PHY}, {"fec_ps", s.FEC}} {
		bad(p.ps >= 0 && p.ps <= simcore.Second, p.path, int64(p.ps), "0 to 1 s")
	}
	bad(s.Backlog >= 0 && s.Backlog <= 1<<24, "backlog_bytes", s.Backlog, "0 to 2^24")
	bad(s.Loss >= 0 && s.Loss < 1, "loss", s.Loss, "a probability from 0 to less than 1")
	return errors.Join(errs...)
}
