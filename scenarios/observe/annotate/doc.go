// Package annotate shows the findings of a run where a CI system shows a change: as GitHub's workflow commands and step
// summary, and as GitLab's code quality report.
//
// A finding is shown at the source file that is responsible for it, at the line of its module, or of the port if it
// is about a stream; paths are relative to the root of the sources.
//
// Everything that comes from captures, names and devices is escaped, so that no text of theirs is read as a command,
// as HTML or as a terminal's escape sequence.
//
// Limits: at most ten findings are written for GitHub, since it shows no more errors of a step.
package annotate
