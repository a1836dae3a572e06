// Package node assembles FlexiNS on one card and its host: control core, data cores, kernel module, and a library for
// each context.
//
// It receives cores and registers, memory ranges and the sizes of the NIC, and cannot tell which NIC it drives.
package node

import (
	"errors"
	"fmt"

	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/flexins/control"
	"nictwin/stack/flexins/data"
	"nictwin/stack/flexins/kernel"
	"nictwin/stack/flexins/library"
	"nictwin/stack/offload"
	"nictwin/stack/pipe"
	"nictwin/stack/pipe/copyengine"
	"nictwin/stack/verbs"
)

// Spec holds all options of a node.
type Spec struct {
	DataCores int          `yaml:"data_cores"`
	Data      data.Spec    `yaml:"data"`
	Control   control.Spec `yaml:"control"`
	Library   library.Spec `yaml:"library"`
	Offload   offload.Spec `yaml:"offload"` // of the engine, if there is one
	// EngineCores is the number of cores that an engine has: the requests of all queue pairs go to whichever is free.
	EngineCores int `yaml:"engine_cores"`

	MTU verbs.MTU `yaml:"mtu" unit:"bytes"` // of the ports

	Notify Notification `yaml:"notify"`

	// LowLatency is the largest number of low-latency queue pairs (FN 3.4): each takes a receive queue, a rule and a
	// credit account of the NIC. 0: none can be created. Assumption.
	LowLatency int `yaml:"low_latency_qps"`

	// HostBytes is the host memory for rings and staging, ArmBytes that of the card: assumptions.
	HostBytes uint64 `yaml:"host_bytes"`
	ArmBytes  uint64 `yaml:"arm_bytes"`

	// ShadowBytes is the range of Arm addresses that stand for host memory: assumption.
	ShadowBytes uint64 `yaml:"shadow_bytes"`
}

// DefaultSpec returns a spec with 12 data cores (FN A.2) and an MTU of 4,096.
func DefaultSpec() Spec {
	return Spec{
		DataCores: 12, Data: data.DefaultSpec(), Control: control.DefaultSpec(), Library: library.DefaultSpec(),
		Offload: offload.DefaultSpec(), EngineCores: 1, MTU: verbs.MTU4096, Notify: Pipe,
		HostBytes: 16 << 20, ArmBytes: 4 << 20, ShadowBytes: 1 << 40,
	}
}

// Validate returns every error of the spec, by field.
func (s *Spec) Validate() error {
	var errs []error
	within := func(path field.Path, v, low, high uint64) {
		errs = append(errs, field.Within(path, v, low, high))
	}
	within("data_cores", uint64(max(s.DataCores, 0)), 1, 64)
	within("engine_cores", uint64(max(s.EngineCores, 0)), 1, 16)
	if s.LowLatency < 0 || s.LowLatency > nicspec.NumAccounts {
		errs = append(errs, field.Errorf("low_latency_qps", "%d: want 0 to %d, the NIC's credit accounts", s.LowLatency,
			nicspec.NumAccounts))
	}
	errs = append(errs, field.Under("data", s.Data.Validate()), field.Under("control", s.Control.Validate()),
		field.Under("library", s.Library.Validate()),
		field.Under("offload", s.Offload.Validate()))
	if !s.MTU.Valid() {
		errs = append(errs, field.Errorf("mtu", "%d: want 256, 512, 1024, 2048, 4096 or 8192", s.MTU))
	} else if int(s.MTU)+2*nicspec.LineBytes > s.Data.PayloadBytes {
		errs = append(errs, field.Errorf("data.payload_bytes", "%d: want %d or more for %v %d", s.Data.PayloadBytes,
			int(s.MTU)+2*nicspec.LineBytes, field.Path("mtu"), s.MTU))
	}
	if !s.Notify.valid() {
		errs = append(errs, field.Errorf("notify", "%q: want %s, %s, %s or %s", s.Notify, Pipe, DoorbellPushed,
			DoorbellPolled, MMIO))
	}
	within("host_bytes", s.HostBytes, 1<<20, 1<<32)
	within("arm_bytes", s.ArmBytes, 1<<20, 1<<32)
	within("shadow_bytes", s.ShadowBytes, 1<<20, 1<<44)
	return errors.Join(errs...)
}

// Node is FlexiNS on one card and its host.
type Node struct {
	cfg     Config
	drv     *driver.Driver
	data    *data.Card
	control *control.Control
	kernel  *kernel.Module
	libs    []*library.Context
	reply   *copyengine.Engine
	engines []*engine // of the offload engine, by core
	pool    pool      // of these cores
	served  int       // queue pairs given to the engine
	up      bool
}

// Numbers of the NIC's resources. The first keys are for host memory and the control core's Arm memory; the last
// transmit queues carry the copies of the control core, the offload engine and the host's processes.
const (
	hostKey = iota
	armKey
	firstEngineKey
	firstCoreKey
)

