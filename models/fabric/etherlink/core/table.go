package core

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"

	"nictwin/models/sim/field"
)

// MAC is an Ethernet address, written 02:00:00:00:00:01 in YAML.
type MAC [macBytes]byte

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *MAC) UnmarshalText(text []byte) error {
	hw, err := net.ParseMAC(string(text))
	if err != nil || len(hw) != macBytes {
		return fmt.Errorf("%q: want six bytes such as 02:00:00:00:00:01", text)
	}
	copy(m[:], hw)
	return nil
}

func (m MAC) String() string { return net.HardwareAddr(m[:]).String() }

func (m MAC) key() uint64 {
	return uint64(binary.BigEndian.Uint32(m[:]))<<16 | uint64(binary.BigEndian.Uint16(m[4:]))
}

func (m MAC) group() bool { return m[0]&1 != 0 }

// Entry is a static entry of the address table.
type Entry struct {
	MAC  MAC `yaml:"mac"`
	Port int `yaml:"port"`
}

// Table maps addresses to logical ports: a port, or the first port of a group (LAG).
type Table struct {
	room   int
	learns bool
	at     map[uint64]place
	full   uint64 // source addresses not learnt because the table was full
}

type place struct {
	port  uint8
	fixed bool
}

// NewTable returns a table with room for the given number of entries; the fixed ones are never
// replaced.
func NewTable(room int, learns bool, fixed []Entry) (*Table, error) {
	t := &Table{room: room, learns: learns, at: make(map[uint64]place, len(fixed))}
	var errs []error
	for i, e := range fixed {
		path := field.Path(fmt.Sprintf("table[%d].mac", i))
		if _, twice := t.at[e.MAC.key()]; twice {
			errs = append(errs, field.Errorf(path, "%v: want an address that no other entry has", e.MAC))
		}
		if e.MAC.group() {
			errs = append(errs, field.Errorf(path, "%v: want the address of one station, not of a group", e.MAC))
		}
		t.at[e.MAC.key()] = place{uint8(e.Port), true}
	}
	return t, errors.Join(errs...)
}

// Learn records the port where a frame entered for the frame's source address.
func (t *Table) Learn(frame []byte, port int) {
	src := MAC(frame[macBytes:])
	if !t.learns || src.group() {
		return
	}
	key := src.key()
	p, known := t.at[key]
	switch {
	case known && (p.fixed || int(p.port) == port):
	case !known && len(t.at) >= t.room:
		t.full++
	default:
		t.at[key] = place{port: uint8(port)}
	}
}

// Destination tells whether a frame goes to one port, to all or to none.
type Destination uint8

// Values of Destination.
const (
	ToPort   Destination = iota
	ToAll                // flooded: a group address or an unknown one; all ports except the frame's own
	ToNobody             // dropped: an address that bridges must not forward (IEEE 802.1Q, table 8-1)
)

// Lookup returns the destination of a frame; port is valid with ToPort.
func (t *Table) Lookup(frame []byte) (port int, d Destination) {
	dst := MAC(frame)
	if dst.group() {
		if [5]byte(dst[:]) == [5]byte{0x01, 0x80, 0xc2, 0, 0} && dst[5] < 0x10 {
			return 0, ToNobody
		}
		return 0, ToAll
	}
	p, known := t.at[dst.key()]
	if !known {
		return 0, ToAll
	}
	return int(p.port), ToPort
}

// Len returns the number of entries.
func (t *Table) Len() int { return len(t.at) }

// Full counts the frames whose source was not learnt because the table was full.
func (t *Table) Full() uint64 { return t.full }

// Move changes the port of a static entry.
func (t *Table) Move(m MAC, port int) { t.at[m.key()] = place{uint8(port), true} }
