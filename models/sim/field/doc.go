// Package field holds the errors of specs: each names the path of a field, wherever the spec is nested.
//
// A spec's Validate returns one Error for each fault, joined. A spec that contains others puts their
// path in front of the paths of their errors with Under. A program with its own names for fields,
// such as the flags of a command line, gets the text with those names from Spelled.
//
// Within checks bounds, and writes values with the unit that the field's name gives.
//
// It knows no spec, no file format and no flag.
package field
