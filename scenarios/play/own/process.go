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

// process is a reference's process. It has a group of its own, so that an interrupt from the keyboard is for the
// player alone, and ends with the player, however that does.
type process struct {
	cmd      *exec.Cmd
	requests *os.File // written here
	answers  *os.File // read here
	note     *os.File
	out, err pump
	exited   chan struct{}
}

// Times, of the process (see age), in which it does what ends it anyway.
const (
	ending   = 2 * time.Second // until it has ended when its channel has
	tracing  = 3 * time.Second // until it has written its trace
	draining = time.Second     // until its output is there; what it has started may hold the pipe
)

// start starts a process of the program.
func (p *Program) start() (x *process, err error) {
	x = &process{exited: make(chan struct{})}
	x.out.to, x.out.done = &p.output, make(chan struct{})
	x.err.to, x.err.done, x.err.trace = &p.output, make(chan struct{}), true
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			_ = f.Close() // the process has its own
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
			_ = f.Close() // nothing was written
		}
		return nil, fmt.Errorf("starting the reference %s: %w", p.Dir, err)
	}
	go x.out.run(out)
	go x.err.run(words)
	return x, nil
}

// launch starts the command. The system ends it with the thread that started it, so that thread is kept until it has
// ended.
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
			_ = x.cmd.Wait() // how it ended is in its state
			close(x.exited)
		}
	}()
	return <-started
}

// hold limits a process: memory of its own, and no file that shows what was in it.
func hold(pid, mb int) error {
	for resource, most := range map[int]uint64{unix.RLIMIT_DATA: uint64(mb) << 20, unix.RLIMIT_CORE: 0} {
		var has unix.Rlimit
		err := unix.Prlimit(pid, resource, nil, &has)
		if err == nil {
			has.Cur, has.Max = min(has.Cur, most), min(has.Max, most)
			err = unix.Prlimit(pid, resource, &has, nil)
		}
		if err != nil && !errors.Is(err, unix.ESRCH) { // it may have ended
			return fmt.Errorf("limits: %w", err)
		}
	}
	return nil
}

// ended waits at most d, of the process's own time, for it to end.
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

// kill ends the process and what it has started, as far as that has stayed in its group.
func (x *process) kill() {
	_ = syscall.Kill(-x.cmd.Process.Pid, syscall.SIGKILL) // it may have ended
	_ = x.cmd.Process.Kill()                              // it may have left the group
}

// quit has the process write what its goroutines do, and ends it.
func (x *process) quit() {
	askForTrace(x.cmd.Process.Pid)
	x.ended(tracing)
	x.kill()
}

// close ends the process, and sees that its output is there.
func (x *process) close() {
	_ = x.requests.Close() // after which it ends by itself
	x.ended(ending)
	x.kill()
	x.ended(tracing) // else the system does not let it end, and it has no say any more
	for _, p := range []*pump{&x.out, &x.err} {
		within(draining, p.done)
	}
	_, _ = x.answers.Close(), x.note.Close() // they were read
}

// trace returns the trace that Go's runtime has left, once the process is closed; empty: none.
func (x *process) trace() string { return x.err.text() }

// written returns how much output there was.
func (x *process) written() int64 { return x.out.bytes.Load() + x.err.bytes.Load() }

// under returns which call into the reference is under way.
func (x *process) under() remote.Note {
	b := make([]byte, remote.NoteBytes)
	n, err := x.note.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return remote.Note{}
	}
	return remote.ParseNote(bytes.Clone(b[:n]))
}
