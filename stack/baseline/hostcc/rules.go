package hostcc

import (
	"errors"

	"nictwin/models/nic/nicspec"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/hostnet"
)

// rules rewrites the steering rules of flows whose packets the NIC marks, by the core of the control loop and a driver
// of its own. The node's driver writes tables only before packets arrive.
type rules struct {
	driver  *driver.Driver // for rules alone
	flows   []*hostnet.Marked
	marking bool // the rules lead to marking queues, or will once the driver is idle
	failed  error
}

func newRules(bus *corebus.Bus, build nicspec.Build) (r *rules, err error) {
	r = &rules{}
	o := driver.DefaultOptions()
	o.Build, o.Memory = build, [nicspec.EndpointHost + 1]driver.Range{}
	r.driver, err = driver.New(bus, o)
	return r, err
}

// set makes the rules lead to marking queues or to plain ones, and reports whether they do. It begins nothing while
// rules are being written: the caller asks again.
func (r *rules) set(marking bool) bool {
	if r == nil {
		return true
	}
	if !r.driver.Idle() {
		return false
	}
	if r.marking == marking {
		return true
	}
	r.marking = marking
	for _, f := range r.flows {
		r.failed = errors.Join(r.failed, r.driver.SetRule(f.Rule(marking)))
	}
	return false
}

// err returns the first error of the driver.
func (r *rules) err() error {
	if r == nil {
		return nil
	}
	return errors.Join(r.failed, r.driver.Err())
}
