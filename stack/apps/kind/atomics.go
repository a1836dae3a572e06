package kind

import "nictwin/models/sim/field"

// Atomics is the kind of FETCH_ADDs and CMP_SWPs of a counter in the server's memory.
const Atomics Name = "atomics"

type atomics struct{ plain }

func (atomics) Name() Name        { return Atomics }
func (atomics) Traits() Traits    { return Traits{} }
func (atomics) Lengths() Lengths  { return Lengths{CounterLen, CounterLen, 1} }
func (atomics) Options() []Option { return []Option{SharedCounter, Misuse} }

func (atomics) validate(f *Fields, bad *Faults) {
	bad.Check(f.Pieces == 1 && f.Offset%CounterLen == 0, "pieces",
		"%d at %v %d: an atomic has one piece of 8 bytes, aligned: want 1 and a multiple of 8", f.Pieces,
		field.Path("offset"), f.Offset)
}
