package hostnet

import (
	"nictwin/models/nic/nicspec"
	"nictwin/stack/driver"
)

// FlowStats counts what one end of a flow did. Apart from Broken, only the fields of its kind of application are set.
type FlowStats struct {
	Client CallerStats
	Server ServerStats
	Sent   uint64 // datagrams of a source
	Taken  uint64 // datagrams of a sink
	Broken uint64 // packets dropped for bad lengths, checksums or headers
}

// Flows returns the number of flows.
func (n *Node) Flows() int { return len(n.flows) }

// FlowStats returns the counters of a flow.
func (n *Node) FlowStats(flow int) FlowStats {
	f := n.flows[flow]
	s := FlowStats{Broken: f.broken}
	switch r := f.role.(type) {
	case *caller:
		s.Client = r.stats
		s.Client.SenderStats = r.sender.Stats()
	case *server:
		s.Server = r.stats
		s.Server.ReceiverStats = r.recv.Stats()
	case *source:
		s.Sent = r.sent
	case *sink:
		s.Taken = r.took
	}
	return s
}

// Window returns the congestion window of a client's flow in bytes; 0 for other flows.
func (n *Node) Window(flow int) int64 {
	if c, ok := n.flows[flow].role.(*caller); ok {
		return c.sender.Window()
	}
	return 0
}

// Drops are the frames that a NIC dropped on receive, by the place where it lacked something.
type Drops struct {
	Buffer     uint64 // no room in the port's receive buffer [R3]
	Descriptor uint64 // no descriptor of the queue [R9]
	TooLong    uint64 // longer than the queue's buffers [R8]
	NoRule     uint64 // no steering rule matches: frames for other machines
}

// dropCounters are the counters of the fields of Drops, in their order.
var dropCounters = [...]nicspec.PortCounter{nicspec.CntRxDropOverflow, nicspec.CntRxDropNoDesc,
	nicspec.CntRxDropTooLong, nicspec.CntRxDropNoRule}

func dropsOf(v [len(dropCounters)]uint64) Drops {
	return Drops{Buffer: v[0], Descriptor: v[1], TooLong: v[2], NoRule: v[3]}
}

// DropsOf returns the drops among the counters of a NIC.
func DropsOf(c driver.Counters) Drops {
	var v [len(dropCounters)]uint64
	for i, k := range dropCounters {
		v[i] = c.Port(0, k)
	}
	return dropsOf(v)
}

// ReadDrops reads the counters of drops of port 0.
func (n *Node) ReadDrops(done func(Drops)) {
	var v [len(dropCounters)]uint64
	for i, k := range dropCounters {
		n.drv.ReadReg(nicspec.RegCounter(k.Index(0)), 8, func(x uint64) { v[i] = x })
	}
	n.drv.Then(func() { done(dropsOf(v)) })
}
