// Package reset has the checks of the function-level reset [L]: from any state, with any work under way, everything is
// as after power-up, and works. Sweeps move an event over another by one cycle at a time.
//
// Random resets are in isolation, with the rest of chaos.
//
// Invariants:
//   - After each reset the device is looked at, and used.
package reset