// shadowFrom is the first shadow address: above any memory, and within the 48 bits of a receive entry.
const shadowFrom = 0x4000_0000_0000

// New assembles a node. It works once the driver has carried out its commands; Ready reports that.
func New(c Config) (*Node, error) {
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	n := &Node{cfg: c}
	o := driver.DefaultOptions()
	o.Build, o.Memory, o.ReadsMayFail = c.Build, c.Memory, c.ReadsMayFail
	o.MaxPolls = max(o.MaxPolls, c.Polls)
	var err error
	if n.drv, err = driver.New(c.Control, o); err != nil {
		return nil, err
	}
	if devctl := driver.ControlFor(c.Limits); devctl != driver.ResetControl() {
		if err := n.drv.SetDeviceControl(devctl); err != nil {
			return nil, fmt.Errorf("node: %w", err)
		}
	}
	if c.Timeout != 0 && c.Timeout != nicspec.ResetCplTimeout {
		if err := n.drv.SetCompletionTimeout(c.Timeout); err != nil {
			return nil, fmt.Errorf("node: %w", err)
		}
	}
	if err := n.build(); err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	n.drv.Enable(true, true)
	n.drv.Sync()
	n.drv.Then(func() { n.up = true })
	return n, nil
}

// memory is a block of an endpoint's memory, with the NIC's memory key for it and an allocator.
type memory struct {
	*driver.Arena
	key *driver.Key
}

func (n *Node) block(endpoint, key int, bytes uint64) (m memory, err error) {
	at, err := n.drv.Alloc(endpoint, bytes, nicspec.LineBytes)
	if err != nil {
		return m, err
	}
	m.Arena = n.drv.Within(at, bytes)
	m.key, err = n.drv.SetKey(driver.KeySpec{Index: key, Variant: 1, Bus: at, Len: bytes,
		Rights: dma.Access{Read: true, Write: true}})
	return m, err
}

// build creates all parts, from the NIC upwards.
func (n *Node) build() error {
	s, b := &n.cfg.Spec, &n.cfg.Build
	host, err := n.block(nicspec.EndpointHost, hostKey, s.HostBytes)
	if err != nil {
		return err
	}
	arm, err := n.block(nicspec.EndpointArm, armKey, s.ArmBytes)
	if err != nil {
		return err
	}
	firstKey := firstCoreKey + s.DataCores
	keys := b.NumKeys - firstKey
	regions := verbs.NewRegions(keys)
	shadow, err := pipe.NewShadow(pipe.Extent{From: shadowFrom, Bytes: s.ShadowBytes})
	if err != nil {
		return err
	}
	ports := n.ports()
	var macs [][6]byte
	for i := range ports {
		macs = append(macs, ports[i].MAC)
	}
	if n.data, err = data.New(data.Config{Spec: s.Data, Driver: n.drv, Cores: n.cfg.Data, Regions: regions,
		Shadow: shadow, FirstKey: firstCoreKey, Host: host.key, MACs: macs,
		LowLatency: s.LowLatency, FirstRule: s.LowLatency, Control: n.cfg.Control.Core().Call}); err != nil {
		return err
	}
	if n.control, err = control.New(control.Config{
		Spec: s.Control, Bus: n.cfg.Control, Driver: n.drv, Data: n.data, Regions: regions, Shadow: shadow,
		Ports:    ports,
		FirstKey: firstKey, Keys: keys,
	}); err != nil {
		return err
	}
	if n.kernel, err = kernel.New(s.DataCores, n.device(keys)); err != nil {
		return err
	}
	if n.reply, err = copyengine.Open(n.drv,
		driver.TxConfig{QueueConfig: driver.QueueConfig{Queue: n.txNumber(replies), LogSize: s.Data.LogCopy}}, host.key,
		arm.key); err != nil {
		return err
	}
	for i := range n.cfg.Hosts {
		if err := n.open(i, host, arm, ports); err != nil {
			return fmt.Errorf("process %d of %d: %w", i, len(n.cfg.Hosts), err)
		}
	}
	return n.openEngines()
}

// ports returns the attributes of the ports.
func (n *Node) ports() (all []verbs.PortAttr) {
	const most = 1 << 31 // the longest message (IBTA 9.7.3)
	for _, p := range n.cfg.Ports {
		all = append(all, verbs.PortAttr{Active: true, MaxMTU: n.cfg.Spec.MTU, ActiveMTU: n.cfg.Spec.MTU,
			MaxMessage: most, MAC: p.MAC, GID: p.GID})
	}
	return all
}

