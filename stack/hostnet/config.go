package hostnet

import (
	"errors"
	"fmt"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
)

// Config holds the parts of a node.
type Config struct {
	Spec    Spec
	Build   nicspec.Build // sizes and parts of the NIC
	Limits  tlp.Limits    // limits of the PCIe roots behind the NIC, for its register DEVCTL
	Timeout uint32        // cycles that the NIC waits for the completions of a read; 0: the NIC's reset value
	Polls   int           // minimum of driver.Options.MaxPolls; 0: the driver's default

	// Memory is the memory that the node may allocate, by endpoint. Only paths use Arm memory; it may be empty.
	Memory [nicspec.EndpointHost + 1]driver.Range

	Control *corebus.Bus   // carries out the driver's commands; may be one of Cores
	Cores   []*corebus.Bus // buses of the cores that run flows
	Port    Address        // of Ethernet port 0, the only one used
	Flows   []FlowConfig

	// Reordered says that the network may change the order of a flow's packets. Otherwise a change is an error, because
	// the NIC or a path made it.
	Reordered bool
}

func (c *Config) validate() error {
	errs := []error{c.Spec.Validate()}
	want := func(ok bool, format string, a ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, a...))
		}
	}
	want(c.Control != nil && len(c.Cores) > 0, "%d cores for flows: want 1 or more, and one for control", len(c.Cores))
	if err := c.Limits.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("limits of the roots behind the NIC: %w", err))
	}
	rules := map[[2]uint16]string{} // name of a flow by local port, and source port if its rule looks at that
	for i := range c.Flows {
		f := &c.Flows[i]
		if err := f.validate(len(c.Cores)); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.name(i), err))
		}
		want(f.Ends.Local == c.Port, "%s: local address %v: want %v, the node's", f.name(i), f.Ends.Local, c.Port)
		key := [2]uint16{f.Ends.LocalPort}
		if f.MatchSource {
			key[1] = f.Ends.PeerPort
		}
		if before, twice := rules[key]; twice {
			want(false, "%s: UDP port %d: %s has it: want another port", f.name(i), f.Ends.LocalPort, before)
		}
		rules[key] = f.name(i)
	}
	return errors.Join(errs...)
}
