package main

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Signals before the first tick are one, even if they are taken after it; a later one is another.
func TestSignalsInTheGraceAreOne(t *testing.T) {
	for range 50 { // which of two that are ready is taken first is up to chance
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
