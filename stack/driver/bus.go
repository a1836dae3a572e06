package driver

// Bus is how software reaches a NIC and the memory that it shares with it.
//
// Every access ends with exactly one call of done, during the call that began
// it or later; until then the bytes belong to the bus. Accesses to memory take
// effect in the order in which they were begun. Register accesses leave in
// order, too, but may overtake a write to memory that is not done: the driver
// waits for its writes before it rings a doorbell.
type Bus interface {
	// WriteReg writes b (4, 8 or 64 bytes) to the register space at byte off. It is posted; b may be used again at
	// once.
	WriteReg(off uint32, b []byte) error

	// ReadReg reads n bytes (4 or 8) of the register space at byte off.
	ReadReg(off uint32, n int, done func(v uint64, err error))

	// Read fills b from memory at a bus address [P1].
	Read(addr uint64, b []byte, done func(err error))

	// Write stores b in memory at a bus address.
	Write(addr uint64, b []byte, done func(err error))

	// Watch calls f after every write of the NIC that touches n bytes at a bus address. Ranges must not overlap. stop
	// ends it; f may call it.
	Watch(addr uint64, n int, f func()) (stop func(), err error)
}

// Flusher is a Bus on which what the NIC writes to one endpoint's memory may be seen later than what it wrote
// afterwards to another's: a completion entry does not prove that payload elsewhere is there. A Copier flushes by
// itself.
type Flusher interface {
	// Flush calls done when all that the NIC wrote to an endpoint's memory before is there.
	Flush(endpoint int, done func(err error))
}
