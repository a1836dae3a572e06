package ref

import (
	"fmt"
	"maps"
	"slices"

	"nictwin/models/format/tlp"
)

// Completer answers memory reads on an input. Completions of one request keep their order; those of different tags
// are mixed at random.
type Completer struct {
	p        *Player
	stream   string
	segments *Segments
	waiting  map[uint8][][]byte
	under    int // transactions offered that the device has not taken
}

// mixedTLPs is the number of completions offered at a time. The others stay back, so that they can mix with those
// of later requests.
const mixedTLPs = 4

// NewCompleter returns a Completer for an input: a record whose beats carry segments, or, if s is
// nil, packets of one TLP each.
func (p *Player) NewCompleter(stream string, s *Segments) *Completer {
	c := &Completer{p: p, stream: stream, segments: s, waiting: map[uint8][][]byte{}}
	p.On(stream, func(*Msg) {
		c.under--
		c.send()
	})
	return c
}

// Waits reports whether a completion with a tag has not been offered yet, so that the device must not reuse the
// tag.
func (c *Completer) Waits(tag uint8) bool { return c.waiting[tag] != nil }

// Complete answers a request with completions that carry data, as the function Complete makes them.
func (c *Completer) Complete(req TLP, data []byte, mps, rcb int, completer uint16) {
	c.waiting[req.Tag] = Complete(c.p.rand, req, data, mps, rcb, completer)
	c.send()
}

// CompleterConfig says what requests a completer accepts, and how it splits its answers.
type CompleterConfig struct {
	Most int    // largest request in bytes: Max_Read_Request_Size
	MPS  int    // largest completion in bytes: Max_Payload_Size
	RCB  int    // read completion boundary, in bytes
	ID   uint16 // completer ID, as in its completions
}

// Read answers a memory read, given as a TLP in wire format, from a memory. The request must not be too large, must
// stay within 4 KB (PCIe 2.2.7) and must have a free tag (PCIe 2.2.6.2).
func (c *Completer) Read(m *Msg, request []byte, from *Memory, o CompleterConfig) {
	h, _, ok := c.p.ParseTLP(m, request)
	if !ok {
		return
	}
	offset, n := h.Span()
	at := h.Address + uint64(offset)
	switch {
	case h.Kind != tlp.MRd:
		c.p.Wrong(m, "request", "a memory read", h.String())
	case c.Waits(h.Tag):
		c.p.Wrong(m, "tag", "a free one", fmt.Sprint(h.Tag))
	case int(h.Length)*tlp.DWBytes > o.Most || at%4096+uint64(n) > 4096:
		c.p.Wrong(m, "request", fmt.Sprintf("at most %d bytes, within one page", o.Most), h.String())
	default:
		c.Complete(h, from.Read(at, n), o.MPS, o.RCB, o.ID)
	}
}

// send offers the next completions if the device has taken all that were offered.
func (c *Completer) send() {
	if c.under > 0 {
		return
	}
	var packets [][]byte
	for len(c.waiting) > 0 && len(packets) < mixedTLPs {
		tags := slices.Sorted(maps.Keys(c.waiting))
		tag := tags[c.p.rand.IntN(len(tags))]
		packets, c.waiting[tag] = append(packets, c.waiting[tag][0]), c.waiting[tag][1:]
		if len(c.waiting[tag]) == 0 {
			delete(c.waiting, tag)
		}
	}
	if c.segments == nil {
		for _, b := range packets {
			c.under++
			c.p.Answer(c.stream, 0, nil, b)
		}
		return
	}
	for _, f := range c.segments.Beats(c.p.Stream(c.stream), packets, func() bool { return c.p.rand.IntN(8) == 0 }) {
		c.under++
		c.p.Answer(c.stream, 0, f, nil)
	}
}
