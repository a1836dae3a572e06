package own

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"nictwin/models/ref/remote"
)

// process is the process of a reference. It has its own process group, so that a keyboard interrupt reaches only the
// player, and it ends with the player, even if that is killed.
type process struct {
	cmd      *exec.Cmd
	requests *os.File // written by the player
	answers  *os.File // read by the player
	note     *os.File
	out, err pump
	exited   chan struct{}
}

// Limits for the steps by which a reference's process ends. The first two are in the time of the process itself (see
// type age), draining is elapsed time.
const (
	ending   = 2 * time.Second // time that the process has to exit once its request pipe is closed
	tracing  = 3 * time.Second // to write the trace of Go's runtime
	draining = time.Second     // to read what it has written; no longer, as a child process may keep the pipe open
)

// start starts a process of the program.
func (p *Program) start() (x *process, err error) {
	x = &process{exited: make(chan struct{})}
	x.out.to, x.out.done = &p.output, make(chan struct{})
	x.err.to, x.err.done, x.err.trace = &p.output, make(chan struct{}), true
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			_ = f.Close() // the process has duplicates
		}
	}()
	var ours []*os.File
	pipe := func(mine int) *os.File {
		r, w, e := os.Pipe()
		if err = errors.Join(err, e); e != nil {
			return nil
		}
		ends := []*os.File{r, w}
		ours, theirs = append(ours, ends[mine]), append(theirs, ends[1-mine])
		return ends[mine]
	}
	x.requests, x.answers = pipe(1), pipe(0)
	out, words := pipe(0), pipe(0)
	fd, e := unix.MemfdCreate("reference", unix.MFD_CLOEXEC)
	if err = errors.Join(err, e); e == nil {
		x.note = os.NewFile(uintptr(fd), "note")
		ours = append(ours, x.note)
	}
	if err == nil {
		err = x.launch(p, theirs)
	}
	if err != nil {
		for _, f := range ours {
			_ = f.Close() // nothing was written: the process has not started
		}
		return nil, fmt.Errorf("starting the reference %s: %w", p.Dir, err)
	}
	go x.out.run(out)
	go x.err.run(words)
	return x, nil
}

// launch starts the command. The kernel kills it when the thread that started it ends, so that thread waits for it.
func (x *process) launch(p *Program, theirs []*os.File) error {
	x.cmd = exec.Command(p.Binary)
	x.cmd.ExtraFiles = []*os.File{theirs[0], theirs[1], x.note}
	x.cmd.Stdout, x.cmd.Stderr = theirs[2], theirs[3]
	x.cmd.Env = append(os.Environ(), "GOTRACEBACK=all", fmt.Sprintf("GOMEMLIMIT=%dMiB", p.Limits.MB*9/10))
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := x.cmd.Start()
		if err == nil {
			if err = hold(x.cmd.Process.Pid, p.Limits.MB); err != nil {
				x.kill()
			}
		} else {
			close(x.exited)
		}
		started <- err
		if x.cmd.Process != nil {
			_ = x.cmd.Wait() // the process state says how it ended
			close(x.exited)
		}
	}()
	return <-started
}

// hold sets the resource limits of a process: its own memory, and no core file.
func hold(pid, mb int) error {
	for resource, most := range map[int]uint64{unix.RLIMIT_DATA: uint64(mb) << 20, unix.RLIMIT_CORE: 0} {
		var has unix.Rlimit
		err := unix.Prlimit(pid, resource, nil, &has)
		if err == nil {
			has.Cur, has.Max = min(has.Cur, most), min(has.Max, most)
			err = unix.Prlimit(pid, resource, &has, nil)
		}
		if err != nil && !errors.Is(err, unix.ESRCH) { // ESRCH: the process has ended already
			return fmt.Errorf("limits: %w", err)
		}
	}
	return nil
}

// ended waits until the process has ended, for at most time d as type age measures it, and reports whether it has.
func (x *process) ended(d time.Duration) bool {
	a := age{pid: x.cmd.Process.Pid}
	a.passed(0)
	for ; d > 0; d -= a.passed(poll) {
		if within(min(d, poll), x.exited) {
			return true
		}
	}
	return within(0, x.exited)
}

func within(d time.Duration, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
	}
	select {
	case <-done:
		return true
	case <-time.After(d):
		return false
	}
}

// kill kills the process and the children in its process group.
func (x *process) kill() {
	_ = syscall.Kill(-x.cmd.Process.Pid, syscall.SIGKILL) // fails if the process has ended
	_ = x.cmd.Process.Kill()                              // in case it has left the group
}

// quit makes the process write the stacks of its goroutines and end.
func (x *process) quit() {
	askForTrace(x.cmd.Process.Pid)
	x.ended(tracing)
	x.kill()
}

// close ends the process and waits for its output.
func (x *process) close() {
	_ = x.requests.Close() // makes the process end
	x.ended(ending)
	x.kill()
	x.ended(tracing) // if it does not end even now, its trace is left out
	for _, p := range []*pump{&x.out, &x.err} {
		within(draining, p.done)
	}
	_, _ = x.answers.Close(), x.note.Close() // only read, so nothing is lost
}

// trace returns the trace of Go's runtime that the process wrote; empty: none. The process must be closed.
func (x *process) trace() string { return x.err.text() }

// written returns the number of bytes that the process wrote to its outputs.
func (x *process) written() int64 { return x.out.bytes.Load() + x.err.bytes.Load() }

// under returns the call into the reference that the process is executing.
func (x *process) under() remote.Note {
	b := make([]byte, remote.NoteBytes)
	n, err := x.note.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return remote.Note{}
	}
	return remote.ParseNote(bytes.Clone(b[:n]))
}
