package ref

import (
	"maps"
	"slices"
)

// Completer answers memory reads on an input: completions of one request keep their order, those of different tags mix at
// random.
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
