// Package plot draws series as SVG: lines over a linear or logarithmic axis of numbers, and bars over names. It draws
// byte ledgers as tables, in which larger numbers have darker cells. It is small on purpose: axes with labels, a
// legend, no dependencies.
//
// Invariants: the same series gives the same bytes; every point is drawn, with its value in a title that viewers show;
// text is escaped.
package plot
