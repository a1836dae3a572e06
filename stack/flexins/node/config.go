package node

import (
	"errors"
	"fmt"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
)

// Port is an Ethernet port's address.
type Port struct {
	MAC [6]byte
	GID [16]byte // IPv4 as ::ffff:a.b.c.d
}

// Config holds the parts of a node.
type Config struct {
	Spec    Spec
	Build   nicspec.Build // sizes and parts of the NIC
	Limits  tlp.Limits    // limits of the PCIe roots behind the NIC, for its register DEVCTL
	Timeout uint32        // cycles that the NIC waits for the completions of a read; 0: the NIC's reset value
	Polls   int           // minimum of driver.Options.MaxPolls; 0: the driver's default
	Memory  [nicspec.EndpointHost + 1]driver.Range
	Control *corebus.Bus   // the control core's bus
	Data    []*corebus.Bus // the data cores' buses, as many as the spec says
	Hosts   []HostCore     // cores that each run a process with its own library
	Ports   []Port
	Engines []*corebus.Bus // buses of the offload engine's cores; none: no engine

	// ReadsMayFail, if set, reports whether reads of the NIC are being made to fail on purpose.
	ReadsMayFail func() bool
}

// HostCore is a core that runs a library and applications.
type HostCore struct {
	Bus    *corebus.Bus
	Window *corebus.Bus // access to Arm memory as registers: offset 0 is address 0. Needed for notifications by MMIO
}

func (c *Config) validate() error {
	errs := []error{c.Spec.Validate()}
	want := func(ok bool, format string, a ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, a...))
		}
	}
	n, b := c.Spec.DataCores, &c.Build
	want(c.Control != nil && len(c.Hosts) > 0 && len(c.Data) == n,
		"%d data cores, %d host cores, and a control core: want %d, 1 or more, and one", len(c.Data), len(c.Hosts), n)
	for _, h := range c.Hosts {
		want(c.Spec.Notify != MMIO || h.Window != nil, "notify mmio: the board gives host cores no access to Arm "+
			"memory: want one that does")
	}
	if err := c.Limits.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("limits of the roots behind the NIC: %w", err))
	}
	want(len(c.Ports) == b.Ports, "%d ports: want the %d of the NIC", len(c.Ports), b.Ports)
	low := c.Spec.LowLatency
	want(n+low <= b.NumRxq, "data_cores %d and low_latency_qps %d: want %d together at most, the NIC's receive queues",
		n, low, b.NumRxq)
	copyQueues := 1 + max(len(c.Engines), 1) + len(c.Hosts) // the copies of control, engines and processes
	want(n*(b.Ports+1)+copyQueues <= b.NumTxq, "data_cores %d: want %d at most: each has %d of the NIC's %d transmit "+
		"queues, %d are reserved for other cores", n, (b.NumTxq-copyQueues)/(b.Ports+1), b.Ports+1, b.NumTxq,
		copyQueues)
	want(n+low <= b.NumRules, "data_cores %d and low_latency_qps %d: want %d together at most, the NIC's rules", n, low,
		b.NumRules)
	want(low == 0 || b.Has(nicspec.PartAccounts), "low_latency_qps %d: the NIC lacks part accounts: want one with "+
		"it, or 0", low)
	const others = firstCoreKey
	want(others+n < b.NumKeys, "data_cores %d: want %d at most, for the NIC's memory keys", n, b.NumKeys-others-1)
	for _, p := range []struct {
		has  bool
		name string
	}{{b.Has(nicspec.PartCopy), "copy"}, {b.Has(nicspec.PartAppend), "append"}, {b.Has(nicspec.PartTrim), "trim"},
		{b.Has(nicspec.PartLong), "long"}} {
		want(p.has, "the NIC lacks part %s: want one with it", p.name)
	}
	return errors.Join(errs...)
}
