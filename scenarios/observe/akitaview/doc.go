// Package akitaview opens a run to Akita's own tools: its monitor, a web page that shows the components of a live
// run, pauses and continues it, and its trace viewer Daisen, which reads the SQLite file that a run wrote.
//
// Both need packages that nothing else in nictwin uses (cgo, SQLite, a web server), so they exist only in a program
// built with the tag akitaview (`make build-akitaview`). In any other, Open returns an error that names the tag. This
// is the one folder that imports more of Akita than sim.
//
// The viewer shows a component from its first event or received message on.
//
// A trace has two tasks for every TLP and frame. One of kind "way" lasts from the port that sent it to the port that
// received it. Its child of kind "wait" lasts until the component takes it out of that port. Times are seconds in
// floating point, exact below 8,192 s.
//
// Invariants:
//   - A run that is watched has the same events, times and digest as any other.
//   - Akita's server listens on all addresses, but requests from other machines, or of pages of another origin, are
//     refused before they reach it.
//   - Akita's handlers look at components only while the run is stopped between two events.
package akitaview
