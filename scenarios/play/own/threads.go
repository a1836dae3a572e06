package own

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tick is the unit of processor time in /proc, the same on every architecture (proc(5)).
const tick = time.Second / 100

// thread holds state and processor time of a thread, or of a whole process.
type thread struct {
	id    int
	state byte          // R runs or waits for a processor, D waits for a disk, S sleeps, T is stopped
	used  time.Duration // processor time used so far
}

// wantsProcessor reports whether the thread could continue with a processor, or with a page from a disk.
func (t *thread) wantsProcessor() bool { return t.state == 'R' || t.state == 'D' }

// readThread reads a file in the format of /proc/PID/stat; ok is false once the thread has ended.
func readThread(file string) (t thread, ok bool) {
	text, err := os.ReadFile(file)
	end := strings.LastIndex(string(text), ")") // end of the program's name: "(name)"; a name may contain ")"
	if err != nil || end < 0 {
		return thread{}, false
	}
	id, _, _ := strings.Cut(string(text), " ")
	t.id, _ = strconv.Atoi(id) // cannot fail: the kernel writes a number
	f := strings.Fields(string(text[end+1:]))
	if len(f) < 13 {
		return thread{}, false
	}
	for _, x := range f[11:13] { // user and system time
		n, _ := strconv.ParseInt(x, 10, 64) // cannot fail: the kernel writes a number
		t.used += time.Duration(n) * tick
	}
	t.state = f[0][0]
	return t, true
}

// threads returns the threads of a process.
func threads(pid int) (all []thread) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid)) // the pattern is valid
	for _, f := range files {
		if t, ok := readThread(f); ok {
			all = append(all, t)
		}
	}
	return all
}

// busiest returns the thread that wants a processor and has used the most processor time; without one, the first
// thread.
func busiest(pid int) int {
	most := thread{id: pid, used: -1}
	for _, t := range threads(pid) {
		if t.wantsProcessor() && t.used > most.used {
			most = t
		}
	}
	return most.id
}

// askForTrace makes a process write the stacks of its goroutines and end. Go's runtime can print the stack of a running
// goroutine only if that goroutine's thread receives the signal. The kernel may choose any thread, so the signal is
// sent to the busiest one.
func askForTrace(pid int) {
	_ = unix.Tgkill(pid, busiest(pid), syscall.SIGQUIT) // fails if it has ended
}

// age measures the time of a process: the processor time that it gets while it wants a processor, otherwise elapsed
// time. So a busy machine makes little difference. A twentieth of the elapsed time counts in any case, so that every
// wait ends.
type age struct {
	pid  int
	used time.Duration // processor time at the previous call
}

// least bounds what passed returns: at least 1/least of the elapsed time, even if the process got no processor time.
const least = 20

// passed returns the time, as age measures it, that has passed since the previous call, d ago.
func (a *age) passed(d time.Duration) time.Duration {
	whole, ok := readThread(fmt.Sprintf("/proc/%d/stat", a.pid))
	if !ok {
		return d
	}
	got := whole.used - a.used
	a.used = whole.used
	for _, t := range threads(a.pid) {
		if t.wantsProcessor() {
			return min(d, max(got, d/least))
		}
	}
	return d
}
