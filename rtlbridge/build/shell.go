package build

import (
	"fmt"

	"nictwin/rtlbridge/manifest"
)

// ShellShape holds the sizes of the shell at the other end of an agent's link (docs/emulation.md).
type ShellShape struct {
	Depth     int // beats of each stream that the shell holds
	LinkBytes int // bytes of a word of the link
}

// Layout says where a beat's parts lie in a message of the link: whole bytes each, the data first.
type Layout struct {
	Keep, Last, Side int // offsets
	Bytes            int // length of all parts; at least 1
}

// BeatLayout returns the layout of a stream's beats.
func BeatLayout(s *manifest.BoundStream) Layout {
	l := Layout{Keep: s.DataBytes}
	l.Last = l.Keep
	if s.Unit() != 0 {
		l.Last += bytesOf(s.Keep.Width)
	}
	l.Side = l.Last
	if s.Packets() {
		l.Side++
	}
	l.Bytes = max(1, l.Side+s.SideBytes)
	return l
}

// ObservedLayout returns the offset of each observed signal in a message, and the bytes of all, at least 1.
func ObservedLayout(b *manifest.Binding) (offsets []int, all int) {
	for _, p := range b.Observe {
		offsets = append(offsets, all)
		all += bytesOf(p.Width)
	}
	return offsets, max(1, all)
}

// observedField is an observed signal in a message.
type observedField struct {
	manifest.PinPort
	Offset int
}

func observedFields(g glueData) (list []observedField) {
	offsets, _ := ObservedLayout(g.Binding)
	for i, p := range g.Observe {
		list = append(list, observedField{p, offsets[i]})
	}
	return list
}

func bytesOf(bits int) int { return (bits + 7) / 8 }

// InputCount returns the number of input streams.
func (g glueData) InputCount() (n int) {
	for i := range g.Streams {
		if g.Streams[i].Dir == manifest.DirIn {
			n++
		}
	}
	return n
}

// pinType returns the C++ type of an agent's copy of a pin: as wide as Verilator's variable for the port.
func pinType(p manifest.PinPort) string {
	for _, n := range []int{8, 16, 32, 64} {
		if p.Width <= n {
			return fmt.Sprintf("uint%d_t", n)
		}
	}
	return fmt.Sprintf("WidePin<%d>", (p.Width+31)/32)
}
