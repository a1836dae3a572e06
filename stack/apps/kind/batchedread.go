package kind

// BatchedRead is the kind of requests for values at many addresses of the server's memory. A handler on the server's
// card reads them and answers, or the client posts a READ for each at once.
const BatchedRead Name = "batched_read"

type batchedRead struct{ lookup }

func (batchedRead) Name() Name          { return BatchedRead }
func (batchedRead) Lengths() Lengths    { return Lengths{ValueBytes, MaxBatch * ValueBytes, ValueBytes} }
func (k batchedRead) Options() []Option { return append(k.lookup.Options(), Access) }

func (k batchedRead) validate(f *Fields, bad *Faults) { k.check(BatchedRead, f, bad) }
