// Package pcielink is a PCIe link between two TLP ports: bandwidth after the
// bytes that each TLP and the data link layer cost, latency, flow-control
// credits by class, and the ordering rules of the standard in each direction.
//
// Link is a sim.Connection between two simcore ports whose messages are
// msg.TLP. It never changes a TLP. Routing is for models/fabric/nicswitch, splitting
// for whoever makes TLPs; the rules of a TLP's fields are for tlp.Monitor. Only
// sizes are held to what the two ends were configured with: MPS, MRRS and RCB.
//
// How a TLP crosses: the sender's port gives it to the transmit buffer; it goes
// on the wire once there are credits of its class, passing those that wait if
// the table lets it (models/format/tlp/order); after serialisation and latency it is
// in the far end's receive buffer; from there it goes into the far port, and
// its credits return, one latency later, when the far component retrieves it.
//
// A port is one FIFO. A component that cannot always take every class
// implements Selective: what it does not take waits in the receive buffer,
// where others may pass it as the table says. A component that is not Selective
// (root, NIC, decorators) gets everything in order of arrival.
//
// A component that runs ahead of the engine (simcore.EarlyReceiver,
// EarlySender: RTL behind the bridge) cannot be at an end: it would have to
// know its credits by class. Its link is a simcore.Link, whose OverheadBytes are
// the framing; the switch stands between that and this one. Connect refuses it
// by name.
//
// Not modelled: lost or corrupted TLPs and their replay, link training, power
// states, virtual channels other than VC0, ID-based ordering (kept as if the bit
// were 0). Acknowledgement and flow-control packets (DLLPs) cost bytes on the
// wire but no time of their own: they take bandwidth from the next TLP.
//
// Invariants:
//   - Bytes in = bytes out + bytes held, in each direction, at every instant.
//   - No TLP passes one that it must not pass; what must be able to pass does.
//   - A returned credit is usable strictly later than it was returned.
//   - A refused sender is notified when it may try again.
//   - Nothing allocates in steady state.
//
// Defaults and their sources are in spec.go.
package pcielink
