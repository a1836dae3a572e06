package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/pprof"
	"syscall"
	"time"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/cli"
)

// grace is what a run gets to end on its own when it is interrupted. More signals within it count as the same: who
// signals a process and then its group, as timeout does, means it once.
const grace = time.Second

// heed sees to signals from now on.
func heed(cancel context.CancelCauseFunc, grace time.Duration) {
	signals, quits := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // by nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	signal.Notify(quits, syscall.SIGQUIT)
	go interrupts(signals, cancel, grace)
	go quit(quits, cancel, grace)
	// A reader that has gone is found out by writing, like a full disk: the run and its artifacts come to their end.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}

// interrupts ends the run at the first signal, and the program at one that comes after the grace.
func interrupts(signals <-chan os.Signal, cancel context.CancelCauseFunc, grace time.Duration) {
	s := <-signals
	say(os.Stderr, "nictwin: %v: ending; another one after %v ends it at once\n", s, grace)
	cancel(cli.ErrInterrupted)
	awaitAnother(signals, time.NewTicker(grace).C, cli.EndChildren)
	endNow(grace)
}

// awaitAnother returns at a signal after the first tick. With every tick it ends children: compilers are left when the
// grace is over, and more of them may start.
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
				case <-signals: // it came before
				default:
				}
			}
			over = true
			endChildren()
		}
	}
}

// quit ends the program by SIGQUIT, which asks for no artifacts: it shows what every goroutine does.
func quit(quits <-chan os.Signal, cancel context.CancelCauseFunc, grace time.Duration) {
	<-quits
	_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2) // nobody could be told
	cancel(cli.ErrInterrupted)                          // a run that ends by itself now knows why
	endNow(grace)
}

// endNow ends the program, and sees that no device and no compiler is left.
func endNow(grace time.Duration) {
	const polls = 50
	for range polls {
		cli.EndChildren()
		if len(cli.Children(os.Getpid())) == 0 {
			break
		}
		time.Sleep(grace / polls)
	}
	cli.KillChildren()
	os.Exit(result.Interrupted.Exit())
}
