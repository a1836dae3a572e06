// Package flexins holds the tests of the FlexiNS stack on whole boards: two servers with a card each, the stack on Arm
// and host cores, Go NIC or RTL NIC, and the referee at both. What a package of the stack does by itself is tested
// there.
//
// The tests cover operations of every kind, allocation in steady state, congestion control on the wire, low-latency
// queue pairs, offload engines and the verbs interface.
package flexins
