// Package arrivals holds the frames that came in on a port and whose fate is not
// known yet, in the order in which they came, and how full the receive buffer can
// be because of them [R3]. It knows where the fate of each is decided, which of
// them are to be dropped, which were dropped for reasons that are not certain, and
// which may still be in the buffer though they were.
//
// It does not see crossings, decides nothing and reports nothing: who judges
// receive tells it what became of a frame. In steady state it allocates nothing.
//
// Invariants:
//   - Port.Undecided has the frames from ordinal Base on, nil for those whose fate
//     is known, and begins with one that is not.
//   - Port.Level is at least what the device's buffer holds.
//
// References in brackets are rules of docs/nic.md.
package arrivals
