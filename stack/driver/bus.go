package driver

// Bus gives software access to a NIC's registers and to the memory that they share.
//
// Every access calls done exactly once, during the call that began it or later; until then its bytes belong to the bus.
// Memory accesses take effect in the order in which they were begun. Register accesses leave in order, too, but may
// overtake an unfinished memory write: the driver waits for its writes before it rings a doorbell.
type Bus interface {
	// WriteReg writes b (4, 8 or 64 bytes) to the register space at byte offset off. The write is posted; b may be
	// reused at once.
	WriteReg(off uint32, b []byte) error

	// ReadReg reads n bytes (4 or 8) of the register space at byte offset off.
	ReadReg(off uint32, n int, done func(v uint64, err error))

	// Read fills b from memory at a bus address [P1].
	Read(addr uint64, b []byte, done func(err error))

	// Write stores b in memory at a bus address.
	Write(addr uint64, b []byte, done func(err error))

	// Watch calls f after every write of the NIC that touches the n bytes at a bus address. Ranges must not overlap.
	// stop ends the watch; f may call it.
	Watch(addr uint64, n int, f func()) (stop func(), err error)
}

// Prefetcher is a Bus that can begin to load memory which software is likely to read soon, and does not make it wait.
type Prefetcher interface {
	Prefetch(addr uint64, n int)
}

// Deferrer is a Bus whose core has other software, which takes turns with the driver.
type Deferrer interface {
	// Defer calls f in a later turn of the core. What has arrived by then is visible to f.
	Defer(f func()) error
}

// Flusher is a Bus on which what the NIC writes to one endpoint's memory may become visible later than what it then
// writes to the other's: a completion entry does not prove that payload elsewhere has arrived. A Copier flushes by
// itself.
type Flusher interface {
	// Flush calls done when everything that the NIC wrote to an endpoint's memory before has arrived.
	Flush(endpoint int, done func(err error))
}
