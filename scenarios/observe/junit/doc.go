// Package junit writes the JUnit XML of a run (junit.xml), which CI systems show beside a change.
//
// A run is one test suite. It has a case for each scenario of `run`, each capture of `replay` and each program of
// `fuzz` that failed, and a case with the command's name for everything else. A mismatch is a failure; a run without a
// verdict is an error.
//
// The file exists from the beginning of a run, with an error "did not finish" that the end of the run replaces, so
// that a run which is killed counts as broken and never as absent.
//
// Limits: text is cut at maxText bytes a finding, maxFindings findings a case. Characters that XML 1.0 does not allow
// are replaced. There is no time stamp: equal runs write equal files but for the durations.
package junit
