// Package flexins holds the tests of the FlexiNS stack on whole boards: two servers with a card each, the stack on Arm
// and host cores, Go NIC or RTL NIC, and a referee at each NIC. Tests of single packages of the stack are in these
// packages.
//
// The tests cover operations of every kind, allocation in steady state, congestion control on the wire, low-latency
// queue pairs, offload engines and the verbs interface.
package flexins
