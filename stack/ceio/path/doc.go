// Package path brings the packets of a CEIO server to its cores: it is the hostnet.Path of a node's flows, over
// stack/ceio/device, on the cores of the host, and with controller `arm` on a core of the card, too.
//
// Connections get an account each, as far as Spec.Flows goes. The others share one slow ring, on the default rule of
// the NIC; they must be flows of one core, which tells them apart by their addresses and UDP ports.
//
// The core of a flow polls its two rings and the copies, and keeps the software ring; each packet costs it
// Spec.PacketCycles, twice in the shared ring, where its flow has to be found, besides the loads and stores of
// descriptors and completion entries. The manager's state is shared by the cores; the cost of sharing it (locks, misses
// on its lines) is not modelled.
//
// With controller `arm`, a core of the card reads the hits of each flow's rule once in a period and rewrites rules,
// through a driver of its own: its register accesses take the time that they take on the board. It sees the host's
// release of credits at once; the paper's driver writes its heads to the card, and that write is not modelled.
//
// While the slow path of a flow grows, its packets are marked as congestion experienced, if their transport is
// ECN-capable: the path tells the flow, which counts them as such. Their headers in host memory stay as they are.
package path
