// Package pcielink is a PCIe link between two TLP ports: bandwidth after the
// bytes that each TLP and the data link layer cost, latency, flow-control
// credits by class, and the ordering rules of the standard in each direction.
//
// Link is a sim.Connection between two simcore ports whose messages are
// msg.TLP. It never changes a TLP. models/fabric/nicswitch routes TLPs, their
// senders split them, and tlp.Monitor checks their fields. The link checks sizes
// only, against MPS, MRRS and RCB of its two ends.
//
// How a TLP crosses: it leaves the sender's port for the transmit buffer. It goes
// on the wire once there are credits of its class, and passes waiting TLPs where
// the ordering table allows it (models/format/tlp/order). After serialisation and
// latency it is in the far end's receive buffer, and moves on to the far port.
// When the far component retrieves it, its credits return, one latency later.
//
// A port is one FIFO. A component that cannot always take every class
// implements Selective: TLPs that it does not take wait in the receive buffer,
// where others may pass them by the ordering table. A component that is not
// Selective (root, NIC, decorators) receives all TLPs in order of arrival.
//
// A component that runs ahead of the engine (simcore.EarlyReceiver,
// EarlySender: RTL behind the bridge) cannot be at an end: it would have to
// know its credits by class. It needs a simcore.Link, whose OverheadBytes are the
// framing, to a switch that has links of this package on its other side. Connect
// returns an error that names the component.
//
// Not modelled: lost or corrupted TLPs and their replay, link training, power
// states, virtual channels other than VC0, ID-based ordering (kept as if the bit
// were 0). Acknowledgement and flow-control packets (DLLPs) cost bytes on the
// wire but no time of their own: they take bandwidth from the next TLP.
//
// Invariants:
//   - Bytes in = bytes out + bytes held, in each direction, at every instant.
//   - No TLP passes one that it must not pass; one that must be able to pass does.
//   - A credit is usable later than the instant at which it was returned.
//   - A refused sender is notified when it may try again.
//   - Nothing allocates in steady state.
//
// Defaults and their sources are in spec.go.
package pcielink
