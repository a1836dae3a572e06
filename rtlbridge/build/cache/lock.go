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

// lockTimes define how the holder of a lock shows that it makes progress, and how long others wait. However long
// a build takes, others wait while its process runs: every tool that it starts has a limit of its own
// (toolTimeout). A process that was stopped, or hangs, gives no sign of life.
type lockTimes struct {
	poll    time.Duration // interval between two attempts
	Beat    time.Duration // interval between two signs of life
	Silence time.Duration // time without a sign of life after which waiters give up; counted in polls, see wait
}

var BuildLock = lockTimes{poll: 50 * time.Millisecond, Beat: 10 * time.Second, Silence: 5 * time.Minute}

// LockEntry locks an entry of the cache that exists or is about to be made, see lockTimes.Lock.
func LockEntry(ctx context.Context, entry string, say func(format string, args ...any)) (unlock func(), err error) {
	return BuildLock.Lock(ctx, entry+LockExt, say)
}

// DropLock removes the lock of an entry that was not made: only killed builds leave a lock without an entry.
func DropLock(entry string) {
	if !exists(entry) {
		_ = os.Remove(entry + LockExt) // another process may have removed the lock meanwhile
	}
}

// Lock takes an exclusive lock on path, so that two processes do not build the same thing twice. If another
// process holds it, Lock calls the function `say` once, to report that it waits, and for which process.
func (l lockTimes) Lock(ctx context.Context, path string, say func(format string, args ...any)) (unlock func(),
	err error) {
	var f *os.File
	for f == nil || !lockfile.IsAt(f, path) { // cleaning may remove the file
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

// wait tries until the lock is free, as long as its holder gives signs of life. While this process is itself
// stopped, or gets no processor, it does not poll and nothing counts as silence: the holder may be in the same
// position.
func (l lockTimes) wait(ctx context.Context, f *os.File, say func(format string, args ...any)) error {
	var seen time.Time      // time of the last sign of life
	var quiet time.Duration // time waited since the last sign of life
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

// live gives signs of life, by the time of the lock's file, until the lock is released.
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
				_ = os.Chtimes(f.Name(), now, now) // a missed sign of life does no harm
			}
		}
	})
	return func() {
		close(end)
		wg.Wait()
		_ = f.Close() // the file has no content to lose
	}
}

// holder returns who holds a lock, according to its file.
func holder(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return "another process"
	}
	defer f.Close()
	who, _ := lockfile.Holder(f)
	return who
}
