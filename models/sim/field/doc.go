// Package field is how specs report what is wrong with them: by the path of a field, wherever the spec is nested.
//
// A spec's Validate returns one Error for each fault, joined. A spec that holds others moves their errors with Under.
// Who has other names for fields, such as the flags of a command line, gets the text with those from Spelled.
//
// It knows no spec, no file format and no flag.
package field
