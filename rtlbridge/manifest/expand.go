package manifest

import (
	"fmt"
	"strings"

	"nictwin/rtlbridge/protocol"
)

// expand replaces each AXI port by the records of its channels, and a stream with field `lanes` but
// without `lane` by a stream per lane. Their faults are left to the check of streams, which reports them at
// the line of the original.
func (m *Manifest) expand(add func(path, format string, args ...any)) {
	if len(m.Streams) > protocol.MaxStreams { // reported later
		return
	}
	var streams []Stream
	lines := map[string]int{}
	for i := range m.Streams {
		from := fmt.Sprintf("streams[%d]", i)
		for _, x := range m.expanded(i, add) {
			for path, n := range m.lines { // the lines of stream i, under its new number
				if rest, ok := strings.CutPrefix(path, from); ok && (rest == "" || rest[0] == '.') {
					lines[fmt.Sprintf("streams[%d]%s", len(streams), rest)] = n
				}
			}
			streams = append(streams, x)
		}
	}
	for path, n := range m.lines {
		if !strings.HasPrefix(path, "streams[") {
			lines[path] = n
		}
	}
	m.Streams, m.lines = streams, lines
}

// expanded returns the streams that stream i stands for.
func (m *Manifest) expanded(i int, add func(path, format string, args ...any)) []Stream {
	s := m.Streams[i]
	if s.axi() {
		s.checkAXI(fmt.Sprintf("streams[%d]", i), add)
	}
	var list []Stream
	for _, x := range m.perLane(i) {
		if x.axi() {
			list = append(list, x.channels()...)
		} else {
			list = append(list, x)
		}
	}
	return list
}

// perLane returns a stream for each lane of stream i, or only stream i if it has no lanes to expand.
func (m *Manifest) perLane(i int) []Stream {
	s := m.Streams[i]
	if !m.eachLane(i) {
		return []Stream{s}
	}
	list := make([]Stream, s.Lanes)
	for lane := range list {
		x := s
		x.Lane, x.Name = lane, ofLane(s.Name, lane)
		for _, on := range []*string{&x.After, &x.With} {
			for k := range m.Streams {
				if of := &m.Streams[k]; of.Name == *on && of.Lanes == s.Lanes && m.eachLane(k) {
					*on = ofLane(*on, lane)
					break
				}
			}
		}
		list[lane] = x
	}
	return list
}

// eachLane reports whether stream i stands for a stream on each of its lanes.
func (m *Manifest) eachLane(i int) bool {
	s := &m.Streams[i]
	_, one := m.lines[fmt.Sprintf("streams[%d].lane", i)]
	return !one && s.Lanes > 1 && s.Lanes <= protocol.MaxStreams
}

func ofLane(stream string, lane int) string { return fmt.Sprintf("%s%d", stream, lane) }
