// Package specfile reads specs from YAML, strictly: every field must be known,
// every value of its type, and no key twice. Errors name file and line, the
// path of the field, and what would be right.
//
// A mapping may begin from a preset: the key preset names it, and the other
// keys are put over it, however deep. Which types have presets is the caller's
// to say. What a list is given replaces the whole list.
//
// It reads no files, and knows no spec. Anchors, aliases, tags of one's own and
// more than one document are refused: a spec says everything where it stands.
//
// Invariants:
//   - Any text gives a value or an error that names a line; nothing panics.
//   - Every error of a text is returned, in the order of its lines.
//   - What Marshal writes of a value is read back as that value.
package specfile
