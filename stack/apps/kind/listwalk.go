package kind

import (
	"fmt"

	"nictwin/models/sim/field"
)

// ListWalk is the kind of walks through a linked list in the server's memory, to the node with a key. A handler on the
// server's card walks and answers, or the client READs node by node.
const ListWalk Name = "list_walk"

type listWalk struct{ lookup }

func (listWalk) Name() Name          { return ListWalk }
func (listWalk) Lengths() Lengths    { return Lengths{ValueBytes, ValueBytes, 1} }
func (k listWalk) Options() []Option { return append(k.lookup.Options(), Hops, Access) }

func (k listWalk) validate(f *Fields, bad *Faults) {
	k.check(ListWalk, f, bad)
	bad.Check(len(f.Hops) <= MaxDepth, "hops", ": %d of them: want %d at most", len(f.Hops), MaxDepth)
	for i, n := range f.Hops {
		bad.Check(n >= 0 && n <= MaxHops, field.Path(fmt.Sprintf("hops[%d]", i)),
			"%d: want 0 for a key that no node has, to %d", n, MaxHops)
	}
}
