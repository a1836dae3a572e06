package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Children returns the processes that a process has started and that are still running.
func Children(pid int) []int {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil // the pattern is fixed
	}
	var kids []int
	for _, l := range lists {
		text, err := os.ReadFile(l)
		if err != nil {
			continue // that thread has ended
		}
		for _, w := range strings.Fields(string(text)) {
			if kid, err := strconv.Atoi(w); err == nil {
				kids = append(kids, kid)
			}
		}
	}
	return kids
}

// EndChildren sends SIGTERM to every descendant of this process: compilers do not see an interruption that was not
// typed at their terminal.
func EndChildren() { signalBelow(os.Getpid(), syscall.SIGTERM) }

// KillChildren kills every descendant of this process that has ignored EndChildren.
func KillChildren() { signalBelow(os.Getpid(), syscall.SIGKILL) }

func signalBelow(pid int, s syscall.Signal) {
	for _, kid := range Children(pid) {
		signalBelow(kid, s)
		_ = syscall.Kill(kid, s) // it may have ended in the meantime
	}
}
