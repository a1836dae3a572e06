// Package result is what commands tell scripts of a run: findings, in fields and in words.
//
// It also has how a command ends (Outcome), the JSON object and the folder of artifacts.
//
// It judges nothing and runs nothing. Whoever found something makes the finding: the referee's mismatches and the
// driver's breaches are translated here, other packages give their errors a method Finding.
//
// Invariants:
//   - docs/schema has every field that is written, and no other; a test holds it.
//   - A finding's text is whole by itself: people need no other field.
package result
