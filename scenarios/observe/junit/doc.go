// Package junit writes the JUnit XML of a run (junit.xml), which CI systems show beside a change.
//
// A run is one test suite. Its cases are what the run tells apart: the scenarios of `run`, the captures of `replay`,
// the programs of `fuzz` that failed; everything that belongs to none of them is in a case with
// the command's name, which every suite has. A mismatch is a failure, and a run that could not be judged an error.
//
// The file exists from the beginning of a run, with an error "did not finish" that the end of the run replaces, so
// that a run which is killed counts as broken and never as absent.
//
// Limits: text is cut at maxText bytes a finding, maxFindings findings a case. Characters that XML 1.0 does not allow
// are replaced. There is no time stamp: equal runs write equal files but for the durations.
package junit
