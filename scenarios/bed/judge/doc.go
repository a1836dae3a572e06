// Package judge attaches the referee to a NIC, and writes down what crosses it: the one place where a board meets the
// referee.
//
// A Log is the files of a run. It may take several NICs, each under a name of its own: in the lines of events.jsonl,
// in the interfaces of frames.pcapng and in the text of findings. A run with one NIC need not name it.
//
// It plays nothing and decides nothing: what is wrong the referee says, and what follows from that the caller.
package judge
