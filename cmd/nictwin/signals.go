package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/pprof"
	"syscall"
	"time"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/children"
	"nictwin/scenarios/shell/cli"
)

// grace is the time that an interrupted run gets to end on its own. Further signals within it are ignored:
// timeout(1), for example, signals the process and then its group.
const grace = time.Second

// handleSignals installs the program's signal handlers.
func handleSignals(cancel context.CancelCauseFunc, grace time.Duration) {
	signals, quits := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signal.Notify(signals, syscall.SIGHUP)
	}
	signal.Notify(quits, syscall.SIGQUIT)
	go interrupts(signals, cancel, grace)
	go quit(quits, cancel, grace)
	// A closed pipe shows as a write error, like a full disk, so that the run still completes its artifacts.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}

// interrupts ends the run at the first signal, and the program at the first one after the grace period.
func interrupts(signals <-chan os.Signal, cancel context.CancelCauseFunc, grace time.Duration) {
	s := <-signals
	say(os.Stderr, "nictwin: %v: ending; another one after %v ends it at once\n", s, grace)
	cancel(cli.ErrInterrupted)
	awaitAnother(signals, time.NewTicker(grace).C, children.End)
	endNow(grace)
}

// awaitAnother returns at the first signal after the first tick. It ends child processes at every tick: compilers may
// still run after the grace period, and start others.
func awaitAnother(signals <-chan os.Signal, ticks <-chan time.Time, endChildren func()) {
	over := false
	for {
		select {
		case <-signals:
			if over {
				return
			}
		case <-ticks:
			if !over {
				select {
				case <-signals: // arrived before the tick
				default:
				}
			}
			over = true
			endChildren()
		}
	}
}

// quit ends the program at SIGQUIT without artifacts, and dumps the stacks of all goroutines.
func quit(quits <-chan os.Signal, cancel context.CancelCauseFunc, grace time.Duration) {
	<-quits
	_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2) // stderr is the only reader
	cancel(cli.ErrInterrupted)                          // the cause that the run reports if it ends before endNow exits
	endNow(grace)
}

// endNow exits once no device and no compiler runs any more, or kills those that remain after the grace period.
func endNow(grace time.Duration) {
	const polls = 50
	for range polls {
		children.End()
		if len(children.Of(os.Getpid())) == 0 {
			break
		}
		time.Sleep(grace / polls)
	}
	children.Kill()
	os.Exit(result.Interrupted.Exit())
}
