package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Children are the processes that a process has started and that have not ended.
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

// EndChildren asks every process below this one to end: compilers, which know nothing of an interruption that was not
// typed at their terminal.
func EndChildren() { signalBelow(os.Getpid(), syscall.SIGTERM) }

// KillChildren ends every process below this one that did not hear EndChildren.
func KillChildren() { signalBelow(os.Getpid(), syscall.SIGKILL) }

func signalBelow(pid int, s syscall.Signal) {
	for _, kid := range Children(pid) {
		signalBelow(kid, s)
		_ = syscall.Kill(kid, s) // it may have ended meanwhile
	}
}
