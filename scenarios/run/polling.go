package run

import (
	"nictwin/models/server/cpu"
	"nictwin/stack/apps"
	"nictwin/stack/driver/corebus"
)

// looping is a core that lets applications run polling loops.
type looping struct{ *cpu.Core }

// Loop starts a loop on the core (apps.Looper). A poll that finds nothing costs as much as a poll of a completion ring.
func (l looping) Loop(name string, step func() bool) (apps.Loop, error) {
	x, err := l.Add(cpu.LoopSpec{Name: name, Poll: corebus.DefaultSpec().Poll, As: cpu.Application},
		func(*cpu.Core) bool { return step() })
	if err != nil {
		return nil, err
	}
	return polled{x}, nil
}

// polled is a polling loop on a core.
type polled struct{ *cpu.Loop }

// Watch wakes the loop when n bytes at addr are written, until Stop (apps.Loop).
func (p polled) Watch(addr uint64, n int) error {
	_, err := p.Loop.Watch(addr, n)
	return err
}

var _ apps.Looper = looping{}
