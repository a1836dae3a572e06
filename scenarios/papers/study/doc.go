// Package study has the parts of experiments: inputs with their sources,
// measurements, series with every point, byte ledgers, and rates with their
// precision.
//
// It knows no experiment, no claim's meaning and no model but time.
//
// Invariants:
//   - Every number that an experiment takes from outside is an Input of the
//     Session, so that the calibration sheet is complete and an input can be
//     replaced (leave one out) without touching the experiment.
//   - What is recorded keeps the order of recording; nothing depends on maps or
//     on the clock of the machine.
package study
