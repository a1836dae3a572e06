// Package simcore is the time base of every model: integer picoseconds, a
// deterministic event engine, and the port and link through which components
// talk. All of it implements Akita's sim interfaces, so a component written
// for simcore also runs on Akita's SerialEngine, and Akita's components run on
// Engine.
//
// It is not a component library and knows no message format, no protocol and
// no topology beyond a link between two ports.
//
// Invariants:
//   - Time is Ps. Float seconds appear only where Akita's interfaces demand
//     them, and convert without loss up to 8,192 s.
//   - Events run in the order (time, primaries before secondaries, order of
//     scheduling). Nothing else ever decides a tie.
//   - A link's results depend on times only, never on the order of events
//     within one instant: messages are delivered by secondary events, and a
//     returned credit can be used strictly later than it was returned.
//   - A refused sender is always notified (NotifyPortFree) once it may try again.
//   - Scheduling, sending, delivering and retrieving allocate nothing.
//   - One simulation belongs to one goroutine; only Pause and Continue may be
//     called from another.
package simcore
