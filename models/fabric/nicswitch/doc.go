// Package nicswitch is the PCIe switch of a SmartNIC: NIC, Arm, host, and more
// by configuration. Each port carries msg.TLP, over a simcore.Link (the one to
// the NIC) or a models/fabric/pcielink.
//
// nicswitch/route decides where a TLP goes. An arriving TLP is put into the queue
// of its pair of input and output, and can leave Latency later. An output serves
// its queues round robin, a TLP at a time. A queue is bounded by class; inside
// it, TLPs pass each other by the ordering table (models/format/tlp/order).
//
// Order is kept per pair of source and destination only: a payload to the host
// and the completion entry to the Arm that was sent after it arrive in any
// order, as in real switches.
//
// An output whose traffic is blocked does not block others, as long as the
// pair's queue has room for the class at the head of the input. Behind a
// pcielink this is true for each class separately: TLPs that the switch does not
// take wait in that link's receive buffer, where others pass them. Behind a
// simcore.Link, which does not distinguish classes, a TLP whose queue is full
// blocks those behind it in the port, which is the input buffer then.
//
// NICLink selects what the ports of the NIC share. "shared": all of them are
// behind one channel of NICRate in each direction, so that traffic from the Arm
// to the host by way of the NIC crosses it twice. "wide": each has a channel of
// its own, without a limit if NICRate is zero. Each card's preset selects one.
//
// Requests that no port claims are answered with UR if they are non-posted, and
// dropped and counted otherwise; completions that no port claims are dropped
// and counted (see route.Verdict).
//
// Not modelled: virtual channels other than VC0, arbitration by weight, access
// control services, multicast, hot plug.
//
// Invariants:
//   - Bytes in + bytes of answers made here = bytes out + held + dropped, at
//     every instant.
//   - No TLP is changed.
//   - The same traffic gives the same events; ties between inputs are decided by
//     the turn of the output.
//   - Nothing allocates in steady state.
package nicswitch
