package rtlbridge

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"nictwin/rtlbridge/protocol"
)

const lastOutputBytes = 8 << 10

// children counts the devices that run below this program.
var children atomic.Int32

// process is a device that runs as a child. It ends when its socket is closed, and the kernel closes the
// socket in whatever way this program ends. It runs in a process group of its own, so that an interrupt from
// the keyboard reaches only this program.
type process struct {
	cmd        *exec.Cmd
	lastOutput tail
	exited     chan struct{}
	exit       string // valid once exited is closed
}

// tail keeps the last bytes of an output.
type tail struct {
	mu   sync.Mutex
	buf  []byte
	done chan struct{}
}

func (t *tail) drain(f *os.File) {
	defer close(t.done)
	defer f.Close()
	chunk := make([]byte, 4096)
	for {
		n, err := f.Read(chunk)
		t.mu.Lock()
		t.buf = append(t.buf, chunk[:n]...)
		if len(t.buf) > 2*lastOutputBytes {
			t.buf = append(t.buf[:0], t.buf[len(t.buf)-lastOutputBytes:]...)
		}
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.buf
	if len(b) > lastOutputBytes {
		b = b[len(b)-lastOutputBytes:]
	}
	return protocol.Printable(b)
}

// spawn starts the program with one end of a socket pair as its descriptor 3 and, if there is shared memory,
// that as its descriptor 4; it returns the other end.
func spawn(binary string, args []string, shared *os.File) (*process, int, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, -1, fmt.Errorf("socket pair: %w", err)
	}
	theirs := os.NewFile(uintptr(fds[1]), "device socket")
	defer theirs.Close()
	r, w, err := os.Pipe()
	if err != nil {
		unix.Close(fds[0])
		return nil, -1, fmt.Errorf("pipe: %w", err)
	}
	defer w.Close()
	p := &process{cmd: exec.Command(binary, append([]string{"--fd", "3"}, args...)...), exited: make(chan struct{})}
	if shared != nil {
		p.cmd.Args = append(p.cmd.Args, "--shared", "4")
	}
	p.lastOutput.done = make(chan struct{})
	p.cmd.ExtraFiles = []*os.File{theirs}
	if shared != nil {
		p.cmd.ExtraFiles = append(p.cmd.ExtraFiles, shared)
	}
	p.cmd.Stdout, p.cmd.Stderr = w, w
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		unix.Close(fds[0])
		r.Close()
		return nil, -1, fmt.Errorf("starting the device: %w", err)
	}
	children.Add(1)
	go p.lastOutput.drain(r)
	go p.wait()
	return p, fds[0], nil
}

func (p *process) wait() {
	err := p.cmd.Wait()
	children.Add(-1)
	p.exit = "exit status 0"
	if err != nil {
		p.exit = err.Error()
	}
	close(p.exited)
}

// ended waits at most d for the process to end.
func (p *process) ended(d time.Duration) bool { return within(d, p.exited) }

// within waits at most d, in naps, until done is closed.
func within(d time.Duration, done <-chan struct{}) bool {
	for range naps {
		select {
		case <-done:
			return true
		case <-time.After(d / naps):
		}
	}
	return false
}

// kill ends the process unless it ends on its own within grace, and collects its last output.
func (p *process) kill(grace time.Duration) (exit, lastOutput string) {
	if !p.ended(grace) {
		_ = p.cmd.Process.Kill() // the process may have ended just now
		if !p.ended(DefaultTimeout) {
			return "does not end after SIGKILL", p.lastOutput.String()
		}
		if s, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
			p.exit += " (by this program)"
		}
	}
	within(time.Second, p.lastOutput.done) // a grandchild may hold the pipe
	return p.exit, p.lastOutput.String()
}
