// Package study has the building blocks of experiments: inputs with their sources, measurements, series with every
// point, byte ledgers, and rates with their precision.
//
// It knows no experiment, no claim's meaning, and no model except simulated time.
//
// Invariants:
//   - Every number that an experiment takes from outside is an Input of the Session, so that the calibration sheet is
//     complete and an input can be replaced (leave one out) without changing the experiment.
//   - Records keep the order in which they were made; nothing depends on map order or on wall time.
package study
