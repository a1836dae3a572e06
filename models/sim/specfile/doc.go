// Package specfile reads specs from YAML, strictly: every field must be known,
// every value of its type, and no key twice. Errors name file and line, the
// path of the field, and what would be right.
//
// A mapping may begin from a preset: the key preset names it, and the other
// keys override its values, at any depth. The caller chooses which types have
// presets. A list replaces the whole list of the preset.
//
// Values with units: latency_ps is a whole number of picoseconds (the long
// form), and may be written latency: 20ns (the short form); likewise _bps,
// _mbps and _gbps. Lengths in bytes may be written 64KiB. Places lists the
// fields that a file writes in the long form.
//
// It reads no files, and knows no spec. Anchors, aliases, custom tags and more
// than one document are refused: a spec states every value in its place.
//
// Invariants:
//   - Any text gives a value or an error that names a line; nothing panics.
//   - Every error of a text is returned, in the order of its lines.
//   - Decoding the output of Marshal gives the same value.
package specfile
