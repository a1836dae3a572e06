// Package children finds and ends the processes that a process has started, such as compilers and devices, and those
// that they have started.
//
// The package starts no process.
package children

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Of returns the running processes that a process has started.
func Of(pid int) []int {
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

// End sends SIGTERM to every descendant of this process. Otherwise compilers would run on: an interruption that
// was not typed at the terminal does not reach them.
func End() { signalBelow(os.Getpid(), syscall.SIGTERM) }

// Kill kills the descendants that are still running after End.
func Kill() { signalBelow(os.Getpid(), syscall.SIGKILL) }

func signalBelow(pid int, s syscall.Signal) {
	for _, kid := range Of(pid) {
		signalBelow(kid, s)
		_ = syscall.Kill(kid, s) // fails if it has ended in the meantime
	}
}
