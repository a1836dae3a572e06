package pair

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"nictwin/models/board"
	"nictwin/models/sim/specfile"
)

// job describes what the second process must simulate, without the frames.
type job struct {
	Rack     string `json:"rack"` // board file
	Frames   int    `json:"frames"`
	Count    int    `json:"count"`
	Window   int    `json:"window"`
	Seed     uint64 `json:"seed"`
	Unjudged bool   `json:"unjudged"`
	LimitNs  int64  `json:"limit_ns"`
}

// outcome is the payload of REPORT.
type outcome struct {
	Report    *Report `json:"report"`
	MissingNs int64   `json:"missing_ns"`
}

// peer is the other process.
type peer struct {
	cmd    *exec.Cmd
	words  lastWords
	exited chan struct{}
	exit   error
}

// lastWords keeps the end of a process's output, for errors.
type lastWords struct {
	mu   sync.Mutex
	text []byte
}

// Write appends to the output and keeps only its end (io.Writer).
func (w *lastWords) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, b...)
	if over := len(w.text) - maxText; over > 0 {
		w.text = append(w.text[:0], w.text[over:]...)
	}
	return len(b), nil
}

func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.TrimSpace(string(w.text))
}

// start starts the process of the second server and returns the socket to it.
func start(o *Options) (*peer, int, error) {
	program := o.Program
	if program == nil {
		self, err := os.Executable()
		if err != nil {
			return nil, -1, fmt.Errorf("the program of the second process: %w", err)
		}
		program = []string{self}
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, -1, fmt.Errorf("socket pair: %w", err)
	}
	theirs := os.NewFile(uintptr(fds[1]), "socket")
	defer theirs.Close()
	p := &peer{cmd: exec.Command(program[0], append(program[1:len(program):len(program)], Command)...),
		exited: make(chan struct{})}
	p.cmd.ExtraFiles = []*os.File{theirs}
	p.cmd.Stdout, p.cmd.Stderr = &p.words, &p.words
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a keyboard interrupt must reach only this process
	if err := p.cmd.Start(); err != nil {
		return nil, -1, errors.Join(fmt.Errorf("starting the second process: %w", err), unix.Close(fds[0]))
	}
	go func() {
		p.exit = p.cmd.Wait()
		close(p.exited)
	}()
	return p, fds[0], nil
}

// grace is the time in which a process must end after its socket was closed.
const grace = 5 * time.Second

// end waits for the process, whose socket has been closed, and kills it if it does not end.
func (p *peer) end() {
	select {
	case <-p.exited:
	case <-time.After(grace):
		_ = p.cmd.Process.Kill() // an error means that the process has ended meanwhile
		<-p.exited
	}
}

// explain adds to an error how the process ended, if it did.
func (p *peer) explain(err error) error {
	var lost *LostError
	if !errors.As(err, &lost) {
		return err
	}
	if !errors.Is(err, io.EOF) {
		_ = p.cmd.Process.Kill() // the process hangs or breaks the protocol
	}
	p.end()
	if errors.Is(err, io.EOF) && p.exit != nil {
		lost.Words = p.exit.Error()
	}
	if said := p.words.String(); said != "" {
		lost.Words = strings.TrimPrefix(lost.Words+": "+said, ": ")
	}
	return err
}

// runTwo simulates the first server here and the second in another process.
func runTwo(ctx context.Context, o *Options, r *Result) (err error) {
	p, fd, err := start(o)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("server %s (process %d)", o.Rack.Servers[1].Name, p.cmd.Process.Pid)
	c, err := newConn(ctx, fd, name, o.Limit)
	if err != nil {
		return errors.Join(err, unix.Close(fd), p.cmd.Process.Kill())
	}
	h, err := both(ctx, o, c, r)
	err = p.explain(err)
	err = errors.Join(err, c.close())
	p.end()
	if h != nil {
		err = errors.Join(err, h.close())
	}
	return err
}

// both simulates the first server and receives the report of the second.
func both(ctx context.Context, o *Options, c *conn, r *Result) (*half, error) {
	if err := setUp(o, c); err != nil {
		return nil, beforeFirstQuantum(c, err)
	}
	h, err := newHalf(o, 0, c)
	if err != nil {
		return nil, err
	}
	if _, err := c.expect(kindReady); err != nil {
		return h, beforeFirstQuantum(c, err)
	}
	c.waiting = 0
	if err := h.run(ctx); err != nil {
		return h, err
	}
	r.Quanta, r.Wall, r.Waited, r.Missing = h.quanta, h.wall, h.waited, h.missing
	if r.Servers[0], err = h.end(); err != nil {
		return h, err
	}
	b, err := c.expect(kindReport)
	if err != nil {
		return h, h.lost(err)
	}
	var theirs outcome
	if err := json.Unmarshal(b, &theirs); err != nil || theirs.Report == nil {
		return h, h.lost(broken("REPORT: %v", err))
	}
	r.Servers[1], r.Missing = theirs.Report, max(r.Missing, time.Duration(theirs.MissingNs))
	return h, nil
}

// beforeFirstQuantum marks a LostError as one from before the first quantum.
func beforeFirstQuantum(c *conn, err error) error {
	var said *PeerError
	if errors.As(err, &said) || errors.Is(err, context.Canceled) {
		return err
	}
	return &LostError{Peer: c.peer, Setup: true, Err: err}
}

// setUp sends the other process its job.
func setUp(o *Options, c *conn) error {
	if err := greet(c); err != nil {
		return err
	}
	rack, err := specfile.Marshal(o.Rack)
	if err != nil {
		return err
	}
	b, err := json.Marshal(job{
		Rack: string(rack), Frames: len(o.Frames), Count: o.Count, Window: o.Window, Seed: o.Seed, Unjudged: o.Unjudged,
		LimitNs: int64(o.Limit),
	})
	if err != nil {
		return err
	}
	if err := c.sendMessage(kindJob, b); err != nil {
		return err
	}
	for left := o.Frames; len(left) > 0; {
		b, left = appendPlayed(b[:0], left)
		if err := c.sendMessage(kindFrames, b); err != nil {
			return err
		}
	}
	return nil
}

// greet exchanges HELLO with the other process.
func greet(c *conn) error {
	if err := c.sendMessage(kindHello, appendHello(nil)); err != nil {
		return err
	}
	b, err := c.expect(kindHello)
	if err != nil {
		return err
	}
	return parseHello(b)
}

// parseJob parses the job of this process.
func parseJob(b []byte) (*Options, int, error) {
	var j job
	if err := json.Unmarshal(b, &j); err != nil {
		return nil, 0, broken("JOB: %v", err)
	}
	if j.Frames < 1 || j.Frames > maxPlayed {
		return nil, 0, broken("JOB: %d frames: want 1 to %d", j.Frames, maxPlayed)
	}
	rack, err := board.ParseRack("job", []byte(j.Rack))
	if err != nil {
		return nil, 0, broken("JOB: %v", err)
	}
	o := DefaultOptions()
	o.Rack, o.Count, o.Window, o.Seed, o.Unjudged, o.Limit, o.Processes = rack, j.Count, j.Window, j.Seed, j.Unjudged,
		time.Duration(j.LimitNs), 2
	return &o, j.Frames, nil
}
