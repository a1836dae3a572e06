// Package judge attaches the referee to a NIC and logs what crosses its boundary: the one place where a board meets
// the referee.
//
// A Log is the files of a run. It may cover several NICs, each under its own name: in the lines of events.jsonl, in
// the interfaces of frames.pcapng and in the text of findings. A run with one NIC need not name it.
//
// It plays nothing and decides nothing: the referee finds mismatches, and the caller draws the consequences.
package judge
