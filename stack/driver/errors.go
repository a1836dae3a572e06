package driver

import (
	"fmt"

	"nictwin/models/nicspec"
)

// UnclaimedEventError tells that a queue without event handler failed, after somebody made reads fail on purpose.
type UnclaimedEventError struct {
	Kind   string // receive or transmit
	Queue  int
	Status nicspec.Status
}

var _ error = (*UnclaimedEventError)(nil)

func (e *UnclaimedEventError) Error() string {
	return fmt.Sprintf("%s queue %d: event with status %v, and no OnEvent to take it", e.Kind, e.Queue, e.Status)
}

// atWork says which entries the device may work on, for errors.
func (r *Queue) atWork() string {
	if r.rung == r.done {
		return "none is at work"
	}
	return fmt.Sprintf("%d to %d are at work", r.done, r.rung-1)
}
