// Package hostbed runs stack/hostnet on the machines of a rack: it builds the rack, opens a node on each machine that
// has flows, with a referee at its NIC, and advances time until a condition holds. Every wait has a limit: when
// no flow advances for Config.Quiet, it ends with an error that names the machine and its timer.
package hostbed
