// Package testbed puts one NIC on a card and connects everything that a scenario needs to work with it.
//
// A Bed is a card of models/board with a device of scenarios/bed/device in its slot (the Go NIC, or RTL behind the
// bridge), a traffic.Player on each Ethernet port, and the driver, which reaches the NIC through the card's root
// complex. A Spec says which back-pressure and faults are inserted, and how long the links are.
//
// It connects things and does not use them: replays, random programs and measurements give the driver and the players
// their work.
//
// A run always ends. simcore.Engine gives up after 2^24 events at one instant. While there is work, the scenario limits
// how long nothing may happen (2 ms in a replay, 400,000 cycles for each wait of a program). Once the work is done,
// device and card have 1,000,000 cycles to become idle; then the run ends with a rtlbridge.RestlessError or a
// RunawayError, which name cycle and component.
//
// Invariants:
//   - The NIC in the slot is the only difference between beds of the same spec.
//   - The same spec and work give the same events, whatever the quantum and mode of the bridge.
package testbed
