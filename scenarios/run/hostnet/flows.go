package hostnet

import (
	"nictwin/scenarios/run/workload"
	"nictwin/stack/apps"
	"nictwin/stack/baseline/hostcc"
	"nictwin/stack/baseline/shring"
	"nictwin/stack/ceio/path"
	"nictwin/stack/hostnet"
	hostapps "nictwin/stack/hostnet/apps"
	"nictwin/stack/rpc"
)

// Ps is a time in picoseconds.
type Ps = hostnet.Ps

// Kind is a kind of stack over UDP.
type Kind string

// Kinds of stack.
const (
	CEIO Kind = "ceio" // a server with credits for receive buffers
	DDIO Kind = "ddio" // a server whose NIC writes to the last-level cache as DDIO has it
	UDP  Kind = "udp"  // a client

	ShRing Kind = "shring" // a server whose flows share a receive ring
	HostCC Kind = "hostcc" // a server that watches its IIO buffer
)

// Kinds lists the kinds of stack.
var Kinds = []Kind{CEIO, DDIO, HostCC, ShRing, UDP}

// Serves reports whether a stack answers requests.
func (k Kind) Serves() bool { return k != UDP }

// Stack is the stack of a server.
type Stack struct {
	Kind   Kind
	CEIO   path.Spec   // of kind ceio
	ShRing shring.Spec // of kind shring
	HostCC hostcc.Spec // of kind hostcc
	Node   hostnet.Spec
}

// flow is a flow between two servers.
type flow struct {
	spec     *workload.Spec
	workload int
	index    int    // among the flows of the workload
	number   int    // among all flows
	ends     [2]int // servers of client and server
}

// flowsOf returns the flows of all workloads.
func flowsOf(list workload.List) (all []flow) {
	for i, w := range list {
		index := 0
		for _, p := range w.Pairs() {
			for range w.QueuePairs {
				all = append(all, flow{spec: w, workload: i, index: index, number: len(all), ends: p})
				index++
			}
		}
	}
	return all
}

// firstPort is the UDP port of the first flow, at both ends. Of VXLAN it is the source port.
const firstPort = 7000

// ports returns the UDP ports of client and server.
func (f *flow) ports() (client, server uint16) {
	client = firstPort + uint16(f.number)
	if f.spec.Kind == apps.VXLAN {
		return client, hostapps.VXLANPort
	}
	return client, client
}

// segment returns the longest payload of a request's packet.
func (f *flow) segment() int {
	switch f.spec.Kind {
	case apps.KV:
		_, put := f.kvSpec().RequestBytes()
		return put
	case apps.Chunks:
		return min(f.spec.Chunks.Segment, f.spec.Sizes[0])
	}
	return f.spec.Sizes[0]
}

// answerBytes returns the length of an answer; 0 for datagrams, which have none.
func (f *flow) answerBytes() int {
	switch f.spec.Kind {
	case apps.KV:
		return f.kvSpec().AnswerBytes()
	case apps.Chunks:
		return hostapps.ChunkAnswerBytes
	case apps.VXLAN:
		return 0
	}
	if f.spec.Answer != nil {
		return *f.spec.Answer
	}
	return f.spec.Sizes[0]
}

// held returns the packets that the server's application holds at a time, at most.
func (f *flow) held() int {
	if f.spec.Kind != apps.Chunks {
		return 1
	}
	return f.spec.Chunks.Packets(f.spec.Sizes[0]) * f.spec.Depth
}

// frames returns the lengths of the longest frames that the ends receive: client and server.
func (f *flow) frames(v6 bool) (client, server int) {
	headers := ends(v6).HeaderBytes()
	if f.spec.Kind == apps.VXLAN {
		return 0, headers + new(hostapps.VXLANSource).Longest()
	}
	return headers + rpc.AckBytes + f.answerBytes(), headers + rpc.DataBytes + f.segment()
}

// beyond reports whether a server's n-th flow has no account and shares a ring with others.
func (s *Stack) beyond(n int) bool { return s.Kind == CEIO && n >= s.CEIO.Flows }

// coreOf returns the core for a server's n-th flow on a host with the given number of cores.
func (s *Stack) coreOf(n, cores int) int {
	if s.beyond(n) {
		n = s.CEIO.Flows
	}
	if s.Kind == HostCC {
		cores = max(cores-1, 1) // the last one runs the control loop
	}
	return n % cores
}
