package field

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Path is the name of a field as a file of the spec writes it: stall, endpoint.tags,
// cards[0].ports.
type Path string

// Error is a fault of one field. Its text is the path, followed by the description of the fault.
type Error struct {
	Path Path

	format  string
	args    []any
	against []Path
}

// Errorf returns the fault of a field: its path is put before the text. Arguments of type Path name
// other fields. A text that begins with a colon follows the path directly. The verb %w works as in
// fmt.Errorf.
func Errorf(path Path, format string, args ...any) *Error {
	return &Error{Path: path, format: format, args: args}
}

func (e *Error) Error() string { return e.Spelled(func(p Path) string { return string(p) }) }

// Spelled returns the text with each path translated by name, for example to a flag of the command
// line.
func (e *Error) Spelled(name func(Path) string) string {
	args := make([]any, len(e.args))
	for i, a := range e.args {
		if p, ok := a.(Path); ok {
			a = name(p)
		}
		args[i] = a
	}
	text := fmt.Errorf(e.format, args...).Error()
	if !strings.HasPrefix(text, ":") {
		text = " " + text
	}
	return name(e.Path) + text
}

// Renamed returns the error with each path translated by the function `name`.
func (e *Error) Renamed(name func(Path) Path) *Error {
	m := &Error{Path: name(e.Path), format: e.format, args: make([]any, len(e.args))}
	for _, p := range e.against {
		m.against = append(m.against, name(p))
	}
	for i, a := range e.args {
		if p, ok := a.(Path); ok {
			a = name(p)
		}
		m.args[i] = a
	}
	return m
}

// Others returns the other fields that the fault concerns: those that the text names, and those of
// Against. If the field at Path was left at its default, the user must correct one of the others.
func (e *Error) Others() []Path {
	var all []Path
	for _, a := range e.args {
		if p, ok := a.(Path); ok {
			all = append(all, p)
		}
	}
	return append(all, e.against...)
}

// Against adds other fields to each fault in err: fields whose values conflict with that of the
// faulty field.
func Against(err error, others ...Path) error {
	for _, one := range Each(err) {
		if e, ok := one.(*Error); ok {
			e.against = append(e.against, others...)
		}
	}
	return err
}

// Unwrap returns the causes, if the error has any.
func (e *Error) Unwrap() []error {
	var causes []error
	for _, a := range e.args {
		if err, ok := a.(error); ok {
			causes = append(causes, err)
		}
	}
	return causes
}

// Under puts the path of a nested spec in front of the paths of its errors. An error that is not an
// Error becomes a fault of the nested spec as a whole.
func Under(at Path, err error) error {
	var moved []error
	for _, one := range Each(err) {
		if e, ok := one.(*Error); ok { // not errors.As: a wrapped Error would lose the text around it
			moved = append(moved, e.under(at))
		} else {
			moved = append(moved, Errorf(at, ": %w", one))
		}
	}
	return errors.Join(moved...)
}

func (e *Error) under(at Path) *Error { return e.Renamed(func(p Path) Path { return at + "." + p }) }

// joined is the type of errors made by errors.Join.
var joined = reflect.TypeOf(errors.Join(errors.New("")))

// Each splits an error of errors.Join into its parts.
func Each(err error) []error {
	switch {
	case err == nil:
		return nil
	case reflect.TypeOf(err) != joined:
		return []error{err}
	}
	var all []error
	for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
		all = append(all, Each(e)...)
	}
	return all
}

// Need returns an error if a builder was not given a part, or nil.
func Need(given bool, part string) error {
	if given {
		return nil
	}
	return errors.New("no " + part)
}
