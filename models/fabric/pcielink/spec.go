package pcielink

import (
	"errors"
	"fmt"

	"nictwin/models/format/tlp"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// Spec configures a link. Ends and Credits are by end: 0 is Connect's first port, which faces the
// switch or the root; 1 is the other one.
type Spec struct {
	Generation int        `yaml:"generation"` // 3, 4 or 5
	Width      int        `yaml:"width"`      // lanes: 1, 2, 4, 8 or 16
	Gbps       int64      `yaml:"gbps"`       // of each direction, with 16 lanes; 0: the generation's rate
	Latency    simcore.Ps `yaml:"latency_ps"` // of each direction, after the last byte; returned credits take as long

	Ends    [2]tlp.Limits `yaml:"ends"`    // configuration of each end
	Credits [2]Credits    `yaml:"credits"` // what each end's receiver advertises
	Buffer  Buffer        `yaml:"buffer"`  // of each transmitter

	Overhead `yaml:",inline"`
	DLLP     DLLP `yaml:"dllp"`
}

// Overhead is the wire bytes of a TLP in addition to its payload.
type Overhead struct {
	Framing int `yaml:"framing_bytes"` // sequence number, start token, LCRC
	// minimum of a request's header, in bytes; 0: as encoded, 12 or 16
	RequestHeader int `yaml:"request_header_bytes"`
}

// DefaultOverhead returns the overhead of Default.
func DefaultOverhead() Overhead { return Overhead{Framing: 8, RequestHeader: tlp.HeaderBytes} }

// WireBytes returns the wire bytes of a TLP with the given bytes of payload.
func (o *Overhead) WireBytes(h *tlp.Header, payload int) int {
	header := h.SizeDW() * tlp.DWBytes
	if !h.Kind.IsCompletion() {
		header = max(header, o.RequestHeader)
	}
	return o.Framing + header + payload
}

// Validate returns every error, each a field.Error.
func (o *Overhead) Validate() error {
	v := checker{}
	v.check(o.Framing >= 0 && o.Framing <= 64, "framing_bytes", o.Framing, "0 to 64")
	v.check(o.RequestHeader == 0 || o.RequestHeader == 12 || o.RequestHeader == 16, "request_header_bytes",
		o.RequestHeader, "0, 12 or 16")
	return errors.Join(v.errs...)
}

// Credits are advertised by a receiver (PCIe 2.6.1): headers, and data in units of 16 bytes. 0 is infinite, as in the
// standard.
type Credits struct {
	PostedHeaders     int `yaml:"posted_headers"`
	PostedData        int `yaml:"posted_data"`
	NonPostedHeaders  int `yaml:"non_posted_headers"`
	NonPostedData     int `yaml:"non_posted_data"` // for requests with data, which do not exist here
	CompletionHeaders int `yaml:"completion_headers"`
	CompletionData    int `yaml:"completion_data"`
}

// Buffer bounds a transmitter's queues: the TLPs of each class that wait for credits, and the bytes
// that wait for the wire.
type Buffer struct {
	Posted     int `yaml:"posted"`
	NonPosted  int `yaml:"non_posted"`
	Completion int `yaml:"completion"`
	WireBytes  int `yaml:"wire_bytes"`
}

// DLLP configures the bandwidth that the data link layer takes in the direction opposite to that of
// the TLPs: an Ack for every AckEvery TLPs, and an UpdateFC for every UpdateEvery TLPs of a class
// with finite credits, each of length Bytes. 0 means none are sent.
type DLLP struct {
	Bytes       int `yaml:"bytes"`
	AckEvery    int `yaml:"ack_every"`
	UpdateEvery int `yaml:"update_every"`
}

// rawGbps is the bandwidth of each direction with 16 lanes. Generations 3 and 4 as the paper counts
// them (bf2.pcie: 256; its Table 1: 128 for ConnectX-4); generation 5 after 128b/130b coding
// (bf3.pcie: 63 GB/s).
var rawGbps = map[int]int64{3: 128, 4: 256, 5: 504}

const (
	lanes      = 16
	gbpsPeriod = 8 * simcore.Nanosecond

	maxHeaderCredits = 127 * 16  // 8-bit counters, half of them in use, scaled by 16 at most (PCIe 3.4.2)
	maxDataCredits   = 2047 * 16 // 12-bit counters
	creditBytes      = 16        // PCIe 2.6.1
	dllpBytes        = 8         // 2 B token, 4 B content, 2 B CRC from 8 GT/s on (PCIe 4.2.2.3)
)

// Default returns a x16 link of a generation whose far end is configured to MPS 256, MRRS 512 and
// RCB 64.
//
// Sources: bandwidth, see rawGbps. Latency: 150 ns, of the 120 to 200 ns of a host link with its root port
// (docs/board.md; assumption; the paper gives 150 to 200 ns for switch and NIC-side link only, bf2.switch_oneway).
// Framing: 4 B token with sequence number and 4 B LCRC (PCIe 4.2.2.3), so that a completion costs 20 B and a request
// of 4 DW 24 B; requests always count 4 DW, as bus addresses of a card lie above 4 GB, whatever our numbers for Arm
// memory are (assumption). Credits: the most without scaling, 127 headers and 2,047 units (PCIe 2.6.1); completions
// infinite, as root and endpoints must advertise. Transmit buffer: 16 TLPs a class, reads as many as there are tags,
// 2 KB before the wire (assumption). DLLPs: 8 B each; an Ack every 4 and an UpdateFC every 8 TLPs (assumption:
// between 0 and 16 B a TLP).
func Default(generation int) Spec {
	credits := Credits{PostedHeaders: 127, PostedData: 2047, NonPostedHeaders: 127, NonPostedData: 127}
	return Spec{
		Generation: generation, Width: lanes, Latency: 150 * simcore.Nanosecond,
		Ends: [2]tlp.Limits{
			{MPS: tlp.PageBytes, MRRS: tlp.PageBytes, RCB: 64},
			{MPS: 256, MRRS: 512, RCB: 64},
		},
		Credits:  [2]Credits{credits, credits},
		Buffer:   Buffer{Posted: 16, NonPosted: 256, Completion: 16, WireBytes: 2048},
		Overhead: DefaultOverhead(),
		DLLP:     DLLP{Bytes: dllpBytes, AckEvery: 4, UpdateEvery: 8},
	}
}

// presets maps names to the links of the papers. MPS: bf2.mtu_host 512, bf2.mtu_soc 128; for the
// Arm of BlueField-3 256 (assumption: no paper gives it).
var presets = map[string]func() Spec{
	"gen3-x16": func() Spec { return Default(3) },
	"gen4-x16": func() Spec { return Default(4) },
	"gen5-x16": func() Spec { return Default(5) },
	"bf2-host": func() Spec { return withMPS(4, 512) },
	"bf3-host": func() Spec { return withMPS(5, 512) },
	"bf3-arm":  func() Spec { return withMPS(5, 256) },
}

func withMPS(generation, mps int) Spec {
	s := Default(generation)
	s.Ends[1].MPS = mps
	return s
}

// PresetNames lists the names that Preset takes.
var PresetNames = []string{"gen3-x16", "gen4-x16", "gen5-x16", "bf2-host", "bf3-host", "bf3-arm"}

// Preset returns the spec with the given name.
func Preset(name string) (Spec, error) {
	f, ok := presets[name]
	if !ok {
		return Spec{}, field.Errorf("preset", "%q: want one of %q", name, PresetNames)
	}
	return f(), nil
}

// Rate returns the bandwidth of each direction.
func (s *Spec) Rate() simcore.Rate {
	gbps := s.Gbps
	if gbps == 0 {
		gbps = rawGbps[s.Generation]
	}
	return simcore.Rate{Bytes: gbps * int64(s.Width), Ps: gbpsPeriod * lanes}
}

// Validate returns every error of the spec, each a field.Error.
func (s *Spec) Validate() error {
	v := checker{}
	_, known := rawGbps[s.Generation]
	v.check(known, "generation", s.Generation, "3, 4 or 5")
	v.check(s.Width >= 1 && s.Width <= lanes && s.Width&(s.Width-1) == 0, "width", s.Width, "1, 2, 4, 8 or 16")
	v.check(s.Gbps >= 0 && s.Gbps <= 4096, "gbps", s.Gbps, "1 to 4096, or 0 for the generation's")
	v.check(s.Latency >= 0 && s.Latency <= simcore.Millisecond, "latency_ps", int64(s.Latency), "0 to 1 ms")
	v.errs = append(v.errs, s.Overhead.Validate())
	d := s.DLLP
	v.check(d.Bytes >= 0 && d.Bytes <= 64, "dllp.bytes", d.Bytes, "0 to 64")
	v.check(d.AckEvery >= 0, "dllp.ack_every", d.AckEvery, "0 (none) or more")
	v.check(d.UpdateEvery >= 0, "dllp.update_every", d.UpdateEvery, "0 (none) or more")
	s.Buffer.check(&v)
	for i := range s.Ends {
		at := field.Path(fmt.Sprintf("ends[%d]", i))
		if err := s.Ends[i].Validate(); err != nil {
			v.errs = append(v.errs, field.Under(at, err))
			continue
		}
		s.Credits[i].check(&v, field.Path(fmt.Sprintf("credits[%d]", i)), min(s.Ends[0].MPS, s.Ends[1].MPS))
	}
	return errors.Join(v.errs...)
}

type checker struct{ errs []error }

func (v *checker) check(ok bool, path field.Path, got any, want string) {
	if !ok {
		v.errs = append(v.errs, field.Errorf(path, "%v: want %s", got, want))
	}
}

func (b *Buffer) check(v *checker) {
	const most = 1 << 16
	for _, x := range [...]struct {
		path field.Path
		n    int
	}{{"buffer.posted", b.Posted}, {"buffer.non_posted", b.NonPosted}, {"buffer.completion", b.Completion}} {
		v.check(x.n >= 1 && x.n <= most, x.path, x.n, fmt.Sprintf("1 to %d", most))
	}
	v.check(b.WireBytes >= 0 && b.WireBytes <= 1<<20, "buffer.wire_bytes", b.WireBytes, "0 to 2^20")
}

// check rejects finite credits that are too few for a TLP of the largest payload.
func (c *Credits) check(v *checker, at field.Path, mps int) {
	least := mps / creditBytes
	for _, x := range [...]struct {
		path        field.Path
		n, min, max int
	}{
		{".posted_headers", c.PostedHeaders, 1, maxHeaderCredits},
		{".posted_data", c.PostedData, least, maxDataCredits},
		{".non_posted_headers", c.NonPostedHeaders, 1, maxHeaderCredits},
		{".non_posted_data", c.NonPostedData, 1, maxDataCredits},
		{".completion_headers", c.CompletionHeaders, 1, maxHeaderCredits},
		{".completion_data", c.CompletionData, least, maxDataCredits},
	} {
		v.check(x.n == 0 || x.n >= x.min && x.n <= x.max, at+x.path, x.n,
			fmt.Sprintf("%d (a TLP of the largest payload) to %d, or 0 for infinite", x.min, x.max))
	}
}
