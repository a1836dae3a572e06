package rnic

import (
	"errors"
	"fmt"

	"nictwin/models/format/tlp"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// Framing determines the size of packets on the wire.
type Framing string

// Values of Framing. Frames have the format of RoCEv2 in both cases; with InfiniBand they occupy
// the wire for as many bytes as native InfiniBand packets.
const (
	RoCEv2     Framing = "rocev2"     // 82 B a packet with Ethernet's own overhead, ether.WireOverhead
	InfiniBand Framing = "infiniband" // 26 B a packet
)

// Order is the order in which the TLPs of one WRITE packet are written to memory.
type Order string

// Values of Order. Successive packets are written in order in both cases.
const (
	Ascending  Order = "ascending"
	Descending Order = "descending"
)

// Spec configures a NIC. The sources of the defaults are in presets.go.
type Spec struct {
	Ports int          `yaml:"ports"`                 // Ethernet ports
	Freq  simcore.Freq `yaml:",inline"`               // clock for the cycles of crossings; nothing inside depends on it
	Line  simcore.Rate `yaml:"line"`                  // rate of an Ethernet port; zero: as fast as its cable
	Frame Framing      `yaml:"framing"`               // on the wire
	PMTU  int          `yaml:"max_pmtu" unit:"bytes"` // largest PMTU of a queue pair

	Limits [2]tlp.Limits `yaml:"limits"`      // by endpoint (Arm, host): MPS of writes, MRRS of reads
	Place  Order         `yaml:"write_order"` // of the TLPs of a WRITE's packet
	Tags   int           `yaml:"tags"`        // DMA reads in flight

	// Time that a packet occupies the pipeline of its direction: the inverse of the packet rate.
	PacketTime simcore.Ps `yaml:"packet_ps"`
	Contexts   Contexts   `yaml:"contexts"`
	Table      int        `yaml:"packet_table"` // PCIe packets of READ data that the NIC holds
	Latency    Latency    `yaml:"latency"`
	Caches     Caches     `yaml:"caches"`

	Fetch    int `yaml:"fetch"`                  // work or receive entries per DMA read, at most
	Prefetch int `yaml:"prefetch"`               // receive entries a queue holds, or a shared one holds or is reading
	TxBytes  int `yaml:"tx_buffer" unit:"bytes"` // bytes of requests whose payload was requested and that have not left
	RxBytes  int `yaml:"rx_buffer" unit:"bytes"` // most bytes of packets not yet placed; further ones wait on the wire
	OutDepth int `yaml:"tlp_buffer"`             // waiting TLPs at which DMA reads are no longer requested
}

// Contexts configures the contexts that messages occupy. An outgoing request holds one for the time
// Hold. A received one holds one for the time Hold, and then until its bytes are at their
// destination (WRITE) or have been read (READ).
type Contexts struct {
	Endpoint int        `yaml:"endpoint"` // number of contexts that one endpoint has at most
	Reserve  int        `yaml:"reserve"`  // number of an endpoint's contexts that other endpoints cannot take
	Hold     simcore.Ps `yaml:"hold_ps"`
}

// Latency configures latencies that are added to each operation. They are pipelined and occupy no
// context.
type Latency struct {
	Requester simcore.Ps `yaml:"requester_ps"` // from planning a message's first packet to its leaving, besides Hold
	Read      simcore.Ps `yaml:"read_ps"`      // from receipt of a READ to its handling; likewise below
	Write     simcore.Ps `yaml:"write_ps"`
	Send      simcore.Ps `yaml:"send_ps"` // SENDs of connected queue pairs
	Datagram  simcore.Ps `yaml:"datagram_ps"`
	Atomic    simcore.Ps `yaml:"atomic_ps"`
	RC        simcore.Ps `yaml:"rc_ps"` // of requests on an RC queue pair, in addition to their own time
}

// Caches configures the sizes of the caches of queue pairs and of translations. A miss reads
// context memory.
type Caches struct {
	QPs   int `yaml:"qps"`
	Pages int `yaml:"pages"` // pages of memory regions
}

// Validate returns every error of the spec.
func (s Spec) Validate() error {
	var errs []error
	within := func(path field.Path, v, low, high int) {
		if v < low || v > high {
			errs = append(errs, field.Errorf(path, "%d: want %d to %d", v, low, high))
		}
	}
	span := func(path field.Path, v simcore.Ps) {
		if v < 0 || v > simcore.Millisecond {
			errs = append(errs, field.Errorf(path, "%d: want 0 to 1 ms", int64(v)))
		}
	}
	within("ports", s.Ports, 1, 2)
	if r := s.Line; r != (simcore.Rate{}) && (r.Bytes <= 0 || r.Ps <= 0) {
		errs = append(errs, field.Errorf("line", "%d bytes in %v: want both positive, or both 0 for no limit", r.Bytes,
			r.Ps))
	}
	if s.Frame != RoCEv2 && s.Frame != InfiniBand {
		errs = append(errs, field.Errorf("framing", "%q: want %q or %q", s.Frame, RoCEv2, InfiniBand))
	}
	if !ValidPMTU(s.PMTU) {
		errs = append(errs, field.Errorf("max_pmtu", "%d: want 256, 512, 1024, 2048 or 4096", s.PMTU))
	}
	if s.Place != Ascending && s.Place != Descending {
		errs = append(errs, field.Errorf("write_order", "%q: want %q or %q", s.Place, Ascending, Descending))
	}
	for ep := range s.Limits {
		errs = append(errs, field.Under(field.Path(fmt.Sprintf("limits[%d]", ep)), s.Limits[ep].Validate()))
	}
	within("tags", s.Tags, 1, 256)
	span("packet_ps", s.PacketTime)
	within("contexts.endpoint", s.Contexts.Endpoint, 1, 1<<16)
	within("contexts.reserve", s.Contexts.Reserve, 0, s.Contexts.Endpoint)
	span("contexts.hold_ps", s.Contexts.Hold)
	within("packet_table", s.Table, 64, 1<<24)
	l := &s.Latency
	for _, x := range [...]struct {
		path field.Path
		v    simcore.Ps
	}{{"requester_ps", l.Requester}, {"read_ps", l.Read}, {"write_ps", l.Write}, {"send_ps", l.Send},
		{"datagram_ps", l.Datagram}, {"atomic_ps", l.Atomic}, {"rc_ps", l.RC}} {
		span("latency."+x.path, x.v)
	}
	within("caches.qps", s.Caches.QPs, cacheWays, 1<<20)
	within("caches.pages", s.Caches.Pages, cacheWays, 1<<24)
	within("fetch", s.Fetch, 1, 64)
	within("prefetch", s.Prefetch, 1, 1<<rnicspec.MaxLogRing)
	within("tx_buffer", s.TxBytes, 16<<10, 1<<30)
	within("rx_buffer", s.RxBytes, 16<<10, 1<<30)
	within("tlp_buffer", s.OutDepth, 1, 1<<16)
	errs = append(errs, s.Freq.Validate())
	return errors.Join(errs...)
}

// ValidPMTU reports whether n is a valid path MTU (IBTA 9.2).
func ValidPMTU(n int) bool { return n >= 256 && n <= 4096 && n&(n-1) == 0 }
