package rtlbridge

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"nictwin/rtlbridge/protocol"
)

// How waiting works: a receive first spins on the non-blocking descriptor, because waking a sleeping thread
// costs more than a quantum's exchange, then blocks in the kernel. To pay off, a spin must be longer than the
// wait: it lasts twice the time that the device took for its last quantum and a little more, and is omitted if
// that would be long. A spin without a result, or during which the processor was taken away, is followed by
// receives that block at once: on a busy machine a spinning reader only delays the device that it waits for.
// Each such spin doubles their number, each successful one halves it. If this program has as many devices as
// there are processors, no receive spins: it would take a processor from a device.
const (
	spinExtra = 20 * time.Microsecond
	spinMost  = 400 * time.Microsecond
	stolenGap = 30 * time.Microsecond // a longer gap between two polls means that the processor was taken away
	restMost  = 256                   // maximum number of receives without spinning after a spin that received nothing
	// polls per clock reading
	socketPolls = 4
	sharedPolls = 100
)

// transport moves bytes over a stream socket, or over shared memory beside one, with deadlines. It is used by one
// goroutine at a time.
type transport struct {
	fd      int
	shared  *rings // shared memory; nil: the socket carries the bytes, otherwise it only wakes a sleeping side
	closed  bool   // the other side has closed the socket (used with shared memory)
	timeout time.Duration
	spins   bool          // there is a second processor
	expect  time.Duration // time that the device took for the latest quantum
	rest    int           // number of the next receives that must not spin, since a spin was in vain
	penalty int           // latest start value of rest; doubled when a spin is in vain, halved when one succeeds
	pending []byte        // received while a send was blocked
	maxPend int
	epoch   time.Time
	left    time.Duration // time left to wait for the device, before it counts as hung

	Waited   time.Duration // time spent blocked or spinning in receives
	Sleeps   uint64        // receives that blocked
	Receives uint64
}

// newTransport takes over fd and the shared memory, if there is any.
func newTransport(fd int, shared *rings, timeout time.Duration) (*transport, error) {
	t := &transport{fd: fd, shared: shared, spins: runtime.NumCPU() > 1, timeout: timeout,
		maxPend: 4 * protocol.MaxFrameBytes, epoch: time.Now()}
	if err := unix.SetNonblock(fd, false); err != nil {
		return t, fmt.Errorf("device socket: %w", err)
	}
	for _, opt := range []int{unix.SO_RCVBUF, unix.SO_SNDBUF} {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, opt, 4<<20) // only a request: the kernel's limit applies
	}
	return t, nil
}

func (t *transport) close() error {
	err := unix.Close(t.fd)
	if t.shared != nil {
		err = errors.Join(err, t.shared.close())
		t.shared = nil
	}
	return err
}

// recvNow polls once without blocking: errEmpty if nothing is available, ErrClosed at the end.
func (t *transport) recvNow(b []byte) (int, error) {
	if t.shared != nil {
		return t.takeShared(b)
	}
	n, errno := socketRecv(t.fd, b)
	switch {
	case errno == syscall.EAGAIN || errno == syscall.EINTR:
		return 0, errEmpty
	case errno == syscall.ECONNRESET || errno == 0 && n == 0:
		return 0, protocol.ErrClosed
	case errno != 0:
		return 0, fmt.Errorf("receiving from the device: %w", errno)
	}
	return n, nil
}

// sendNow sends what fits without blocking: errEmpty if nothing fits, ErrClosed if the other side has closed.
func (t *transport) sendNow(b []byte) (int, error) {
	if t.shared != nil {
		return t.putShared(b)
	}
	n, errno := socketSend(t.fd, b)
	switch errno {
	case 0:
		return n, nil
	case syscall.EAGAIN, syscall.EINTR:
		return 0, errEmpty
	case syscall.EPIPE, syscall.ECONNRESET:
		return 0, protocol.ErrClosed
	}
	return 0, fmt.Errorf("sending to the device: %w", errno)
}

func (t *transport) takeShared(b []byte) (int, error) {
	r := &t.shared.in
	n, err := r.get(b)
	switch {
	case err != nil:
		return 0, err
	case n == 0 && t.closed:
		return 0, protocol.ErrClosed
	case n == 0:
		return 0, errEmpty
	}
	if wake(r.writerAsleep) {
		t.ring()
	}
	return n, nil
}

func (t *transport) putShared(b []byte) (int, error) {
	r := &t.shared.out
	n, err := r.put(b)
	switch {
	case err != nil:
		return 0, err
	case t.closed:
		return 0, protocol.ErrClosed
	case n == 0:
		return 0, errEmpty
	}
	if wake(r.readerAsleep) {
		t.ring()
	}
	return n, nil
}

// ring wakes the other side. If the socket is already full of wake-up bytes, the other side will wake
// anyway.
func (t *transport) ring() {
	b := [1]byte{1}
	_, _ = socketSend(t.fd, b[:])
}

