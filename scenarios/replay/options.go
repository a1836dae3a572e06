package replay

import (
	"errors"
	"fmt"
	"io"

	"nictwin/models/board"
	"nictwin/models/nic/boundary"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/emulation"

	"nictwin/rtlbridge/protocol"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/testbed"
	"nictwin/scenarios/observe/heartbeat"
	"nictwin/scenarios/shell/files"
	"nictwin/scenarios/traffic"
)

// Options selects the frames to play, how to play them, and the device.
type Options struct {
	Captures []string // played by each port one after the other: file i on port i mod Ports
	// CaptureName returns the name of a capture for people; nil: its path.
	CaptureName func(path string) string
	Frames      [][]byte        // played after those of the captures: frame i on port i mod Ports
	NIC         string          // kind of NIC: rtl or model
	DUT         string          // manifest of the device when NIC is rtl
	Ports       int             // Ethernet ports of the NIC
	EthBits     int             // width of a port's stream; 0: that of the device or card
	Variant     string          // build of the device: speed, debug
	Link        *emulation.Link // way to the device; nil: it is simulated without a shell
	Connect     string          // address of a running device, used instead of DUT
	Token       string          // token of the device at Connect, 64 hexadecimal digits
	Dir         string          // rx, tx or both
	Speed       string          // line, capture, or a number of Gbps
	MaxGap      simcore.Ps
	Seed        uint64
	Stall       int // percentage of cycles with gaps and back-pressure
	Loop        int // number of passes over all frames
	Limit       int // maximum number of frames of all captures together, in one pass; 0: all
	Pad         bool
	Fix         Recompute
	Quantum     uint32 // cycles per exchange with an RTL device; 0: rtlbridge's default
	Serial      bool   // do not run device and models in parallel
	// IdleCycles selects whether an RTL device simulates or skips cycles in which it is idle.
	IdleCycles protocol.IdleMode
	Out        string // folder for artifacts; empty: none are written
	// the folder Out if it is open already; nil: it is created and opened by its path
	Files  *files.Folder
	Events bool // write events.jsonl and frames.pcapng
	// ArtifactBytes limits the size of events.jsonl and of frames.pcapng; 0: no limit. Result.Cut lists files cut at
	// the limit.
	ArtifactBytes int64
	Progress      func(done, total int)
	Beat          *heartbeat.Beat   // receives the status of the run; nil: none
	Log           io.Writer         // progress of builds and phases; may be nil
	Record        io.Writer         // receives the input stream of an RTL device, for playback
	Built         *build.Device     // used instead of building DUT; nil: DUT is built
	Digest        bool              // compute Run.BridgeDigest
	faults        bool              // inject faults, for tests: see testbed.Bed.Faults
	Shape         *Shape            // queues and layout of frames; nil: drawn from the seed, among all kinds
	Observe       boundary.Observer // called for every crossing; may be nil
	// LinkCycles is the latency of the links at the NIC, in cycles; see testbed.Spec.
	LinkCycles int
	// PeriodPs is the period of the NIC's clock; 0: that of the device or card; see testbed.Spec.
	PeriodPs simcore.Ps
	// Card is the card with the NIC, which Ports and EthBits must match; nil: a plain card with links of LinkCycles.
	Card *board.CardSpec
	// RTLCoverage is a folder for the RTL coverage; see testbed.Spec.
	RTLCoverage string
	Wave        *device.Wave // waveform that the RTL device dumps; nil: none
	// Patience limits the time without progress, after which the run fails. 0: the board's own limit, which cannot be
	// exceeded. Result.Patience returns the limit that applied.
	Patience simcore.Ps
}

// Recompute selects what the NIC must insert on transmit, where the headers allow it.
type Recompute struct{ Checksums, ICRC bool }

// ParseRecompute parses a list such as "csum,icrc".
func ParseRecompute(list []string) (Recompute, error) {
	var r Recompute
	for _, s := range list {
		switch s {
		case "csum":
			r.Checksums = true
		case "icrc":
			r.ICRC = true
		default:
			return r, fmt.Errorf("cannot recompute %q: want csum or icrc", s)
		}
	}
	return r, nil
}

// DefaultOptions returns options that play once, at line rate, in both directions, on RTL.
func DefaultOptions() Options {
	b := testbed.DefaultSpec()
	return Options{
		NIC: b.NIC, Ports: 1, Dir: "both", Speed: "line", Loop: 1, MaxGap: 20 * simcore.Microsecond, Variant: b.Variant,
		LinkCycles: b.LinkCycles,
	}
}

func (o *Options) spec() testbed.Spec {
	s := testbed.Spec{
		Spec: device.Spec{
			NIC: o.NIC, DUT: o.DUT, Ports: o.Ports, EthBits: o.EthBits, Variant: o.Variant, Link: o.Link,
			Built:   o.Built,
			Connect: o.Connect, Token: o.Token, Quantum: o.Quantum, Serial: o.Serial, Idle: o.IdleCycles,
			PeriodPs: o.PeriodPs,
			Digest:   o.Digest, Log: o.Log, Record: o.Record, Coverage: o.RTLCoverage,
			Wave: o.Wave,
		},
		Seed: o.Seed, Stall: o.Stall, LinkCycles: o.LinkCycles, Card: o.Card,
	}
	if o.faults {
		e := board.EndpointFor(o.Seed, o.Stall)
		e.Faults = true
		s.Endpoint = &e
	}
	return s
}

// supply describes the frames to play.
func (o *Options) supply() traffic.SupplySpec {
	s := traffic.SupplySpec{Captures: o.Captures, Frames: o.Frames, Ports: o.Ports, Loop: o.Loop, Limit: o.Limit,
		Pad: o.Pad, Name: o.CaptureName}
	if log := o.Log; log != nil {
		s.Say = func(text string) { fmt.Fprintf(log, "replay: %s\n", text) }
	}
	return s
}

// Validate returns every error of the options; those of fields are field.Errors.
func (o *Options) Validate() error {
	var errs []error
	bad := func(path field.Path, format string, a ...any) { errs = append(errs, field.Errorf(path, format, a...)) }
	if len(o.Captures)+len(o.Frames) == 0 {
		errs = append(errs, errors.New("no capture file given"))
	}
	if o.Ports == 0 { // checked here, because a testbed reads 0 ports as one
		bad("ports", "0: want 1 to %d", board.MaxPorts)
	}
	spec := o.spec()
	errs = append(errs, spec.Validate())
	if o.Shape != nil {
		errs = append(errs, o.Shape.validate())
		if o.Shape.Trailer != TrailerInPayload && !o.Fix.ICRC {
			errs = append(errs, errors.New("shape: trailers apart from the payload: want the ICRC recomputed"))
		}
	}
	if o.Dir != "rx" && o.Dir != "tx" && o.Dir != "both" {
		bad("dir", "%q: want rx, tx or both", o.Dir)
	}
	if _, err := traffic.ParsePace(o.Speed, o.EthBits, o.PeriodPs); err != nil {
		errs = append(errs, err)
	}
	supply := o.supply()
	supply.Ports = max(supply.Ports, 0) // other values are reported above
	errs = append(errs, supply.Validate())
	if o.MaxGap <= 0 {
		bad("max_gap", ": want more than 0")
	}
	return errors.Join(errs...)
}
