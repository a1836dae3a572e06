// Package runner plays scenario files: a board, what stands in the slots of its
// NICs, the stack of each server, a workload of package apps, faults, and what
// must come of it.
//
// A file may have a sweep, and is then many cases. A case is played on an engine
// of its own, with a referee at every NIC of the contract. What the applications
// found, what was expected and did not come, what the referees found: each is a
// finding of the case.
//
// Stacks are known by an interface (Stack) and a kind. The runner puts together
// what they need from the board; it knows neither packets nor registers.
//
// Invariants:
//   - A case gives the same result (Played.Digest) whichever NIC of the contract
//     stands in the slots, and the same events with the same NIC.
//   - Every wait has a limit in simulated time, and an error that says what was
//     waited for.
//   - No silence is a pass: a case in which nothing arrived, or no NIC of the
//     contract was checked where there is one, does not pass.
package run
