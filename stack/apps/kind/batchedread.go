package kind

import "nictwin/models/sim/field"

// BatchedRead is the kind of requests for values at many addresses of the server's memory. A handler on the server's
// card reads them and answers, or the client posts a READ for each, all of them together.
const BatchedRead Name = "batched_read"

type batchedRead struct{ lookup }

func (batchedRead) Name() Name          { return BatchedRead }
func (batchedRead) Lengths() Lengths    { return Lengths{ValueBytes, MaxBatch * ValueBytes, ValueBytes} }
func (k batchedRead) Options() []Option { return append(k.lookup.Options(), Access) }

func (k batchedRead) validate(f *Fields, bad *Faults) {
	k.check(BatchedRead, f, bad)
	if n, ok := f.largest(); ok && k.by == ByReads {
		n = f.Depth * n / ValueBytes
		bad.Check(n <= MaxDepth, "depth", "%d: with %v it makes %d READs at a time: want %d at most", f.Depth,
			field.Path("sizes"), n, MaxDepth)
	}
}
