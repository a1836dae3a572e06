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

// patience holds the times of a wait for a lock.
type patience struct {
	poll  time.Duration // between two attempts
	told  time.Duration // after which say reports what is waited for
	grace time.Duration // left after the caller has stopped waiting: a holder finishes in far less
	most  time.Duration
}

var usual = patience{poll: 5 * time.Millisecond, told: time.Second, grace: time.Second, most: time.Minute}

// LockedError reports that a file was not written because another process holds its lock.
type LockedError struct {
	Path, Holder string
	Why          error // why the wait ended
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("write %s: %s has locked %s: %v", e.Path, e.Holder, e.Path+lockExt, e.Why)
}

// Unwrap returns why the wait ended.
func (e *LockedError) Unwrap() error { return e.Why }

// Lockable checks early that Alone can lock the file: something else may have the name of its lock.
func Lockable(path string) error { return lockfile.Check(path + lockExt) }

// Alone calls do, which reads and writes the file at path, while no other process does the same through Alone. A long
// wait is reported by say and ends when the context is canceled. Errors: *LockedError, those of do.
func Alone(ctx context.Context, path string, say func(format string, a ...any), do func() error) error {
	return usual.alone(ctx, path, say, do)
}

func (p patience) alone(ctx context.Context, path string, say func(format string, a ...any), do func() error) error {
	ended, told := ctx.Done(), time.After(p.told)
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
