package driver

import "nictwin/models/sim/fifo"

// Lock is a lock in memory by which software of several cores writes shared memory one after another. Cores get it in
// the order in which they ask.
type Lock struct {
	Addr    uint64 // bus address of its word, which has a cache line for itself
	taken   bool
	waiting fifo.Queue[func()]
}

// Take calls granted when the lock is the caller's: at once if the lock is free, or else when those who asked before
// have freed it.
func (l *Lock) Take(granted func()) {
	if l.taken {
		l.waiting.Push(granted)
		return
	}
	l.taken = true
	granted()
}

// Free gives the lock to the next who waits for it.
func (l *Lock) Free() {
	if l.waiting.Len() > 0 {
		l.waiting.Pop()()
		return
	}
	l.taken = false
}

// Locker is a Bus of a core that does its work later than software asks for it: writes of two cores do not take effect
// in the order of the calls. Cores that write the same memory need a lock. On other buses that order holds, and the end
// of a write says that it has taken effect.
type Locker interface {
	Deferrer

	// Locked calls f in a later turn of the core, while the core holds a lock. Waiting for the lock, and reading and
	// writing its word, take the core's time. freed is called when all that f began has left the core, and the lock is
	// free again; the accesses to the word may have failed.
	Locked(l *Lock, f func(), freed func(error)) error
}
