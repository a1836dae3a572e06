package play

import (
	"fmt"

	"nictwin/models/ref"
	"nictwin/models/sim/field"
	"nictwin/scenarios/traffic/capture"
)

// Traffic holds packets of captures that an input gets instead of drawn ones.
type Traffic struct {
	Stream   string // input that gets the packets; empty: the only input with packets
	Captures []string
	packets  [][]byte
}

// ReadTraffic reads captures. It returns the errors of package capture.
func ReadTraffic(stream string, files []string) (*Traffic, error) {
	t := &Traffic{Stream: stream, Captures: files}
	for _, f := range files {
		c, err := capture.Read(f)
		if err != nil {
			return nil, err
		}
		for _, p := range c.Packets {
			t.packets = append(t.packets, p.Data)
		}
	}
	if len(t.packets) == 0 {
		return nil, fmt.Errorf("captures %v: no packet with a byte in them", files)
	}
	return t, nil
}

// Packets returns the number of packets.
func (t *Traffic) Packets() int { return len(t.packets) }

// data returns packet n, padded with zeros to whole units.
func (t *Traffic) data(n, unit int) []byte {
	b := t.packets[n%len(t.packets)]
	return append(b[:len(b):len(b)], make([]byte, (unit-len(b)%unit)%unit)...)
}

// fitTraffic finds the input that gets the packets of captures.
func (d *Device) fitTraffic(f *faults) {
	t := d.captured
	if d.traffic = nil; t == nil {
		return
	}
	var fits []int
	var names []string
	for i, s := range d.streams {
		if s.In && s.Kind == ref.Packets {
			names = append(names, s.Name)
			if t.Stream == "" || t.Stream == s.Name {
				fits = append(fits, i)
			}
		}
	}
	if len(fits) != 1 {
		f.errs = append(f.errs, field.Errorf("stream", "%q: captures need one input of packets, of %v", t.Stream,
			names))
		return
	}
	d.traffic = map[int]*Traffic{fits[0]: t}
}
