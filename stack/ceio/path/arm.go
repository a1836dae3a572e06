package path

import (
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/simcore"
	"nictwin/stack/driver"
)

// controller is the controller `arm`: software on a core of the card.
type controller struct {
	s      *Server
	driver *driver.Driver // for rules alone
	loop   *cpu.Loop
	at     int        // path whose rule is read next
	begun  simcore.Ps // time at which the round began
	hit    bool       // a rule was hit since the round before
}

func newController(s *Server) (*controller, error) {
	a := &controller{s: s}
	o := driver.DefaultOptions()
	o.Build, o.Memory = s.c.Build, [nicspec.EndpointHost + 1]driver.Range{}
	var err error
	if a.driver, err = driver.New(s.c.Arm, o); err != nil {
		return nil, err
	}
	const poll = 60
	a.loop, err = s.c.Arm.Core().Add(cpu.LoopSpec{Name: "ceio controller", Poll: poll}, func(*cpu.Core) bool {
		return a.step()
	})
	return a, err
}

// step reads the hits of one flow's rule. A round of all flows begins a period after the one before, or when a packet
// arrives after a round without hits: so a board whose flows are silent comes to rest.
func (a *controller) step() bool {
	now := a.s.c.Arm.Core().Now()
	if a.at == len(a.s.paths) {
		a.loop.Disarm()
		switch next := a.begun + simcore.Ps(a.s.c.Spec.ArmPeriod); {
		case !a.hit:
			return false
		case now < next:
			a.loop.WakeAt(next)
			return false
		}
		a.at, a.hit = 0, false
	}
	if a.at == 0 {
		a.begun = now
	}
	p := a.s.paths[a.at]
	a.at++
	if !p.started || p.id == a.s.c.Spec.Flows {
		return true
	}
	const counterBytes = 8
	a.s.c.Arm.ReadReg(nicspec.RegRuleHits(p.rule), counterBytes, func(v uint64, err error) {
		if p.check(err); err != nil {
			return
		}
		a.hit = a.hit || v != p.hits
		p.hits = v
		a.s.d.Manager().Polled(p.id, v)
	})
	return true
}

// arrived begins a round, if the controller rests.
func (a *controller) arrived() {
	if a != nil && !a.hit {
		a.hit = true
		a.loop.Wake()
	}
}

// err returns the first error of the controller's driver; nil without a controller.
func (a *controller) err() error {
	if a == nil {
		return nil
	}
	return a.driver.Err()
}
