package files

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nictwin/rtlbridge/lockfile"
)

// lockExt is added to the name of a file for that of its lock.
const lockExt = ".lock"

// patience says how a lock is waited for.
type patience struct {
	poll  time.Duration // between two tries
	told  time.Duration // after which it is said what is waited for
	grace time.Duration // that is left when nobody wants to wait any more: who holds a lock is done in far less
	most  time.Duration
}

var usual = patience{poll: 5 * time.Millisecond, told: time.Second, grace: time.Second, most: time.Minute}

// LockedError tells that a file was not written, since another process has its lock.
type LockedError struct {
	Path, Holder string
	Why          error // for which it is not waited for any more
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("write %s: %s has locked %s: %v", e.Path, e.Holder, e.Path+lockExt, e.Why)
}

// Unwrap returns why it is not waited for any more.
func (e *LockedError) Unwrap() error { return e.Why }

// Lockable tells early that Alone would refuse a file, since something that is no lock has the name of its lock.
func Lockable(path string) error { return lockfile.Check(path + lockExt) }

// Alone calls do, which reads and writes the file at path, while no other process does the same by Alone. A wait that
// takes long is said, and ends when the context is canceled. Errors: *LockedError, those of do.
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