// device returns the attributes of the card. Table sizes are assumptions.
func (n *Node) device(keys int) verbs.DeviceAttr {
	const table = 1 << 12
	longest := 0
	if n.cfg.Spec.LowLatency > 0 {
		longest = min(int(n.cfg.Spec.MTU), n.cfg.Spec.Data.MaxLowLatency())
	}
	return verbs.DeviceAttr{
		MaxLowLatency: longest,

		MaxMRSize: n.cfg.Spec.ShadowBytes / 2, MaxQP: table, MaxQPWR: table, MaxSGE: library.MaxSGE,
		MaxInline: library.MaxInline, MaxCQ: table, MaxCQE: library.MaxCQE,
		MaxMR: keys, MaxPD: table, MaxAH: 1 << 16, MaxQPRdAtom: 16, MaxQPInitRdAtom: 16, MaxSRQ: table, MaxSRQWR: table,
		MaxSRQSGE: library.MaxSGE,
		Ports:     len(n.cfg.Ports), Types: []verbs.QPType{verbs.QPTRC, verbs.QPTUC, verbs.QPTUD, verbs.QPTRawPacket,
			verbs.QPTSolar},
		Features: verbs.FeatureAtomics | verbs.FeatureSRQ | verbs.FeatureInvalidate | verbs.FeatureSolicited |
			verbs.FeatureError | verbs.FeatureDrain | verbs.FeatureRemotePD | verbs.FeatureDestroyBusy |
			verbs.FeatureNop,
	}
}

// contextID returns the ID of the context of a process's library.
func contextID(process int) int { return 1 + process }

// Transmit queues for copies, as positions counted down from the NIC's last queue.
const (
	firstProcess = iota
	replies
	firstEngine
	otherProcesses
)

func (n *Node) txNumber(k int) int { return n.cfg.Build.NumTxq - 1 - k }

// copyQueueOf returns the transmit queue for a process's copies.
func (n *Node) copyQueueOf(process int) int {
	if process == 0 {
		return n.txNumber(firstProcess)
	}
	return n.txNumber(otherProcesses + process - 1)
}

// open opens the context of a process's library: its mailbox, and its pipes to every data core.
func (n *Node) open(process int, host, arm memory, ports []verbs.PortAttr) error {
	s, on, id := n.cfg.Spec.Data.Pipe, &n.cfg.Hosts[process], contextID(process)
	engine, err := copyengine.Open(n.drv, driver.TxConfig{QueueConfig: driver.QueueConfig{
		Queue: n.copyQueueOf(process), LogSize: n.cfg.Spec.Data.LogCopy, RingIn: nicspec.EndpointHost,
		DoneIn: nicspec.EndpointHost, Bus: on.Bus}}, host.key, arm.key)
	if err != nil {
		return err
	}
	up := direction{s, on.Bus.Core(), engine, host.Arena, arm.Arena, id, on.Window}
	c := library.Config{Spec: n.cfg.Spec.Library, ID: id, Core: on.Bus.Core(), Kernel: n.kernel.Open(), Ports: ports,
		Pipe: n.cfg.Spec.Data.Completions(), Host: host.Arena, Failed: n.Err}
	mail, from, at, err := up.pipe(n.cfg.Control.Core())
	if err != nil {
		return err
	}
	down := direction{spec: s, local: n.cfg.Control.Core(), engine: n.reply, from: arm.Arena, to: host.Arena}
	replies, answers, replyAt, err := down.pipe(on.Bus.Core())
	if err != nil {
		return err
	}
	c.To, c.From, c.Reply = mail, answers, replyAt
	if err := n.control.Open(id, from, replies, at); err != nil {
		return err
	}
	if c.SQ, c.RQ, err = n.attach(up); err != nil {
		return err
	}
	lib, err := library.New(c)
	n.libs = append(n.libs, lib)
	return err
}

// direction describes the pipes from the host to the card or back, for one context.
type direction struct {
	spec   pipe.Spec
	local  pipe.Memory // the producer's memory
	engine pipe.Copier
	from   *driver.Arena // allocator on the producer's side
	to     *driver.Arena // allocator on the consumer's side

	context int          // ID of the library context, if the direction is from the host
	window  *corebus.Bus // host core's window to Arm memory
}

// pipe creates a pipe by DMA; `at` is the extent of its ring.
func (w direction) pipe(consumer pipe.Memory) (p pipe.Sender, c pipe.Receiver, at pipe.Extent, err error) {
	bytes := uint64(w.spec.Bytes())
	all := bytes + pipe.LineBytes
	from, err := w.from.Alloc(all, pipe.LineBytes)
	if err != nil {
		return nil, nil, at, err
	}
	to, err := w.to.Alloc(all, pipe.LineBytes)
	if err != nil {
		return nil, nil, at, err
	}
	for _, x := range []struct {
		arena *driver.Arena
		at    uint64
	}{{w.from, from}, {w.to, to}} {
		x.arena.Mark(x.at, bytes, driver.UseElements)
		x.arena.Mark(x.at+bytes, pipe.LineBytes, driver.UseDoorbells)
	}
	place := pipe.Place{Ring: to, Counter: to + bytes}
	if p, err = pipe.NewProducer(w.spec, place, pipe.NewStaged(w.local, w.engine, from, to, all)); err != nil {
		return nil, nil, at, err
	}
	c, err = pipe.NewConsumer(w.spec, place, consumer)
	return p, c, pipe.Extent{From: to, Bytes: bytes}, err
}
