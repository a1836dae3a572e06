package cache

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"nictwin/rtlbridge/lockfile"
)

// lockTimes say how who holds a lock shows that it goes on, and how long others wait. However long a build takes, it is
// waited for while its process runs: every tool that it starts has a limit of its own (toolTimeout). A process that was
// stopped, or hangs, shows nothing.
type lockTimes struct {
	poll    time.Duration // between two tries
	Beat    time.Duration // between two signs of life
	Silence time.Duration // without a sign of life, after which nobody waits any more; counted in polls, see wait
}

var BuildLock = lockTimes{poll: 50 * time.Millisecond, Beat: 10 * time.Second, Silence: 5 * time.Minute}

// LockEntry locks an entry of the cache that is there or is to be made, see lockTimes.lock.
func LockEntry(ctx context.Context, entry string, say func(format string, args ...any)) (unlock func(), err error) {
	return BuildLock.Lock(ctx, entry+LockExt, say)
}

// DropLock removes the lock of an entry that was not made: a lock without an entry is what killed builds leave.
func DropLock(entry string) {
	if !exists(entry) {
		_ = os.Remove(entry + LockExt) // it may have gone meanwhile
	}
}

// Lock takes an exclusive lock on path, so that two processes do not build the same thing twice. While another one
// holds it, say is told once for whom it waits.
func (l lockTimes) Lock(ctx context.Context, path string, say func(format string, args ...any)) (unlock func(),
	err error) {
	var f *os.File
	for f == nil || !lockfile.IsAt(f, path) { // who cleans up removes it
		if f != nil {
			_ = f.Close() // nothing was written
		}
		if f, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644); err != nil {
			return nil, fmt.Errorf("build cache: %w", err)
		}
		if err := l.wait(ctx, f, say); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	if err := lockfile.Sign(f); err != nil {
		return nil, errors.Join(fmt.Errorf("build cache: %w", err), f.Close())
	}
	return l.live(f), nil
}

// wait tries until the lock is free, as long as its holder shows that it lives. While this process is stopped itself,
// or gets no processor, it does not poll and nothing counts as silence: the holder may fare the same.
func (l lockTimes) wait(ctx context.Context, f *os.File, say func(format string, args ...any)) error {
	var seen time.Time      // the last sign of life
	var quiet time.Duration // since then
	for told := false; ; told = true {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return nil
		}
		quiet += l.poll
		if info, err := f.Stat(); err == nil && !info.ModTime().Equal(seen) {
			seen, quiet = info.ModTime(), 0
		}
		who := holder(f.Name())
		if !told {
			say("waiting for %s, which builds the same, while it shows that it lives", who)
		}
		if quiet > l.Silence {
			return fmt.Errorf("build cache: %s is locked by %s, which has shown no sign of life for %v (the last at "+
				"%s): %w",
				f.Name(), who, l.Silence, seen.Format(time.DateTime), err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("build cache: waiting for %s: %w", who, context.Cause(ctx))
		case <-time.After(l.poll):
		}
	}
}

// live gives signs of life until the lock is released, by the time of the lock's file.
func (l lockTimes) live(f *os.File) (unlock func()) {
	end := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(l.Beat)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case now := <-tick.C:
				_ = os.Chtimes(f.Name(), now, now) // one that is missed does no harm
			}
		}
	})
	return func() {
		close(end)
		wg.Wait()
		_ = f.Close() // it holds nothing that could be lost
	}
}

// holder is who holds a lock, as far as its file says.
func holder(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return "another process"
	}
	defer f.Close()
	who, _ := lockfile.Holder(f)
	return who
}
