// Package nicswitch is the PCIe switch of a SmartNIC: NIC, Arm, host, and more
// by configuration. Each port carries msg.TLP, over a simcore.Link (the one to
// the NIC) or a models/fabric/pcielink.
//
// Where a TLP goes is decided in nicswitch/route. How it gets there: a TLP that
// has come in goes into the queue of its pair, input and output, and can leave
// Latency later. An output serves its pairs in turn (round robin, a TLP at a
// time). A pair's queue is bounded by class; inside it TLPs pass each other as
// the ordering table says (models/format/tlp/order).
//
// Order is kept per pair of source and destination only: a payload to the host
// and the completion entry to the Arm that was sent after it arrive in any
// order, as in real switches.
//
// Where the traffic of one output stands still, others go on, as long as the
// pair's queue has room for the class at the head of the input. Behind a
// pcielink that is so for each class by itself: what the switch does not take
// waits in that link's receive buffer, and others pass it there. Behind a
// simcore.Link, which knows no classes, a head that finds its queue full holds
// what is behind it in the port: the port's capacity is that input buffer.
//
// NICLink says what the ports of the NIC share. "shared": all of them are
// behind one channel of NICRate in each direction, so that what goes from the
// Arm to the host by way of the NIC crosses it twice. "wide": each has a channel
// of its own, without a limit if NICRate is zero. Which it is for which card is
// in the presets.
//
// Requests that no port claims are answered with UR if they are non-posted, and
// dropped and counted otherwise; completions that nobody waits for are dropped
// and counted (see route.Verdict).
//
// Not modelled: virtual channels other than VC0, arbitration by weight, access
// control services, multicast, hot plug.
//
// Invariants:
//   - Bytes in + bytes of answers made here = bytes out + held + dropped, at
//     every instant.
//   - A TLP is changed by nobody.
//   - The same traffic gives the same events; ties between inputs are decided by
//     the turn of the output.
//   - Nothing allocates in steady state.
package nicswitch
