package replay

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"nictwin/models/simcore"
)

// Options say what is played, how, and on what.
type Options struct {
	Captures []string // files, played one after the other
	NIC      string   // rtl or model
	DUT      string   // manifest of the device when NIC is rtl
	Variant  string   // build of the device: speed, debug
	Dir      string   // rx, tx or both
	Speed    string   // line, capture, or a number of Gbps
	MaxGap   simcore.Ps
	Seed     uint64
	Stall    int // percent of cycles with gaps and back-pressure
	Loop     int // how often everything is played
	Limit    int // frames at most, of all captures together and before Loop; 0 is all
	Pad      bool
	Fix      Recompute
	Quantum  uint32 // cycles per exchange with an RTL device; 0 is the default
	Serial   bool   // no overlap of device and models
	Out      string // folder for artifacts; empty is none
	Events   bool   // write events.jsonl and the pcapng
	Progress func(done, total int)
	Log      io.Writer // builds and phases; nil is none
	Record   io.Writer // gets the input stream of an RTL device, for playback
}

// Recompute says what transmit has the NIC insert, where the headers allow it.
type Recompute struct{ Checksums, ICRC bool }

// ParseRecompute reads a list such as "csum,icrc".
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

// DefaultOptions plays once, at line rate, both ways, on RTL.
func DefaultOptions() Options {
	return Options{NIC: "rtl", Dir: "both", Speed: "line", Loop: 1, MaxGap: 20 * simcore.Microsecond, Variant: "speed"}
}

// Validate returns every error of the options.
func (o *Options) Validate() error {
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }
	if len(o.Captures) == 0 {
		bad("no capture file given")
	}
	if o.NIC != "rtl" && o.NIC != "model" {
		bad("--nic %q: want rtl or model", o.NIC)
	}
	if o.Dir != "rx" && o.Dir != "tx" && o.Dir != "both" {
		bad("--dir %q: want rx, tx or both", o.Dir)
	}
	if _, err := o.pace(); err != nil {
		errs = append(errs, err)
	}
	if o.Stall < 0 || o.Stall > 90 {
		bad("--stall %d: want 0 to 90 percent", o.Stall)
	}
	if o.Loop < 1 {
		bad("--loop %d: want 1 or more", o.Loop)
	}
	if o.Limit < 0 {
		bad("--limit %d: want 0 (all) or more", o.Limit)
	}
	if o.MaxGap <= 0 {
		bad("--max-gap: want more than 0")
	}
	return errors.Join(errs...)
}

// pace is how frames follow one another.
type pace struct {
	capture bool
	num     int64 // picoseconds per byte = num / den
	den     int64
}

// lineMbps is an Ethernet port at the default clock: 64 B every 2,500 ps.
const lineMbps = 204_800

func (o *Options) pace() (pace, error) {
	mbps := int64(lineMbps)
	switch o.Speed {
	case "line":
	case "capture":
		return pace{capture: true, num: 8_000_000, den: mbps}, nil
	default:
		gbps, err := strconv.ParseFloat(o.Speed, 64)
		if err != nil || !(gbps >= 0.001 && gbps <= lineMbps/1000.0) {
			return pace{}, fmt.Errorf("--speed %q: want line, capture, or Gbps from 0.001 to %v", o.Speed, lineMbps/1000.0)
		}
		mbps = int64(gbps*1000 + 0.5)
	}
	return pace{num: 8_000_000, den: mbps}, nil
}

// time is what n bytes take, in picoseconds. Stalls take their share of the
// cycles, so frames come that much slower.
func (p pace) time(n, stall int) simcore.Ps {
	return simcore.Ps(int64(n)*p.num/p.den) * 100 / simcore.Ps(100-stall)
}
