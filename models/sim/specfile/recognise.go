package specfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"nictwin/models/sim/quantity"
)

// Recognise returns an error unless a document is a mapping, and at least half of its keys are
// fields of type t or among the further names in `others`. Another kind of file may hold secrets, so the error quotes
// nothing of it.
func Recognise(root *yaml.Node, t reflect.Type, others ...string) error {
	switch root.Kind {
	case yaml.ScalarNode:
		return fmt.Errorf("a single value: want a mapping of fields: %s", known(t))
	case yaml.SequenceNode:
		return fmt.Errorf("a list: want a mapping of fields: %s", known(t))
	case yaml.MappingNode:
	default:
		return fmt.Errorf("want a mapping of fields: %s", known(t))
	}
	fields, all, ours := append(others, Keys(t)...), 0, 0
	for i := 0; i < len(root.Content); i += 2 {
		key := root.Content[i]
		if key.ShortTag() == "!!merge" {
			continue
		}
		all++
		if key.Kind == yaml.ScalarNode && slices.Contains(fields, key.Value) {
			ours++
		}
	}
	if 2*ours < all {
		return fmt.Errorf("another kind of file: %d of its %d fields are known: want some of %s", ours, all, known(t))
	}
	return nil
}

// quoted matches the parts of the YAML package's errors that quote the file: the name of an anchor,
// a value.
var quoted = regexp.MustCompile("(anchor) '.*'|(cannot decode [!a-z]*) `.*`")

// Syntax returns the line of a YAML syntax error, 0 if the error has none, and its text without the
// parts that quote the file.
func Syntax(err error) (line int, text string) {
	text = strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		digits, after, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(digits); err == nil {
			line, text = n, after
		}
	}
	return line, quoted.ReplaceAllString(text, "$1$2")
}

// syntaxError returns a YAML syntax error as an Error of the file, made by Syntax.
func syntaxError(file string, err error) *Error {
	line, text := Syntax(err)
	return &Error{File: file, Line: max(line, 1), Err: errors.New(text)}
}

// aCharacter matches the beginning of a JSON syntax error that quotes a character of the text.
var aCharacter = regexp.MustCompile(`^invalid character '.+?' `)

// JSONSyntax describes a JSON syntax error: its line, and what was expected there, without the
// parts that quote the text. ok is false for other kinds of error.
func JSONSyntax(err error, text []byte) (what string, ok bool) {
	var form *json.SyntaxError
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return "it is empty: want an object", true
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends before the object does", true
	case !errors.As(err, &form):
		return "", false
	case form.Offset >= int64(len(text)) && strings.HasPrefix(form.Error(), "unexpected end"):
		return "it ends before the object does", true
	}
	line := 1 + bytes.Count(text[:min(form.Offset, int64(len(text)))], []byte("\n"))
	return fmt.Sprintf("line %d: %s", line, aCharacter.ReplaceAllString(form.Error(), "invalid character ")), true
}

// RecogniseJSON is Recognise for a JSON object. A text that is not an object passes: the caller
// must reject it.
func RecogniseJSON(text []byte, fields ...string) error {
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) != nil {
		return nil
	}
	ours := 0
	for name := range object {
		if slices.Contains(fields, name) {
			ours++
		}
	}
	if 2*ours < len(object) {
		return fmt.Errorf("another kind of file: %d of its %d fields are known: want some of %s", ours, len(object),
			strings.Join(fields, ", "))
	}
	return nil
}

// Shown quotes a text of a file for an error, and cuts it if it is long.
func Shown(text string) string { return quantity.Shown(text) }