// The calls below never block, so they bypass Go's scheduler.
func socketRecv(fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b[0])),
		uintptr(len(b)),
		unix.MSG_DONTWAIT, 0, 0)
	return int(n), errno
}

func socketSend(fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)),
		unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	return int(n), errno
}

// naps is the number of parts that a wait for a device is divided into. Time is counted in naps, because a
// nap that took longer than planned means that this program was stopped or did not get a processor, and the
// device may have been in the same position.
const naps = 8

// arm allows the following receives to wait for the device for the timeout and an allowance.
func (t *transport) arm(allowance time.Duration) { t.left = t.timeout + allowance }

// sleep blocks until something can be received, or also sent if writing is set, or a nap is over.
func (t *transport) sleep(writing bool, what string) error {
	if t.left <= 0 {
		return fmt.Errorf("%w (%s for %v)", protocol.ErrTimeout, what, t.timeout)
	}
	nap := min(t.left, t.timeout/naps)
	begin := time.Since(t.epoch)
	err := t.nap(nap, writing)
	t.left -= min(time.Since(t.epoch)-begin, nap)
	return err
}

func (t *transport) nap(d time.Duration, writing bool) error {
	if t.shared != nil {
		return t.napShared(d, writing)
	}
	events := int16(unix.POLLIN)
	if writing {
		events |= unix.POLLOUT
	}
	_, err := pollFor(t.fd, events, d)
	return err
}

// napShared announces that it sleeps, checks that nothing happened meanwhile, and waits for the other side's
// wake-up.
func (t *transport) napShared(d time.Duration, writing bool) error {
	in, out := &t.shared.in, &t.shared.out
	atomic.SwapUint32(in.readerAsleep, 1)
	if writing {
		atomic.SwapUint32(out.writerAsleep, 1)
	}
	if atomic.LoadUint64(in.head) != in.mine || writing && atomic.LoadUint64(out.tail) != out.theirs {
		return nil
	}
	got, err := pollFor(t.fd, unix.POLLIN, d)
	if err != nil || got == 0 {
		return err
	}
	var bells [64]byte
	n, errno := socketRecv(t.fd, bells[:])
	t.closed = errno == 0 && n == 0 || errno == syscall.ECONNRESET
	return nil
}

func pollFor(fd int, events int16, d time.Duration) (revents int16, err error) {
	p := [1]unix.PollFd{{Fd: int32(fd), Events: events}}
	if _, err := unix.Poll(p[:], int(d.Milliseconds())+1); err != nil && !errors.Is(err, unix.EINTR) {
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
	n, err := t.spinRead(b, begin)
	for err == errEmpty {
		t.Sleeps++
		if err := t.sleep(false, "silent"); err != nil {
			return 0, err
		}
		n, err = t.recvNow(b)
	}
	t.Waited += time.Since(t.epoch) - begin
	return n, err
}

// spinRead polls for a while; errEmpty means that the caller should sleep.
func (t *transport) spinRead(b []byte, begin time.Duration) (int, error) {
	budget := 2*t.expect + spinExtra
	if !t.spins || budget > spinMost || int(children.Load()) >= runtime.NumCPU() {
		return t.recvNow(b)
	}
	if t.rest > 0 {
		t.rest--
		return t.recvNow(b)
	}
	step := socketPolls
	if t.shared != nil {
		step = sharedPolls
	}
	for before := begin; ; {
		for range step {
			n, err := t.recvNow(b)
			if err != errEmpty {
				t.penalty /= 2
				return n, err
			}
		}
		now := time.Since(t.epoch)
		if now-before > stolenGap || now-begin > budget {
			t.penalty = min(2*t.penalty+1, restMost)
			t.rest = t.penalty
			return 0, errEmpty
		}
		before = now
	}
}

// errEmpty reports a poll without a result.
var errEmpty = errors.New("nothing there")

// write sends all of b. While the device does not read, it receives what the device sends, so that two full
// buffers cannot block both sides for ever.
func (t *transport) write(b []byte) error {
	for len(b) > 0 {
		n, err := t.sendNow(b)
		switch err {
		case nil:
			b = b[n:]
		case errEmpty:
			if err := t.waitWritable(); err != nil {
				return err
			}
		default:
			return err
		}
	}
	return nil
}

func (t *transport) waitWritable() error {
	if err := t.sleep(true, "taking no input"); err != nil {
		return err
	}
	var chunk [16 << 10]byte
	n, err := t.recvNow(chunk[:])
	if err == errEmpty {
		return nil
	}
	if err != nil {
		return err // an ERROR frame that the device sent before it closed is still to be read
	}
	if len(t.pending)+n > t.maxPend {
		return protocol.ErrFlood
	}
	t.pending = append(t.pending, chunk[:n]...)
	return nil
}
