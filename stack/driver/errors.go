package driver

import (
	"fmt"

	"nictwin/models/nic/nicspec"
)

// UnclaimedEventError tells that a queue without event handler failed, after somebody made reads fail on purpose.
type UnclaimedEventError struct {
	Kind   string // receive or transmit
	Queue  int
	Status nicspec.Status
}

var _, _ error = (*UnclaimedEventError)(nil), (*RoomError)(nil)

func (e *UnclaimedEventError) Error() string {
	return fmt.Sprintf("%s queue %d: event with status %v, and no OnEvent to take it", e.Kind, e.Queue, e.Status)
}

// RoomError reports an allocation for which memory has no room.
type RoomError struct {
	Endpoint      int // whose memory it is; -1: a part of one that somebody has allocated before
	Bytes, Align  uint64
	Left, Largest uint64 // bytes that are free, in all and in one piece
}

const partOfMemory = -1

func (e *RoomError) Error() string {
	return fmt.Sprintf("driver: no room for %d B at a multiple of %d: %d B are free, %d of them in one piece", e.Bytes,
		e.Align, e.Left, e.Largest)
}

// atWork says which entries the device may work on, for errors.
func (r *Queue) atWork() string {
	if r.rung == r.done {
		return "none is at work"
	}
	return fmt.Sprintf("%d to %d are at work", r.done, r.rung-1)
}
