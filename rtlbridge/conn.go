package rtlbridge

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/protocol"
)

// DefaultTimeout limits every wait for a device.
const DefaultTimeout = 8 * time.Second

// LaunchOptions configure the start of a device process.
type LaunchOptions struct {
	Timeout  time.Duration // limit of every exchange; 0: DefaultTimeout
	PlusArgs []string      // "+name=value", read by the design with $value$plusargs
	Wave     string        // file for a waveform; needs VariantWaves
	WaveFrom uint64        // first cycle of the waveform
	WaveTo   uint64        // last cycle of the waveform; 0: last cycle of the run
	Coverage string        // file for coverage data, written when the device stops; needs VariantCoverage
	Record   io.Writer     // receives every START, INPUT and RUN frame, for Playback; nil: none
	// Socket sends everything over the socket; by default frames use shared memory.
	Socket bool
}

func (o *LaunchOptions) args() ([]string, error) {
	var args []string
	for _, a := range o.PlusArgs {
		if !strings.HasPrefix(a, "+") {
			return nil, fmt.Errorf("plus argument %q: needs a leading +", a)
		}
		args = append(args, a)
	}
	if o.Wave != "" {
		args = append(args, "--wave", o.Wave, "--wave-from", strconv.FormatUint(o.WaveFrom, 10))
		if o.WaveTo != 0 && o.WaveTo <= math.MaxInt64 {
			args = append(args, "--wave-to", strconv.FormatUint(o.WaveTo, 10))
		}
	}
	if o.Coverage != "" {
		args = append(args, "--coverage", o.Coverage)
	}
	return args, nil
}

// DialOptions configure the connection to a running device.
type DialOptions struct {
	Timeout   time.Duration
	Token     [32]byte
	BuildHash string // if not empty, the build hash (hexadecimal) that the device must report
	Record    io.Writer
}

// Conn is a session with one device. It is used by one goroutine at a time. After an error only Close is useful.
type Conn struct {
	name   string
	t      *transport
	proc   *process // nil if the device was not started by this program
	hello  *protocol.Hello
	record io.Writer
	broken error

	in     []byte // receive buffer
	lo, hi int    // in[lo:hi] holds bytes that are not yet consumed
	out    []byte // RUN or INPUT frame under construction; its records begin at offset `reserve`
	nRec   uint32
	early  uint32 // records sent ahead of the next RUN
	run    protocol.Ran
	due    int                         // RUN frames sent and not yet answered
	index  uint64                      // next quantum to send
	rindex uint64                      // next quantum to receive
	cycle  uint64                      // end of the last quantum received
	taken  uint64                      // bytes received of the current quantum
	sent   [2 * MaxAhead]uint64        // end cycle of quantum i-1, at index i modulo len(sent)
	sentAt [2 * MaxAhead]time.Duration // likewise: time since t.epoch at which the RUN of quantum i-1 was sent
	start  protocol.Start
	order  protocol.Order
}

// reserve is the space for the longest head before the records.
const reserve = protocol.HeadBytes + protocol.RunBytes

// softFrame is the size from which on a quantum's inputs are sent ahead in an INPUT frame.
const softFrame = 1 << 20

// Launch starts a device as a child and shakes hands with it. The child ends when the connection is closed or this
// program ends. Failures of the child are *InfraError.
func Launch(d *build.Device, o LaunchOptions) (*Conn, error) {
	args, err := o.args()
	if err != nil {
		return nil, err
	}
	var shared *rings
	var file *os.File
	if !o.Socket {
		if shared, file, err = newRings(); err != nil {
			return nil, &protocol.InfraError{Device: d.Manifest.Name, Op: "launch", Err: err}
		}
		defer file.Close()
	}
	proc, fd, err := spawn(d.Binary, append(args, d.Args...), file)
	if err != nil {
		if shared != nil {
			err = errors.Join(err, shared.close())
		}
		return nil, &protocol.InfraError{Device: d.Manifest.Name, Op: "launch", Err: err}
	}
	return newConn(d.Manifest.Name, proc, o.Record).open(fd, shared, [32]byte{}, d.HashString(), o.Timeout)
}

// Dial reaches a device that listens at "unix:/path" or "tcp:A.B.C.D:port".
func Dial(address string, o DialOptions) (*Conn, error) {
	if err := CheckAddress(address); err != nil {
		return nil, err
	}
	network, at, _ := strings.Cut(address, ":")
	timeout := o.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	c, err := net.DialTimeout(network, at, timeout)
	if err != nil {
		return nil, &protocol.InfraError{Device: address, Op: "dial", Err: err}
	}
	defer func() { _ = c.Close() }() // c was duplicated; the duplicate stays open
	fd, err := dupConn(c)
	if err != nil {
		return nil, &protocol.InfraError{Device: address, Op: "dial", Err: err}
	}
	return newConn(address, nil, o.Record).open(fd, nil, o.Token, o.BuildHash, o.Timeout)
}

// maxUnixPath is the maximum length of a socket's path, with its terminating zero byte.
const maxUnixPath = 107

// CheckAddress reports whether address has the form that Dial accepts, without connecting to the device.
func CheckAddress(address string) error {
	network, at, _ := strings.Cut(address, ":")
	switch network {
	case "unix":
		if at != "" && len(at) <= maxUnixPath {
			return nil
		}
		return fmt.Errorf("device address %q: the path has %d bytes, needs 1 to %d", address, len(at), maxUnixPath)
	case "tcp":
		if a, err := netip.ParseAddrPort(at); err == nil && a.Addr().Is4() && a.Port() != 0 {
			return nil
		}
	}
	return fmt.Errorf("device address %q: needs unix:/path or tcp:A.B.C.D:port", address)
}

