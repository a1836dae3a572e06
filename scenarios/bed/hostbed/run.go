package hostbed

import (
	"errors"
	"fmt"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/judge"
	"nictwin/stack/driver"
	"nictwin/stack/hostnet"
)

// Err returns the errors of nodes and rack.
func (b *Bed) Err() error {
	errs := []error{b.Rack.Err()}
	for i, n := range b.Nodes {
		if n == nil {
			continue
		}
		if err := n.Err(); err != nil {
			errs = append(errs, fmt.Errorf("machine %s: %w", b.Rack.Servers[i].Name, err))
		}
	}
	for _, c := range b.Rack.Cards() {
		errs = append(errs, c.Overdue())
	}
	return errors.Join(errs...)
}

// step is the simulated time between two checks of a condition.
const step = simcore.Microsecond

// Await advances time until a condition holds. It fails if no flow and no driver advances for Config.Quiet.
func (b *Bed) Await(what string, done func() bool) error {
	progress, since := b.progress(), b.Engine.Now()
	for !done() {
		to := b.Engine.Now() + step
		if next := b.Engine.Next(); next != nil && next.At > to {
			to += (next.At - to + step - 1) / step * step
		}
		if err := b.Engine.RunUntil(to); err != nil {
			return err
		}
		if err := b.Err(); err != nil {
			return err
		}
		if p := b.progress(); p != progress {
			progress, since = p, b.Engine.Now()
		} else if b.Engine.Now()-since > b.cfg.Quiet && !done() {
			return fmt.Errorf("waited for %s: nothing advanced for %v of simulated time%s", what, b.cfg.Quiet,
				b.timers())
		}
	}
	return nil
}

// RunFor advances time.
func (b *Bed) RunFor(t simcore.Ps) error {
	if err := b.Engine.RunUntil(b.Engine.Now() + t); err != nil {
		return err
	}
	return b.Err()
}

// Start lets the clients begin.
func (b *Bed) Start() {
	for _, n := range b.Nodes {
		if n != nil {
			n.Start()
		}
	}
}

// Settle advances time until the clients have no work left and nothing is in flight: machines are idle for a while, in
// which a frame that was on a cable would have arrived.
func (b *Bed) Settle() error {
	const cables = 5 * simcore.Microsecond
	since := simcore.Ps(-1)
	return b.Await("all flows to end", func() bool {
		switch now := b.Engine.Now(); {
		case !b.idle():
			since = -1
		case since < 0:
			since = now
		default:
			return now-since >= cables
		}
		return false
	})
}

func (b *Bed) idle() bool {
	for i, n := range b.Nodes {
		if n != nil && !n.Idle() || !b.Rack.Servers[i].Cards[0].Idle() {
			return false
		}
	}
	return true
}

// ReadDrops returns the drops of each NIC that has a node.
func (b *Bed) ReadDrops() ([]hostnet.Drops, error) {
	drops, read, want := make([]hostnet.Drops, len(b.Nodes)), 0, 0
	for i, n := range b.Nodes {
		if n == nil {
			continue
		}
		want++
		n.ReadDrops(func(d hostnet.Drops) {
			drops[i] = d
			read++
		})
	}
	return drops, b.Await("the counters of drops", func() bool { return read == want })
}

// Close reads all counters for the referees, ends the run and closes the devices. It returns the referees' findings,
// joined.
func (b *Bed) Close() error {
	errs := []error{b.readCounters()}
	for _, n := range b.Nodes {
		if n != nil {
			n.Close()
		}
	}
	b.over = true
	errs = append(errs, b.Engine.Run())
	for _, c := range b.Rack.Cards() {
		errs = append(errs, c.NIC.Check())
	}
	for _, j := range b.Judges {
		if j == nil {
			continue
		}
		if rep := j.Finish(judge.Whole); !rep.Passed() {
			errs = append(errs, fmt.Errorf("referee of %s: %v", j.Name, rep))
		}
	}
	return errors.Join(append(errs, b.Rack.Close())...)
}

func (b *Bed) readCounters() error {
	if b.cfg.Unjudged {
		return nil
	}
	read, want := 0, 0
	for _, n := range b.Nodes {
		if n != nil {
			want++
			n.Driver().ReadCounters(func(driver.Counters) { read++ })
		}
	}
	return b.Await("all counters", func() bool { return read == want })
}

// progress returns a number that changes when a flow or a driver advances.
func (b *Bed) progress() (sum uint64) {
	for _, n := range b.Nodes {
		if n != nil {
			sum += n.Progress() + n.Driver().Begun()
		}
	}
	return sum
}

// timers names the running timers of all nodes.
func (b *Bed) timers() (list string) {
	for i, n := range b.Nodes {
		if n == nil {
			continue
		}
		if t := n.Timer(); t != "" {
			list += fmt.Sprintf("; machine %s: %s", b.Rack.Servers[i].Name, t)
		}
	}
	return list
}
