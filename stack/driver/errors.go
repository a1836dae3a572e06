package driver

import (
	"fmt"

	"nictwin/models/nic/nicspec"
)

// UnclaimedEventError reports that a queue without an event handler failed after reads were made to fail on purpose.
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
	Endpoint      int // endpoint of the memory; -1: memory of an Arena that the caller manages
	Bytes, Align  uint64
	Left, Largest uint64 // free bytes in total, and in the longest free piece
}

const partOfMemory = -1

func (e *RoomError) Error() string {
	return fmt.Sprintf("driver: no room for %d B at a multiple of %d: %d B are free, %d of them in one piece", e.Bytes,
		e.Align, e.Left, e.Largest)
}

// unfinished describes which entries the device may be working on, for error texts.
func (r *Queue) unfinished() string {
	if r.rung == r.endedTo {
		return "none is in progress"
	}
	return fmt.Sprintf("%d to %d are in progress", r.endedTo, r.rung-1)
}
