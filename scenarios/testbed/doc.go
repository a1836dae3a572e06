// Package board puts a simulated board together: a NIC (the Go model, or RTL behind the bridge), a root complex over both
// memories on its PCIe port, what faults and back-pressure a spec wants between them, a driver that speaks through the root, and a player on its Ethernet port, joined by links.
//
// It knows how things are connected, not what they are used for: replays and measurements load the driver and the
// player with their own work.
//
// Simulated time has bounds: simcore.Engine gives up after 2^24 events at one instant; while work is left, who runs the board
// holds how long nothing may happen (2 ms in a replay, 400,000 cycles a wait in a program); once all is done, device and
// board have 1,000,000 cycles to come to rest, then the run ends with a rtlbridge.RestlessError or a RunawayError, which name
// cycle and component.
//
// Invariants:
//   - What stands on the NIC's side of the links is the only difference between boards of the same spec.
//   - The same spec and work give the same events, whatever the quantum and mode of the bridge.
package testbed
