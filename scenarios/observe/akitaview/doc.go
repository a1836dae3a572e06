// Package akitaview opens a run to Akita's own tools: its monitor, a web page that shows the components of a live
// run, pauses and continues it, and its trace viewer Daisen, which reads what a run wrote to a SQLite file.
//
// Both need packages that nothing else in nictwin uses (cgo, SQLite, a web server), so they exist only in a program
// built with the tag akitaview (`make build-akitaview`). In any other, Open returns an error that names the tag. This
// is the one folder that imports more of Akita than sim.
//
// The viewer sees components when they handle their first event or receive their first message: components that do
// neither have nothing to show.
//
// A trace has a task of kind "way" for every TLP and frame from the port that sent it to the port that received it,
// and one of kind "wait", its child, until the component took it out of that port. Its times are seconds in floating
// point, exact below 8,192 s.
//
// Invariants:
//   - A watched run has the same events, times and digest as any other.
//   - Nothing answers to another machine: Akita's server listens on all addresses, but requests from elsewhere are
//     refused before they reach it. So are requests of a page of another origin.
//   - Akita's handlers look at components only while the run is stopped between two events.
package akitaview
