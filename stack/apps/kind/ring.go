package kind

import (
	"nictwin/models/sim/field"
	"nictwin/stack/rb2"
)

// Ring is the kind of messages through a ring buffer of package rb2, whose receiver reads them from its memory.
const Ring Name = "ring"

type ring struct{ plain }

func (ring) Name() Name        { return Ring }
func (ring) Traits() Traits    { return Traits{Pattern: Rings} }
func (ring) Lengths() Lengths  { return Lengths{1, MaxBytes, 1} }
func (ring) Options() []Option { return []Option{RingSpec} }

func (ring) lacks(o Option) (why, want string) {
	if why, want = (plain{}).lacks(o); o == Inline || o == Reused || o == Misuse {
		why = "makes requests by itself"
	}
	return why, want
}

// SpecOf returns the spec of each flow's ring, for messages of up to `largest` bytes.
func SpecOf(r rb2.Spec, depth, largest int) rb2.Spec {
	r.Slots, r.SlotBytes = depth, r.SlotFor(largest)
	return r
}

func (ring) validate(f *Fields, bad *Faults) {
	ownRequests("ring makes requests", f, bad)
	largest, ok := f.largest()
	if f.Depth < rb2.MinSlots || f.Depth > MaxDepth {
		bad.Check(false, "depth", "%d: of %v %s it is the slots of each ring: want %d to %d", f.Depth,
			field.Path("kind"), Ring, rb2.MinSlots, MaxDepth)
		return
	}
	if !ok {
		return // bad lengths are reported elsewhere
	}
	r := SpecOf(f.Ring, f.Depth, largest)
	bad.Check(!r.WordsInSlots() || f.Offset%rb2.WordBytes == 0, "offset",
		"%d: slots have words with %v %s: want a multiple of %d", f.Offset, field.Path("ring.tail"), r.Tail,
		rb2.WordBytes)
	if r.SlotBytes > rb2.MaxSlotBytes {
		bad.Check(false, "sizes", ": the longest message takes slots of %d B: want %d at most", r.SlotBytes,
			rb2.MaxSlotBytes)
		return
	}
	bad.Add(field.Against(field.Under("ring", r.Validate()), "depth", "sizes", "kind"))
}
