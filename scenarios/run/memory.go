package run

import (
	"errors"
	"fmt"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/stack/driver"
)

// Layout of host memory: first the stacks, then the applications. The rest is for page tables and the memory of the
// other socket.
const (
	stackFrom  = 1 << 20
	stackBytes = 255 << 20
	appsFrom   = 256 << 20
	appsBytes  = 192 << 20
	pageBytes  = 4096
)

// validateMemory checks that a server's host memory has room for stacks and applications.
func (s *Spec) validateMemory(server int, c *board.CardSpec) error {
	const least = appsFrom + appsBytes
	if n := c.Endpoint.HostBytes; n < least {
		return field.Errorf(s.cardPath(server)+"."+board.BytesField(nicspec.EndpointHost),
			"%d: want %d or more: stacks take the first %d, applications %d behind them",
			n, least, appsFrom, appsBytes)
	}
	return nil
}

// cardPath returns the path of the field with a server's card.
func (s *Spec) cardPath(server int) field.Path {
	if n := len(s.Board.Servers); server >= n {
		return "board.fleet.card"
	}
	return field.Path(fmt.Sprintf("board.servers[%d].cards[0]", server))
}

// tooSmall adds, to the error of a stack that found no room in an endpoint's memory, the scenario field that sets the
// memory's size.
func (c *Case) tooSmall(server int, err error) error {
	room, ok := errors.AsType[*driver.RoomError](err)
	if !ok || room.Endpoint < 0 {
		return err
	}
	return &UsageError{c.Locate(field.Errorf(c.cardPath(server)+"."+board.BytesField(room.Endpoint),
		": want more memory for the stack: %w", err))}
}
