package etherlink

import (
	"errors"

	"github.com/sarchlab/akita/v3/sim"
)

var errEnd = errors.New("the time is over")

// stopper ends a run.
type stopper struct{ r *rig }

func (s *stopper) Handle(sim.Event) error {
	s.r.balanced()
	return errEnd
}
