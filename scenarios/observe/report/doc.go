// Package report makes one self-contained HTML page of the artifacts of runs, and report.json for scripts.
//
// Everything on the page comes from summary.json and the files beside it; the package plays and judges nothing. The
// page needs no network and works from a file: the first findings are plain HTML, the others and the crossings around
// each of them are compressed in the page and drawn when they are opened.
//
// Invariants:
//   - The same artifacts give the same bytes.
//   - Names and texts of captures, devices and findings are data: html/template escapes each of them, and the page's
//     content security policy allows no script but its own.
//   - Only summaries of shards of one run are merged (result.SameRun).
package report
