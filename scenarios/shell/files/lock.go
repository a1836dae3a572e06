package files

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nictwin/rtlbridge/lockfile"
)

// lockExt is appended to a file's name to form that of its lock.
const lockExt = ".lock"

// lockTimes holds the times of waiting for a lock.
type lockTimes struct {
	poll   time.Duration // time between two attempts to take the lock
	notice time.Duration // time after which a message names the process for which the caller waits
	grace  time.Duration // time for further attempts after the context was canceled, far more than a holder needs
	most   time.Duration
}

var usualTimes = lockTimes{poll: 5 * time.Millisecond, notice: time.Second, grace: time.Second, most: time.Minute}

// LockedError reports that a file was not written because another process holds its lock.
type LockedError struct {
	Path, Holder string
	Why          error // reason for which the caller stopped waiting
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("write %s: %s has locked %s: %v", e.Path, e.Holder, e.Path+lockExt, e.Why)
}

// Unwrap returns the reason for which the wait ended.
func (e *LockedError) Unwrap() error { return e.Why }

// Lockable checks, before a run, that WithLock can lock the file: another file may have the name of its lock.
func Lockable(path string) error { return lockfile.Check(path + lockExt) }

// WithLock calls do, which reads and writes the file at path, while it holds the file's lock, so that no other call of
// WithLock accesses the file at the same time. say reports a long wait, which ends when the context is canceled. It
// returns a *LockedError or the error of do.
func WithLock(ctx context.Context, path string, say func(format string, a ...any), do func() error) error {
	return usualTimes.withLock(ctx, path, say, do)
}

func (p lockTimes) withLock(ctx context.Context, path string, say func(format string, a ...any),
	do func() error) error {
	ended, told := ctx.Done(), time.After(p.notice)
	end, why := time.Now().Add(p.most), fmt.Errorf("for more than %v", p.most)
	for {
		lock, err := lockfile.Take(path + lockExt)
		if err == nil {
			return errors.Join(do(), lock.Release())
		}
		var held *lockfile.HeldError
		if !errors.As(err, &held) {
			return err
		}
		if time.Now().After(end) {
			return &LockedError{path, held.Holder, why}
		}
		select {
		case <-ended:
			ended, why = nil, context.Cause(ctx)
			end = time.Now().Add(p.grace)
		case <-told:
			say("waiting for %s, which has locked %s", held.Holder, path+lockExt)
		case <-time.After(p.poll):
		}
	}
}
