package hostnet

import (
	"errors"
	"fmt"
	"slices"

	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
	"nictwin/stack/driver"
)

// Node is the network stack of one host.
type Node struct {
	Resources

	cfg     Config
	drv     *driver.Driver
	cores   []*core
	flows   []*Flow
	up      bool
	started bool
	err     error
}

// New assembles a node. It works once the driver has carried out its commands (Ready); servers answer from then on,
// clients and sources begin at Start.
func New(c Config) (*Node, error) {
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("hostnet: %w", err)
	}
	n := &Node{cfg: c}
	n.Resources.build = c.Build
	o := driver.DefaultOptions()
	o.Build, o.Memory = c.Build, c.Memory
	o.MaxPolls = max(o.MaxPolls, c.Polls)
	var err error
	if n.drv, err = driver.New(c.Control, o); err != nil {
		return nil, err
	}
	if err := n.open(); err != nil {
		n.Close()
		return nil, fmt.Errorf("hostnet: %w", err)
	}
	n.drv.Enable(true, true)
	n.drv.Sync()
	n.drv.Await(n.awaitCores)
	n.drv.Sync()
	n.drv.Then(n.ready)
	return n, nil
}

// open sets up the NIC, cores and flows.
func (n *Node) open() error {
	c := &n.cfg
	if devctl := driver.ControlFor(c.Limits); devctl != driver.ResetControl() {
		if err := n.drv.SetDeviceControl(devctl); err != nil {
			return err
		}
	}
	if c.Timeout != 0 && c.Timeout != nicspec.ResetCplTimeout {
		if err := n.drv.SetCompletionTimeout(c.Timeout); err != nil {
			return err
		}
	}
	key, err := n.TakeKey()
	if err != nil {
		return err
	}
	host := c.Memory[nicspec.EndpointHost]
	if n.Host, err = n.drv.SetKey(driver.KeySpec{Index: key, Variant: 1, Len: host.Bytes,
		Bus:    nicspec.EndpointHost<<nicspec.EndpointShift | host.From,
		Rights: dma.Access{Read: true, Write: true}}); err != nil {
		return err
	}
	for _, bus := range c.Cores {
		n.cores = append(n.cores, &core{node: n, bus: bus, cpu: bus.Core()})
	}
	for i := range c.Flows {
		f, err := n.openFlow(i, c.Flows[i])
		if err != nil {
			return fmt.Errorf("%s: %w", c.Flows[i].name(i), err)
		}
		n.flows = append(n.flows, f)
	}
	return n.openQueues()
}

// openQueues opens the transmit queues, whose slots fit the longest frame of the core's flows, then the paths.
func (n *Node) openQueues() error {
	for i, c := range n.cores {
		longest := nicspec.FrameMin
		for _, f := range c.flows {
			longest = max(longest, f.role.slotBytes(f.ends.HeaderBytes()))
		}
		if err := c.openTransmit(longest); err != nil {
			return fmt.Errorf("core %d: %w", i, err)
		}
	}
	for _, f := range n.flows {
		if err := f.openPath(); err != nil {
			return err
		}
		var err error
		if f.cfg.Server != nil {
			err = f.cfg.Server.Open(f)
		} else if f.cfg.Sink != nil {
			err = f.cfg.Sink.Open(f)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

// awaitCores calls done when each core has replayed what it recorded so far: buffers posted, doorbells rung, memory of
// applications filled.
func (n *Node) awaitCores(done func()) {
	left := len(n.cores)
	for _, c := range n.cores {
		c.cpu.Call(func() {
			if left--; left == 0 {
				done()
			}
		})
	}
}

// ready is called when the NIC is set up: it announces the port's address, and lets the flows work.
func (n *Node) ready() {
	n.up = true
	tx := n.cores[0].tx
	if n.cfg.Port.IP.Is4() {
		tx.send(nil, announcement(n.cfg.Port), 0, 0, nil)
		tx.flush()
	}
	n.wake()
}

func (n *Node) wake() {
	for _, f := range n.flows {
		f.loop.Wake()
	}
}

// Start lets clients and sources begin.
func (n *Node) Start() {
	n.started = true
	n.wake()
}

// Driver returns the NIC's driver, for counters and control registers.
func (n *Node) Driver() *driver.Driver { return n.drv }

// Ready reports whether the NIC is set up.
func (n *Node) Ready() bool { return n.up }

// Idle reports whether nothing is in flight except frames: no request without an answer, no packet unsent, no timer.
func (n *Node) Idle() bool {
	for _, f := range n.flows {
		if !f.role.idle() || !f.path.Idle() {
			return false
		}
	}
	for _, c := range n.cores {
		if !c.tx.idle() {
			return false
		}
	}
	return n.drv.Idle()
}

// Timer names a timer that runs, for error texts; empty: none.
func (n *Node) Timer() string {
	for _, f := range n.flows {
		if t := f.role.timer(); t != "" {
			return fmt.Sprintf("%s of %s", t, f.name)
		}
	}
	return ""
}

// Progress returns a number that changes when a flow advances; retransmissions do not count.
func (n *Node) Progress() (sum uint64) {
	for _, f := range n.flows {
		sum += f.role.progress()
	}
	return sum
}

// Err returns the first error of the node, its driver and its paths, or nil. An error that several paths report counts
// once.
func (n *Node) Err() error {
	errs := []error{n.err, n.drv.Err()}
	for _, f := range n.flows {
		if f.path == nil {
			continue
		}
		if err := f.path.Err(); err != nil && !slices.ContainsFunc(errs, sameText(err)) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func sameText(err error) func(error) bool {
	return func(e error) bool { return e != nil && e.Error() == err.Error() }
}

func (n *Node) fail(err error) {
	if n.err == nil {
		n.err = err
	}
}

// Close stops the loops of the node.
func (n *Node) Close() {
	for _, f := range n.flows {
		f.loop.Stop()
		if f.path != nil {
			f.path.Close()
		}
	}
}
