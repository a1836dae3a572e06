package play

import (
	"fmt"

	"nictwin/scenarios/traffic/capture"
)

// Traffic are packets of captures for an input, instead of drawn ones.
type Traffic struct {
	Stream   string // empty: the only input of packets
	Captures []string
	packets  [][]byte
}

// ReadTraffic reads the captures. Errors: those of capture.
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

// Packets is how many there are.
func (t *Traffic) Packets() int { return len(t.packets) }

// data is packet n, filled up with zeros to whole units.
func (t *Traffic) data(n, unit int) []byte {
	b := t.packets[n%len(t.packets)]
	return append(b[:len(b):len(b)], make([]byte, (unit-len(b)%unit)%unit)...)
}
