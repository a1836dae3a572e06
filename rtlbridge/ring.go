package rtlbridge

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Layout of the memory shared with a child (docs/bridge.md, "Transport"): one ring of bytes for each
// direction, each with its control words first.
const (
	ringBytes   = 256 << 10
	ringControl = 4096 // bytes before the data
	sharedBytes = ringControl + 2*ringBytes
)

// ring is one direction. head and tail count the bytes ever written and ever read.
//
// Words that the other side reads are swapped in, not stored: under the race detector an atomic store to memory
// outside Go's is an ordinary one, the subsequent load of the other side's flag may overtake it, and a wake-up
// is lost.
type ring struct {
	head, tail                 *uint64
	readerAsleep, writerAsleep *uint32
	data                       []byte
	mine                       uint64 // this side's counter: head for the writer, tail for the reader
	theirs                     uint64 // the other side's counter, as last read
}

// rings is the shared memory of one child.
type rings struct {
	mem     []byte
	out, in ring
}

// newRings allocates the memory; the file is for the child.
func newRings() (*rings, *os.File, error) {
	fd, err := unix.MemfdCreate("nictwin", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, fmt.Errorf("shared memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), "shared memory")
	if err := unix.Ftruncate(fd, sharedBytes); err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("shared memory: %w", err)
	}
	mem, err := unix.Mmap(fd, 0, sharedBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("shared memory: %w", err)
	}
	return &rings{mem: mem, out: ringAt(mem, 0), in: ringAt(mem, 1)}, f, nil
}

func ringAt(mem []byte, i int) ring {
	word := func(at int) unsafe.Pointer { return unsafe.Pointer(&mem[256*i+at]) }
	data := mem[ringControl+i*ringBytes:]
	return ring{
		head: (*uint64)(word(0)), tail: (*uint64)(word(64)),
		readerAsleep: (*uint32)(word(128)), writerAsleep: (*uint32)(word(192)),
		data: data[:ringBytes:ringBytes],
	}
}

func (r *rings) close() error { return unix.Munmap(r.mem) }

// put writes as much of b as fits. It does not trust the other side's counter.
func (r *ring) put(b []byte) (int, error) {
	if ringBytes-(r.mine-r.theirs) < uint64(len(b)) {
		r.theirs = atomic.LoadUint64(r.tail)
	}
	used := r.mine - r.theirs
	if used > ringBytes {
		return 0, fmt.Errorf("shared memory is corrupt: %d of %d bytes in use", used, ringBytes)
	}
	n := min(len(b), int(ringBytes-used))
	if n == 0 {
		return 0, nil
	}
	at := int(r.mine % ringBytes)
	k := copy(r.data[at:], b[:n])
	copy(r.data, b[k:n])
	r.mine += uint64(n)
	atomic.SwapUint64(r.head, r.mine)
	return n, nil
}

// get reads the available bytes, at most len(b).
func (r *ring) get(b []byte) (int, error) {
	if r.theirs == r.mine {
		if r.theirs = atomic.LoadUint64(r.head); r.theirs == r.mine {
			return 0, nil
		}
	}
	have := r.theirs - r.mine
	if have > ringBytes {
		return 0, fmt.Errorf("shared memory is corrupt: %d of %d bytes in use", have, ringBytes)
	}
	n := min(len(b), int(have))
	at := int(r.mine % ringBytes)
	k := copy(b[:n], r.data[at:])
	copy(b[k:n], r.data)
	r.mine += uint64(n)
	atomic.SwapUint64(r.tail, r.mine)
	return n, nil
}

// wake reports whether the other side sleeps and must be woken; it returns true once per sleep.
func wake(asleep *uint32) bool {
	return atomic.LoadUint32(asleep) != 0 && atomic.SwapUint32(asleep, 0) != 0
}