// dupConn takes the descriptor out of Go's poller.
func dupConn(c net.Conn) (int, error) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return -1, fmt.Errorf("%T has no descriptor", c)
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return -1, err
	}
	fd := -1
	var dupErr error
	err = raw.Control(func(f uintptr) { fd, dupErr = unix.FcntlInt(f, unix.F_DUPFD_CLOEXEC, 0) })
	return fd, errors.Join(err, dupErr)
}

func newConn(name string, proc *process, record io.Writer) *Conn {
	return &Conn{name: name, proc: proc, record: record, in: make([]byte, 256<<10), out: make([]byte, reserve, 256<<10)}
}

// open takes over a socket and shakes hands with the device over it; shared is the shared memory beside it, or
// nil.
func (c *Conn) open(fd int, shared *rings, token [32]byte, hash string, timeout time.Duration) (*Conn, error) {
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	var err error
	if c.t, err = newTransport(fd, shared, timeout); err != nil {
		return nil, c.fail("open", err)
	}
	c.t.arm(0)
	if err := c.t.write(protocol.AppendOpen(nil, &token)); err != nil {
		return nil, c.failReading("open", err)
	}
	body, err := c.expect(protocol.FrameHello)
	if err != nil {
		return nil, c.fail("open", err)
	}
	if c.hello, err = protocol.DecodeHello(body); err != nil {
		return nil, c.fail("open", err)
	}
	if got := hex.EncodeToString(c.hello.BuildHash[:]); hash != "" && got != hash {
		return nil, c.fail("open", fmt.Errorf("the device was built as %s, wanted %s", got, hash))
	}
	return c, nil
}

// Hello returns the device's introduction; it must not be changed.
func (c *Conn) Hello() *protocol.Hello { return c.hello }

// Cycle returns the number of cycles that the device is known to have run.
func (c *Conn) Cycle() uint64 { return c.cycle }

// StreamIndex finds a stream by name.
func (c *Conn) StreamIndex(name string) (int, bool) {
	for i, s := range c.hello.Streams {
		if s.Name == name {
			return i, true
		}
	}
	return 0, false
}

// fail ends the connection and the child and returns the InfraError that every later call returns, too.
func (c *Conn) fail(op string, err error) error {
	if c.broken != nil {
		return c.broken
	}
	e := &protocol.InfraError{Device: c.name, Op: op, Cycle: c.cycle, Err: err}
	if c.proc != nil {
		e.Exit, e.LastWords = c.proc.kill(grace(err))
	}
	if c.t != nil {
		_ = c.t.close() // the first failure is the one to report
	}
	c.broken = e
	return e
}

// grace returns the time that a child gets to end on its own. A child that reported an error or
// disconnected is about to end, and its exit status says more than our signal.
func grace(err error) time.Duration {
	if _, told := errors.AsType[*protocol.DeviceError](err); told || errors.Is(err, protocol.ErrClosed) {
		return DefaultTimeout
	}
	return 200 * time.Millisecond
}

// failReading handles a failed send: the device may have sent an ERROR frame before it closed, which is the
// better message.
func (c *Conn) failReading(op string, err error) error {
	if errors.Is(err, protocol.ErrClosed) {
		for range 2 {
			t, body, rerr := c.receive()
			if rerr != nil {
				break
			}
			if t == protocol.FrameError {
				if de, derr := protocol.DecodeError(body); derr == nil {
					err = de
				}
				break
			}
		}
	}
	return c.fail(op, err)
}

// receive returns the next frame; its body is valid until the next call.
func (c *Conn) receive() (protocol.FrameType, []byte, error) {
	if err := c.fill(protocol.HeadBytes); err != nil {
		return 0, nil, err
	}
	t, n, err := protocol.ParseHead(c.in[c.lo:])
	if err != nil {
		return t, nil, err
	}
	if err := c.fill(protocol.HeadBytes + n); err != nil {
		return t, nil, err
	}
	body := c.in[c.lo+protocol.HeadBytes : c.lo+protocol.HeadBytes+n]
	c.lo += protocol.HeadBytes + n
	return t, body, nil
}

// fill makes n unconsumed bytes available.
func (c *Conn) fill(n int) error {
	if c.lo == c.hi {
		c.lo, c.hi = 0, 0
	}
	if c.lo+n > len(c.in) {
		if n > len(c.in) {
			bigger := make([]byte, 2*n)
			copy(bigger, c.in[c.lo:c.hi])
			c.in, c.hi, c.lo = bigger, c.hi-c.lo, 0
		} else {
			copy(c.in, c.in[c.lo:c.hi])
			c.hi, c.lo = c.hi-c.lo, 0
		}
	}
	for c.hi-c.lo < n {
		got, err := c.t.read(c.in[c.hi:])
		if err != nil {
			return err
		}
		c.hi += got
	}
	return nil
}

// expect receives a frame of the wanted type; an ERROR frame becomes a *DeviceError.
func (c *Conn) expect(want protocol.FrameType) ([]byte, error) {
	t, body, err := c.receive()
	if err != nil {
		return nil, err
	}
	if t == protocol.FrameError {
		de, err := protocol.DecodeError(body)
		if err != nil {
			return nil, err
		}
		return nil, de
	}
	if t != want {
		return nil, protocol.ProtoErr(t, protocol.FaultFrameType, "a %v frame was due", want)
	}
	return body, nil
}
