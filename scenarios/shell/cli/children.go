package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Children returns the running processes that a process has started.
func Children(pid int) []int {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil // the only error is a bad pattern, and this one is constant
	}
	var kids []int
	for _, l := range lists {
		text, err := os.ReadFile(l)
		if err != nil {
			continue // the thread has ended
		}
		for _, w := range strings.Fields(string(text)) {
			if kid, err := strconv.Atoi(w); err == nil {
				kids = append(kids, kid)
			}
		}
	}
	return kids
}

// EndChildren sends SIGTERM to every descendant of this process. Otherwise compilers would run on: an interruption that
// was not typed at the terminal does not reach them.
func EndChildren() { signalBelow(os.Getpid(), syscall.SIGTERM) }

// KillChildren kills the descendants that are still running after EndChildren.
func KillChildren() { signalBelow(os.Getpid(), syscall.SIGKILL) }

func signalBelow(pid int, s syscall.Signal) {
	for _, kid := range Children(pid) {
		signalBelow(kid, s)
		_ = syscall.Kill(kid, s) // fails if it has ended in the meantime
	}
}
