package own

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// patience reads and writes the pipes of a reference's process. It waits as long as calls into the reference begin and
// end, or bytes arrive. Silence is measured by the time of the process itself (see age): it hardly grows while this
// program is stopped, or while either gets no processor.
type patience struct {
	ctx   context.Context
	x     *process
	age   age
	limit time.Duration
	quiet time.Duration // time since a call began or ended, or bytes arrived
	calls uint64        // number of calls that had begun when `quiet` was last set to 0
}

// poll is the time between two checks of the process.
const poll = 100 * time.Millisecond

func newPatience(ctx context.Context, x *process, seconds int) *patience {
	return &patience{ctx: ctx, x: x, age: age{pid: x.cmd.Process.Pid}, limit: time.Duration(seconds) * time.Second}
}

// overError reports that a reference exceeded a limit.
type overError struct{ what string }

func (e *overError) Error() string { return e.what }

// begin starts measuring the silence for a request.
func (p *patience) begin() { p.quiet = 0 }

// Read reads from the process.
func (p *patience) Read(b []byte) (int, error) {
	return p.try(func() (int, error) { return p.x.answers.Read(b) }, p.x.answers.SetReadDeadline)
}

// Write writes to the process.
func (p *patience) Write(b []byte) (n int, err error) {
	for err == nil && n < len(b) {
		var k int
		k, err = p.try(func() (int, error) { return p.x.requests.Write(b[n:]) }, p.x.requests.SetWriteDeadline)
		n += k
	}
	return n, err
}

// try repeats function `do` until that has transferred some bytes.
func (p *patience) try(do func() (int, error), deadline func(time.Time) error) (int, error) {
	for {
		if p.x.written() > mostWritten {
			return 0, &overError{fmt.Sprintf("it has written more than %d MB of output in a run", mostWritten>>20)}
		}
		if err := deadline(time.Now().Add(poll)); err != nil {
			return 0, err
		}
		n, err := do()
		if n > 0 {
			p.quiet = 0
			if errors.Is(err, os.ErrDeadlineExceeded) {
				err = nil
			}
			return n, err
		}
		if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if err := p.look(); err != nil {
			return 0, err
		}
	}
}

// look returns an error if the process has been silent for too long.
func (p *patience) look() error {
	if p.ctx.Err() != nil {
		return context.Cause(p.ctx)
	}
	p.quiet += p.age.passed(poll)
	if n := p.x.under().Calls; n != p.calls {
		p.calls, p.quiet = n, 0
	}
	if p.quiet > p.limit {
		return &overError{fmt.Sprintf("no end after %d s (--ref-s)", p.limit/time.Second)}
	}
	return nil
}
