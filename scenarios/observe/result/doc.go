// Package result defines what commands report about a run: findings, in fields and in words.
//
// It also defines how a command ends (Outcome), the JSON object and the folder of artifacts.
//
// It judges nothing and runs nothing. Whoever finds a fault makes the finding: mismatches of the referee and breaches
// seen by the driver are converted here; other packages give their errors a method Finding.
//
// Invariants:
//   - docs/schema has exactly the fields that are written; a test checks it.
//   - A finding's text is complete: people need no other field.
package result
