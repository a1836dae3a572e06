// Package hardware configures the NICs of stacks of kind rnic beyond what verbs can: the congestion control of their
// queue pairs, their credits, and HostCC. The algorithms are those of stack/cc, which the software stack uses, too; the
// NIC (models/rnic) knows only when to ask them.
package hardware
