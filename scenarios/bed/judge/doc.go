// Package judge attaches the referee to a NIC and logs what crosses its boundary. It is the only place that connects a
// board with the referee.
//
// A Log holds the files of a run. It may cover several NICs, each under its own name: in the lines of events.jsonl, in
// the interfaces of frames.pcapng and in the text of findings. A run with one NIC need not name it.
//
// The package neither plays nor decides: the referee finds mismatches, and the caller acts on them.
package judge
