// Package akitaview opens a run to Akita's own tools: its monitor, a web page
// that shows the components of a run that goes on, pauses and continues it, and
// its trace viewer Daisen, which reads what a run wrote to a SQLite file.
//
// Both need packages that nothing else of nictwin wants (cgo, SQLite, a web
// server), so they are there only in a program that is built with the tag
// akitaview (`make build-akitaview`). In any other, Open refuses by name. This is
// the one folder that imports more of Akita than sim.
//
// The viewer sees components as they handle their first event or get their first
// message: parts that do neither have nothing to show.
//
// What a trace has: a task of kind "way" for every TLP and frame from the port
// that sent it to the port that got it, and one of kind "wait", its child, until
// the component took it out of that port. Times are seconds as floating point
// numbers there, exact below 8,192 s.
//
// Invariants:
//   - A watched run has the same events, times and digest as any other.
//   - Nothing answers to another machine: Akita's server listens on all
//     addresses, and what does not come from this machine is refused before it
//     gets there. So is what a page of another origin asks for.
//   - Akita's handlers look at components only while the run stands between two
//     events.
package akitaview
