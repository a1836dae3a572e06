package ref

import (
	"fmt"
	"slices"
	"strings"
)

// Msg is a transaction that has crossed the pins. It belongs to the function that receives it.
type Msg struct {
	Of          *Stream
	N           uint64 // ordinal of the transaction on its stream, from 0
	First, Last uint64 // cycles of the first and the last beat
	Side        []byte // values of the fields
	Data        []byte // data of a packet
}

// U returns the value of a field of at most 64 bits.
func (m *Msg) U(name string) uint64 {
	f, at := m.Of.find(name)
	if f.Bits > 64 {
		mistake("stream %s: field %s has %d bits: ask for its bytes (B)", m.Of.Name, name, f.Bits)
	}
	return little(m.Side[at : at+f.bytes()])
}

// B returns a field as bytes, lowest first.
func (m *Msg) B(name string) []byte {
	f, at := m.Of.find(name)
	return slices.Clone(m.Side[at : at+f.bytes()])
}

// Fields returns the values of all fields.
func (m *Msg) Fields() Fields {
	all := Fields{}
	at := 0
	for i := range m.Of.Fields {
		f := &m.Of.Fields[i]
		all[f.Name] = slices.Clone(m.Side[at : at+f.bytes()])
		at += f.bytes()
	}
	return all
}

// shownBytes is the largest number of data bytes in a text.
const shownBytes = 32

func (m *Msg) String() string {
	return fmt.Sprintf("%s[%d] %s", m.Of.Name, m.N, m.Of.Text(m.Side, m.Data))
}

// Text formats a transaction.
func (s *Stream) Text(side, data []byte) string { return s.text(side, data, 0) }

// text formats a transaction, with its data around the byte whose number is `from`.
func (s *Stream) text(side, data []byte, from int) string {
	var parts []string
	at := 0
	for i := range s.Fields {
		f := &s.Fields[i]
		parts = append(parts, f.Name+"="+f.text(side[at:at+f.bytes()]))
		at += f.bytes()
	}
	if s.Kind == Packets {
		parts = append(parts, around(data, from))
	}
	return strings.Join(parts, " ")
}

// Shown formats the length of b and its first bytes.
func Shown(b []byte) string {
	if len(b) <= shownBytes {
		return fmt.Sprintf("%d bytes % x", len(b), b)
	}
	return fmt.Sprintf("%d bytes % x …", len(b), b[:shownBytes])
}

// around formats the length of b and the bytes around index at.
func around(b []byte, at int) string {
	from := max(0, min(at-shownBytes/4, len(b)-shownBytes))
	if from == 0 {
		return Shown(b)
	}
	to := min(len(b), from+shownBytes)
	rest := ""
	if to < len(b) {
		rest = " …"
	}
	return fmt.Sprintf("%d bytes, from %d: … % x%s", len(b), from, b[from:to], rest)
}
