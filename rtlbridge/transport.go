package rtlbridge

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// How waiting works: a receive first spins on the non-blocking descriptor, because waking a sleeping thread costs more
// than a quantum's exchange, then blocks in the kernel. To pay, a spin must outlast the usual wait: it lasts twice the
// average of late, and is left out where that would be long. When the processor was taken away during a spin the machine
// is busy, and a spinning reader only delays the device it waits for: then receives block for a while.
const (
	spinLeast = 20 * time.Microsecond
	spinMost  = 250 * time.Microsecond
	waitCap   = time.Millisecond      // a longer wait counts as this, so that the average recovers soon
	stolenGap = 30 * time.Microsecond // between two polls of a thread that owns its processor
	spinRest  = 256                   // receives without spinning after that
	clockStep = 4                     // polls per clock reading
)

// transport moves bytes over a stream socket with deadlines. It is used by one goroutine at a time.
type transport struct {
	fd      int
	timeout time.Duration
	spins   bool          // there is a second processor
	usual   time.Duration // average wait of late
	rest    int
	pending []byte // received while a send was blocked
	maxPend int
	epoch   time.Time
	limit   time.Duration // when to give up, since epoch

	Waited   time.Duration // blocked or spinning in receive
	Sleeps   uint64        // receives that blocked
	Receives uint64
}

func newTransport(fd int, timeout time.Duration) (*transport, error) {
	t := &transport{fd: fd, spins: runtime.NumCPU() > 1, timeout: timeout, maxPend: 4 * MaxFrameBytes, epoch: time.Now()}
	if err := unix.SetNonblock(fd, false); err != nil {
		return nil, fmt.Errorf("device socket: %w", err)
	}
	for _, opt := range []int{unix.SO_RCVBUF, unix.SO_SNDBUF} {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, opt, 4<<20) // a wish; the kernel's limit applies
	}
	return t, nil
}

func (t *transport) close() error { return unix.Close(t.fd) }

// recvNow polls once without blocking and without telling Go's scheduler: it returns at once.
func (t *transport) recvNow(b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, uintptr(t.fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)),
		unix.MSG_DONTWAIT, 0, 0)
	return int(n), errno
}

// sendNow sends what fits without blocking.
func (t *transport) sendNow(b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDTO, uintptr(t.fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)),
		unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	return int(n), errno
}

// arm starts the clock for what follows: it must be over after the timeout and an allowance.
func (t *transport) arm(allowance time.Duration) {
	t.limit = time.Since(t.epoch) + t.timeout + allowance
}

// sleep blocks until one of events is possible or the limit passes.
func (t *transport) sleep(events int16, what string) (revents int16, err error) {
	left := t.limit - time.Since(t.epoch)
	if left <= 0 {
		return 0, fmt.Errorf("%w (%s for %v)", ErrTimeout, what, t.timeout)
	}
	p := [1]unix.PollFd{{Fd: int32(t.fd), Events: events}}
	_, err = unix.Poll(p[:], int(left.Milliseconds())+1)
	if err != nil && !errors.Is(err, unix.EINTR) {
		return 0, fmt.Errorf("waiting for the device: %w", err)
	}
	return p[0].Revents, nil
}

// read receives at least one byte into b.
func (t *transport) read(b []byte) (int, error) {
	if len(t.pending) != 0 {
		n := copy(b, t.pending)
		t.pending = append(t.pending[:0], t.pending[n:]...)
		return n, nil
	}
	t.Receives++
	begin := time.Since(t.epoch)
	n, errno := t.spinRead(b, begin)
	for errno == syscall.EAGAIN || errno == syscall.EINTR {
		t.Sleeps++
		if _, err := t.sleep(unix.POLLIN, "silent"); err != nil {
			return 0, err
		}
		n, errno = t.recvNow(b)
	}
	wait := time.Since(t.epoch) - begin
	t.Waited += wait
	t.usual += (min(wait, waitCap) - t.usual) / 8
	switch {
	case errno == syscall.ECONNRESET || errno == 0 && n == 0:
		return 0, ErrClosed
	case errno != 0:
		return 0, fmt.Errorf("receiving from the device: %w", errno)
	}
	return n, nil
}

// spinRead polls for a while; EAGAIN means that the caller should sleep.
func (t *transport) spinRead(b []byte, begin time.Duration) (int, syscall.Errno) {
	budget := max(2*t.usual, spinLeast)
	if !t.spins || budget > spinMost {
		return t.recvNow(b)
	}
	if t.rest > 0 {
		t.rest--
		return t.recvNow(b)
	}
	before := begin
	for {
		for range clockStep {
			n, errno := t.recvNow(b)
			if errno != syscall.EAGAIN && errno != syscall.EINTR {
				return n, errno
			}
		}
		now := time.Since(t.epoch)
		if now-before > stolenGap {
			t.rest = spinRest
			return 0, syscall.EAGAIN
		}
		if now-begin > budget {
			return 0, syscall.EAGAIN
		}
		before = now
	}
}

// write sends all of b. While the device does not read, what it sends is taken in, so that two full socket buffers cannot
// block both sides for ever.
func (t *transport) write(b []byte) error {
	for len(b) > 0 {
		n, errno := t.sendNow(b)
		switch errno {
		case 0:
			b = b[n:]
		case syscall.EINTR:
		case syscall.EAGAIN:
			if err := t.waitWritable(); err != nil {
				return err
			}
		case syscall.EPIPE, syscall.ECONNRESET:
			return ErrClosed
		default:
			return fmt.Errorf("sending to the device: %w", errno)
		}
	}
	return nil
}

func (t *transport) waitWritable() error {
	got, err := t.sleep(unix.POLLIN|unix.POLLOUT, "taking no input")
	if err != nil || got&unix.POLLIN == 0 {
		return err
	}
	var chunk [64 << 10]byte
	n, errno := t.recvNow(chunk[:])
	switch {
	case errno == syscall.EAGAIN || errno == syscall.EINTR:
		return nil
	case errno != 0 || n == 0:
		return ErrClosed // what the device said before is still to be read
	}
	if len(t.pending)+n > t.maxPend {
		return ErrFlood
	}
	t.pending = append(t.pending, chunk[:n]...)
	return nil
}
