// Package background plays the frames of captures into Ethernet ports of NICs beside the traffic of a scenario's
// stacks: other programs' packets that reach the same port.
//
// The frames enter the cable in front of the port (inject.Insert), behind all faults of the cable, and share its rate
// with the live traffic. The NIC cannot tell them apart, and its referee judges them like any others.
//
// Captures begin and end at given times, counted from the begin of the traffic, and keep no run alive: they stop when
// the traffic ends. They are read once before anything is played, so that a damaged one is an error of its field.
package background
