package traffic

import (
	"cmp"
	"strconv"

	"nictwin/models/format/ether"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// Pace determines the time between frames; see ParsePace.
type Pace struct {
	capture  bool
	beats    bool       // a beat in every cycle
	beat     int        // bytes in a beat
	periodPs simcore.Ps // period of the NIC's clock
	mbps     int64      // rate; 0: line rate
}

// ParsePace parses a pace for a port: line (back to back with the smallest gap), capture (as recorded, but no faster
// than line), a number of Gbps, or beats (the pace is one beat in every cycle: denser than Ethernet, for measurements).
// ethBits is the width of the port's stream, 0 that of nicspec.DefaultBuild; period is that of the NIC's clock, 0 that
// of 400 MHz.
func ParsePace(s string, ethBits int, period simcore.Ps) (Pace, error) {
	p := line(ethBits)
	p.periodPs = simcore.Freq{PeriodPs: period}.Period()
	switch s {
	case "line":
	case "beats":
		p.beats = true
	case "capture":
		p.capture = true
	default:
		most := int64(p.beat) * 8_000_000 / int64(p.periodPs) // Mbps with a beat in every cycle
		gbps, err := strconv.ParseFloat(s, 64)
		if err != nil || !(gbps >= 0.001 && gbps <= float64(most)/1000) {
			return Pace{}, field.Errorf("pace", "%q: want line, capture, or Gbps from 0.001 to %v", s,
				float64(most)/1000)
		}
		p.mbps = int64(gbps*1000 + 0.5)
	}
	return p, nil
}

// AtMost limits the pace to the rate of a cable; the zero rate is no limit. It slows down the paces `line` and
// `capture`, and refuses the pace `beats` and a number of Gbps above the cable's rate.
func (p Pace) AtMost(r simcore.Rate) (Pace, error) {
	if r == (simcore.Rate{}) {
		return p, nil
	}
	most := r.Bytes * 8_000_000 / int64(r.Ps)
	if p.beats || p.mbps > most {
		return p, field.Errorf("pace", "%v Gbps: want at most %v, which the cable carries", float64(p.mbps)/1000,
			float64(most)/1000)
	}
	if own := int64(p.beat) * 8_000_000; p.mbps == 0 && most < own/int64(p.periodPs) {
		p.mbps = most
	}
	return p, nil
}

// line returns the pace of frames back to back on a port of the given width; width 0 is that of nicspec.DefaultBuild.
func line(ethBits int) Pace {
	return Pace{beat: cmp.Or(ethBits, nicspec.DefaultBuild().EthBits) / 8}
}

// maxBacklog limits the bytes of frames that wait for the NIC's stream. A stream is slower than Ethernet if the last
// beats of frames are nearly empty, so the backlog would grow without end. At the limit, frames are played at the
// stream's rate.
const maxBacklog = 2 << 20

// stream returns the time that a frame of n bytes takes on the stream, with the given percentage of stalled cycles.
func (p Pace) stream(n, stall int, period simcore.Ps) simcore.Ps {
	return simcore.Ps((n+p.beat-1)/p.beat) * period * 100 / simcore.Ps(100-stall)
}

// time returns the time that a frame of n bytes takes on Ethernet, stretched by the percentage of stalled cycles.
func (p Pace) time(n, stall int, period simcore.Ps) simcore.Ps {
	if p.beats {
		return p.stream(n, stall, period)
	}
	n += ether.WireOverhead
	t := simcore.Ps(n) * period / simcore.Ps(p.beat)
	if p.mbps != 0 {
		t = simcore.Ps(int64(n) * 8_000_000 / p.mbps)
	}
	return t * 100 / simcore.Ps(100-stall)
}
