// Package reset has the checks of the function-level reset [L]: from any state, with any work in flight, everything
// must be as after power-up, and the device must work again. Sweeps repeat a check with one event moved past another by
// a cycle each time.
//
// Resets inside random programs are tested by package isolation.
//
// Invariants:
//   - After each reset, the registers are compared and the device is used.
package reset
