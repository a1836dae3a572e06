// Package chart draws curves and bars as SVG, by gonum's plot.
//
// A Chart has series, axes, and bands: values and ranges to compare with. The package knows neither papers nor runs.
// It adds what gonum does not do:
//   - at most six series in a panel, panels below each other with common axes, a legend beside each;
//   - curves that coincide are striped and their markers moved apart, and the legend says so;
//   - axes that show a difference of 20%, and no noise of 0.1% as if it were one;
//   - ticks on sizes (64 B, 4 KB) and on the points of a logarithmic axis.
//
// Invariants:
//   - Equal charts give equal bytes: there is no date, no random id and no map order in them.
//   - Text stays text. It has the width of the font Liberation Sans, which is compiled in, whatever font the reader's
//     machine draws it in.
package chart
