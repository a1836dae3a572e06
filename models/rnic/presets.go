package rnic

import (
	"fmt"
	"slices"

	"nictwin/models/format/tlp"
	"nictwin/models/sim/simcore"
)

// Sources of the numbers. "OP" is the off-path study; ids are those of the papers' parameters and claims.
//
//	packet_ps      OP §2.1: a ConnectX-6 handles 195 M packets/s (offpath.bg.nic_core_mpps); for ConnectX-4, -5 and -7,
//	               the rate is assumed to be proportional to the line rate
//	contexts       Hold = 350 ns: assumption; 300 to 400 ns would do. Endpoint = 176 M/s × Hold: by claim
//	               offpath.c12.sum_alone, the rates of two endpoints, each alone, sum to 352 M/s. Reserve =
//	               19 M/s × Hold: by claim offpath.c12.concurrent, both at once reach 195 M/s, 19 M/s more than
//	               176. Both claims thereby become anchors, and are not scored
//	packet_table   72 k entries, so that READs of more than 9 MB do not fit at 128 B a packet: the size at which READs
//	               collapse by offpath.p2.large_read_collapse, an anchor. What happens to such READs is a
//	               hypothesis. It has no other parameter
//	latency        added to the simulated latency of each operation. Each testbed's experiments have an anchor for each
//	               operation; the values here are assumed, so that a small READ takes 2 µs
//	               (offpath.bg.rdma_latency)
//	latency.rc_ps  BlueField-2 only: 0.05 µs. This is the anchor offpath.p1.abs_write (0.4 µs) without the latency of
//	               the links, there and back
//	line           offpath.hw.cli_pcie (ConnectX-4: 100 Gbps), offpath.hw.nic (BlueField-2: 2 × 100); the others by
//	               their data sheets: ConnectX-5 100, ConnectX-6 200, ConnectX-7 400 Gbps
//	framing, pmtu  OP ran InfiniBand at a path MTU of 1,024 (declared); RoCEv2 shows the sensitivity to that
//	limits         MPS: offpath.hw.mtu, 512 to the host and 128 to the Arm. MRRS 512, RCB 64: assumption
//	tags, buffers, caches, fetch sizes: assumptions. 256 tags of 512 B cover 500 Gbps × 2 µs; caches so large that the
//	               10 GB of OP in huge pages always hit
const (
	hold       = 350 * simcore.Nanosecond
	aloneMpps  = 176
	restMpps   = 19
	coreMpps   = 195
	psPerMicro = 1_000_000
	tablePkts  = 72 << 10
)

// PresetNames lists the names that Preset takes.
var PresetNames = []string{"connectx4", "connectx5", "connectx6", "connectx7", "bluefield2"}

// DefaultSpec returns the spec of a ConnectX-6.
func DefaultSpec() Spec {
	limits := tlp.Limits{MPS: 512, MRRS: 512, RCB: 64}
	arm := limits
	arm.MPS = 128
	return Spec{
		Ports: 1, Line: simcore.Gbps(200), Frame: InfiniBand, PMTU: 4096,
		Limits: [2]tlp.Limits{arm, limits}, Place: Ascending, Tags: 256,
		PacketTime: psPerMicro / coreMpps,
		Contexts:   Contexts{Endpoint: contextsFor(aloneMpps), Reserve: contextsFor(restMpps), Hold: hold},
		Table:      tablePkts,
		Latency: Latency{
			Requester: 100 * simcore.Nanosecond, Read: 100 * simcore.Nanosecond, Write: 100 * simcore.Nanosecond,
			Send: 100 * simcore.Nanosecond, Datagram: 100 * simcore.Nanosecond, Atomic: 100 * simcore.Nanosecond,
		},
		Caches: Caches{QPs: 4096, Pages: 16384},
		Fetch:  8, Prefetch: 64, TxBytes: 128 << 10, RxBytes: 256 << 10, OutDepth: 64,
	}
}

// contextsFor returns the number of contexts that sustain a rate, in millions of messages per second, if each message
// occupies one for the time `hold`.
func contextsFor(mpps int) int { return (mpps*int(hold) + psPerMicro/2) / psPerMicro }

// Preset returns the spec of a NIC by its name.
func Preset(name string) (Spec, error) {
	s := DefaultSpec()
	scale := func(gbps int64) {
		s.Line = simcore.Gbps(gbps)
		s.PacketTime = simcore.Ps(psPerMicro * 200 / (coreMpps * gbps))
	}
	switch name {
	case "connectx4", "connectx5":
		scale(100)
	case "connectx6":
	case "connectx7":
		scale(400)
	case "bluefield2":
		s.Ports, s.Line = 2, simcore.Gbps(100)
		s.Latency.RC = 50 * simcore.Nanosecond
	default:
		return Spec{}, fmt.Errorf("rnic: preset is %q: want one of %q", name, slices.Clone(PresetNames))
	}
	return s, nil
}
