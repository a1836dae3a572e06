package ref

import "math/bits"

// Segments describes a record whose beats carry packets, such as TLPs, possibly several at a time. Its data field
// consists of Count segments, and a packet begins at the start of one. The fields Valid, Start and End have a bit
// for each segment; Last has, for each, the number of the last DW (four bytes) of a packet that ends there.
type Segments struct {
	Count int
	Data  string // this and the following strings are the names of fields
	Valid string // bits of the segments in use; empty: all from a start to an end are in use
	Start string
	End   string
	Last  string // number of the last DW in each segment; empty: every packet consists of whole segments
}

const dw = 4

// shape returns the size of a segment in bytes, and the width of its DW numbers in bits.
func (s *Segments) shape(of *Stream) (bytes, wide int) {
	f, _ := of.find(s.Data)
	if s.Count < 1 || f.Bits%(32*s.Count) != 0 {
		mistake("stream %s: %d segments of field %s with %d bits: want whole DWs each", of.Name, s.Count, s.Data,
			f.Bits)
	}
	bytes = f.Bits / 8 / s.Count
	if s.Last != "" {
		l, _ := of.find(s.Last)
		wide = l.Bits / s.Count
	}
	return bytes, wide
}

// Beats returns the records that carry packets of whole DWs, packed tightly. If `gap` is not nil, it is called before
// each packet that would not begin a record: if it returns true, a segment is left empty before the packet.
func (s *Segments) Beats(of *Stream, packets [][]byte, gap func() bool) (list []Fields) {
	bytes, wide := s.shape(of)
	var data []byte
	var valid, start, end, last uint64
	at := 0
	flush := func() {
		f := Fields{s.Data: data, s.Start: start, s.End: end}
		if s.Valid != "" {
			f[s.Valid] = valid
		}
		if s.Last != "" {
			f[s.Last] = last
		}
		list = append(list, f)
		data, valid, start, end, last, at = nil, 0, 0, 0, 0, 0
	}
	for _, p := range packets {
		if len(p)%dw != 0 || len(p) == 0 {
			mistake("a packet of %d bytes: want whole DWs", len(p))
		}
		if gap != nil && at > 0 && gap() {
			data, at = append(data, make([]byte, bytes)...), at+1
		}
		for from := 0; from < len(p); from += bytes {
			if at == s.Count {
				flush()
			}
			n := min(bytes, len(p)-from)
			data = append(append(data, p[from:from+n]...), make([]byte, bytes-n)...)
			valid |= 1 << at
			if from == 0 {
				start |= 1 << at
			}
			if from+n == len(p) {
				end |= 1 << at
				if wide > 0 {
					last |= uint64(n/dw-1) << (at * wide)
				}
			}
			at++
		}
		if at == s.Count {
			flush()
		}
	}
	if at > 0 {
		flush()
	}
	return list
}

// OnSegments calls f for each packet of a stream whose records carry segments. Starts and ends that
// do not match are faults of the device.
func (p *Player) OnSegments(stream string, s Segments, f func(m *Msg, packet []byte)) {
	checkFunc(f != nil, "OnSegments", stream)
	bytes, wide := s.shape(p.Stream(stream))
	var packet []byte
	open := false
	p.On(stream, func(m *Msg) {
		data, valid := m.B(s.Data), uint64(1)<<s.Count-1
		if s.Valid != "" {
			valid = m.U(s.Valid)
		}
		for i := range s.Count {
			begins, ends := m.U(s.Start)>>i&1 == 1, m.U(s.End)>>i&1 == 1
			if valid>>i&1 == 0 || s.Valid == "" && !open && !begins {
				continue
			}
			if begins == open {
				p.Wrong(m, s.Start, map[bool]string{true: "no start before the end of the previous packet",
					false: "a start"}[open], m.String())
				return
			}
			n := bytes
			if ends && wide > 0 {
				n = dw * (1 + int(m.U(s.Last)>>(i*wide)&(1<<wide-1)))
				if n > bytes {
					p.Wrong(m, s.Last, "a DW of the segment", m.String())
					return
				}
			}
			packet, open = append(packet, data[i*bytes:i*bytes+n]...), !ends
			if ends {
				p.enter("OnSegments", stream, f)
				f(m, packet)
				packet = nil
			}
		}
	})
	p.Done(func() bool { return !open })
}

// DWs returns the number of bits in which the DWs of a segment of this size are numbered.
func DWs(bytes int) int { return bits.Len(uint(bytes/dw - 1)) }
