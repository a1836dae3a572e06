package main

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSignalsInTheGraceAreOne checks that signals before the first tick count as one, even if they are
// received after it, and that a later one counts as another.
func TestSignalsInTheGraceAreOne(t *testing.T) {
	for range 50 { // select picks randomly if signal and tick are both ready, so one pass could succeed by chance
		signals, ticks := make(chan os.Signal, 1), make(chan time.Time, 1)
		signals <- syscall.SIGTERM
		ticks <- time.Time{}
		ended, done := make(chan bool), make(chan bool)
		go func() {
			awaitAnother(signals, ticks, func() { ended <- true })
			close(done)
		}()
		for range 2 {
			select {
			case <-ended:
			case <-done:
				require.Fail(t, "a signal of the grace counts as another")
			}
			ticks <- time.Time{}
		}
		<-ended
		signals <- syscall.SIGTERM
		<-done
	}
}
