package probe

import (
	"nictwin/models/board"
	"nictwin/scenarios/run/probe/classes"
)

// place is a card with the name under which its counters are listed.
type place struct {
	at     string
	server int
	card   *board.Card
}

// places lists the cards of a rack.
func places(r *board.Rack) (list []place) {
	for i, v := range r.Servers {
		for _, c := range v.Cards {
			p := place{v.Name, i, c}
			if len(v.Cards) > 1 {
				p.at = c.Name
			}
			list = append(list, p)
		}
	}
	return list
}

// Watch observes the links of a rack.
type Watch struct {
	Links    []*classes.Link   // bytes by class
	Memory   []*classes.Memory // by server: to be filled in when its stack is opened
	Depths   []func() []Depth  // by server: lengths of its stack's queues, filled in likewise; nil: none
	Stack    [][]Counter       // by server: further counters of its stack, filled in likewise
	ethernet []Counter
}

// Depth is the length of a queue of a stack.
type Depth struct {
	Name   string
	Length int
}

// NewWatch begins to observe a rack, before its stacks are opened: descriptors that a NIC reads ahead name the buffers
// that it writes later.
func NewWatch(r *board.Rack, c *Cables) *Watch {
	w := new(Watch)
	for range r.Servers {
		w.Memory, w.Depths = append(w.Memory, new(classes.Memory)), append(w.Depths, nil)
		w.Stack = append(w.Stack, nil)
	}
	for _, p := range places(r) {
		w.Links = append(w.Links, classes.Card(p.at, p.card, w.Memory[p.server])...)
	}
	var cables []*classes.Link
	w.ethernet, cables = c.count()
	w.Links = append(w.Links, cables...)
	return w
}

// Begin begins to count bytes by class.
func (w *Watch) Begin() {
	for _, l := range w.Links {
		l.Begin()
	}
}

// Counters lists the bytes of cables and of links of devices, and the board's counters.
func (w *Watch) Counters(r *board.Rack) []Counter {
	list := append([]Counter(nil), w.ethernet...)
	for _, l := range w.Links {
		if l.Own {
			list = append(list, Counter{Picture: Links, Where: l.Where, What: l.What, Unit: Bytes, Read: l.Total})
		}
	}
	return append(list, w.board(r)...)
}
