// Package windows tracks under which configuration a frame or request may have been processed. A write takes
// effect within VisibleCycles of being accepted [G4]; in between, both the old and the new value are legal
// [R6].
//
// Receive holds the configuration of receive: registers as models/nic/core lists them, the steering
// rules, PortCfg, the RSS key and the indirection table. Keys holds the memory keys that transmit
// uses, Devctl the settings that requests follow.
//
// Each step of [R2] to [R5] looks at the configuration at its own time. Therefore the effect of
// each write is tracked separately, and a frame that came in meanwhile gets every verdict that some
// mixture of old and new leads to.
//
// The package does not see crossings and reports nothing: the caller says what was written when,
// and asks about spans of cycles.
//
// References in brackets are rules of docs/nic.md.
package windows
