// Package windows knows what the configuration was when something met it. A
// write takes effect within VisibleCycles of being accepted [G4]; in between,
// old and new are both legal [R6].
//
// Receive holds the configuration of receive: registers as models/nic/core
// lists them, the steering rules, PortCfg, the RSS key and the indirection
// table. Keys holds the memory keys that transmit looks at, Devctl what requests
// follow.
//
// Each step of [R2] to [R5] looks at a time of its own. What one write changes
// is therefore followed apart from all else, and a frame that came in meanwhile
// gets every verdict that some mixture of old and new leads to.
//
// It does not see crossings and reports nothing: it is given what was written
// when, and is asked about spans of cycles.
//
// References in brackets are rules of docs/nic.md.
package windows
