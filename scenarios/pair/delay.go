package pair

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// ThreadDelay returns how long this thread has waited for a processor while ready to run; 0 if the system does not
// report it. The caller must be locked to its thread.
func ThreadDelay() time.Duration {
	text, err := os.ReadFile("/proc/thread-self/schedstat") // running, waiting, slices
	words := strings.Fields(string(text))
	if err != nil || len(words) != 3 {
		return 0
	}
	ns, err := strconv.ParseInt(words[1], 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(ns)
}
