package blocks

import (
	"errors"
	"fmt"
	"strings"

	"nictwin/scenarios/suite/blocks/kit"
	"nictwin/scenarios/suite/blocks/receive"
	"nictwin/scenarios/suite/blocks/registers"
	"nictwin/scenarios/suite/blocks/transmit"
)

// All returns all blocks, sorted by name.
func All() []*kit.Block {
	return []*kit.Block{
		receive.Account, transmit.CopyEngine, registers.Counters, receive.CRC32C, receive.Csum, receive.ECN,
		registers.FLR, transmit.GatherFrame, receive.ICRC, transmit.Key, registers.MSIX, transmit.Offload,
		receive.Parse, registers.Pause, transmit.Reader, registers.Regs, receive.RSS,
		receive.RxDMA, receive.Rxq, receive.Steer, registers.Tables, transmit.Txq, transmit.Wqe,
	}
}

// Names returns the names of All.
func Names() (names []string) {
	for _, b := range All() {
		names = append(names, b.Name)
	}
	return names
}

// UnknownError reports a block name that does not exist.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("no block %q: want one of %s", e.Name, strings.Join(Names(), ", "))
}

// Find returns the blocks with these names, or all if none is given. Errors: *UnknownError for every unknown
// name.
func Find(names []string) ([]*kit.Block, error) {
	if len(names) == 0 {
		return All(), nil
	}
	var list []*kit.Block
	var errs []error
next:
	for _, n := range names {
		for _, b := range All() {
			if b.Name == n {
				list = append(list, b)
				continue next
			}
		}
		errs = append(errs, &UnknownError{n})
	}
	return list, errors.Join(errs...)
}

var _ error = (*UnknownError)(nil)
