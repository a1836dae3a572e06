package ref

import (
	"fmt"
	"maps"
	"slices"

	"nictwin/models/format/tlp"
)

// Completer answers memory reads on an input: completions of one request keep their order, those of different tags mix
// at random.
type Completer struct {
	p        *Player
	stream   string
	segments *Segments
	waiting  map[uint8][][]byte
	under    int // transactions that are offered
}

// mixedTLPs are how many completions are offered together: later ones can still mix with those of later requests.
const mixedTLPs = 4

// NewCompleter answers on an input: a record whose beats carry segments, or, without segments, packets, a TLP each.
func (p *Player) NewCompleter(stream string, s *Segments) *Completer {
	c := &Completer{p: p, stream: stream, segments: s, waiting: map[uint8][][]byte{}}
	p.On(stream, func(*Msg) {
		c.under--
		c.send()
	})
	return c
}

// Waits reports whether a completion of a tag has not been offered yet, so that the tag must not be used again.
func (c *Completer) Waits(tag uint8) bool { return c.waiting[tag] != nil }

// Complete answers a request with the function Complete.
func (c *Completer) Complete(req TLP, data []byte, mps, rcb int, completer uint16) {
	c.waiting[req.Tag] = Complete(c.p.rand, req, data, mps, rcb, completer)
	c.send()
}

// Completing is how a completer answers.
type Completing struct {
	Most int    // bytes that a request asks for at most: Max_Read_Request_Size
	MPS  int    // bytes of a completion at most: Max_Payload_Size
	RCB  int    // read completion boundary, in bytes
	ID   uint16 // of the completer
}

// Read answers a memory read, a TLP as on the wire, with what a memory has. It must ask for bytes of one page of 4 KB
// (PCIe 2.2.7), not for too many, and by a tag that is free (PCIe 2.2.6.2).
func (c *Completer) Read(m *Msg, request []byte, from *Memory, o Completing) {
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
		c.p.Wrong(m, "tag", "one that is free", fmt.Sprint(h.Tag))
	case int(h.Length)*tlp.DWBytes > o.Most || at%4096+uint64(n) > 4096:
		c.p.Wrong(m, "request", fmt.Sprintf("at most %d bytes, of one page", o.Most), h.String())
	default:
		c.Complete(h, from.Read(at, n), o.MPS, o.RCB, o.ID)
	}
}

// send offers a few completions, if none is offered.
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
