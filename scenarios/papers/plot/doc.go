// Package plot draws series as SVG: lines over a number, linear or by powers of
// ten, and bars over names; and byte ledgers as tables whose cells are the darker
// the more. It is small on purpose: axes with labels, a legend, no dependencies.
//
// Invariants: the same series gives the same bytes; every point is drawn, with
// its value in a title that viewers show; text is escaped.
package plot
