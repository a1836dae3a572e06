package play

import (
	"bytes"

	"nictwin/models/ref"
)

// Coverage counts the driven and received transactions, by stream and field.
type Coverage struct {
	Streams []StreamCover `json:"streams"`
	by      map[string]*StreamCover
}

// StreamCover counts the transactions of a stream.
type StreamCover struct {
	Name         string       `json:"name"`
	Dir          string       `json:"dir"`
	Transactions int          `json:"transactions"`
	BackToBack   int          `json:"back_to_back"` // transactions that began in the cycle after the previous one ended
	OneBeat      int          `json:"one_beat,omitempty"`
	WholeBeats   int          `json:"whole_beats,omitempty"` // several beats, the last one full
	PartBeat     int          `json:"part_beat,omitempty"`   // several beats, the last one not full
	Shortest     int          `json:"shortest,omitempty"`    // bytes
	Longest      int          `json:"longest,omitempty"`
	Fields       []FieldCover `json:"fields,omitempty"`
	last         uint64
}

// FieldCover counts the values of a field, each in one bin.
type FieldCover struct {
	Name   string `json:"name"`
	Bits   int    `json:"bits"`
	Zero   int    `json:"zero"`
	Ones   int    `json:"ones"` // all bits set
	OneBit int    `json:"one_bit"`
	Other  int    `json:"other"`
}

// NewCoverage returns an empty Coverage for these streams.
func NewCoverage(streams []*ref.Stream) *Coverage {
	c := &Coverage{Streams: make([]StreamCover, len(streams)), by: map[string]*StreamCover{}}
	for i, s := range streams {
		x := &c.Streams[i]
		x.Name, x.Dir = s.Name, direction(s)
		for _, f := range s.Fields {
			x.Fields = append(x.Fields, FieldCover{Name: f.Name, Bits: f.Bits})
		}
		c.by[s.Name] = x
	}
	return c
}

// Empty returns the bins of inputs that were never hit.
func (c *Coverage) Empty() (list []string) {
	for i := range c.Streams {
		if x := &c.Streams[i]; x.Dir == "in" && x.Transactions == 0 {
			list = append(list, x.Name)
		}
	}
	return list
}

func (c *Coverage) add(m *ref.Msg) {
	x := c.by[m.Of.Name]
	if x.Transactions > 0 && m.First == x.last+1 {
		x.BackToBack++
	}
	x.last = m.Last
	if m.Of.Kind == ref.Packets {
		n := len(m.Data)
		switch beat := max(1, m.Of.Beat); {
		case n <= beat:
			x.OneBeat++
		case n%beat == 0:
			x.WholeBeats++
		default:
			x.PartBeat++
		}
		if x.Longest = max(x.Longest, n); x.Transactions == 0 || n < x.Shortest {
			x.Shortest = n
		}
	}
	x.Transactions++
	at := 0
	for i := range x.Fields {
		f := &x.Fields[i]
		n := (f.Bits + 7) / 8
		f.add(m.Side[at : at+n])
		at += n
	}
}

func (f *FieldCover) add(b []byte) {
	ones := 0
	for _, x := range b {
		for ; x != 0; x &= x - 1 {
			ones++
		}
	}
	switch {
	case len(bytes.Trim(b, "\x00")) == 0:
		f.Zero++
	case ones == f.Bits:
		f.Ones++
	case ones == 1:
		f.OneBit++
	default:
		f.Other++
	}
}
