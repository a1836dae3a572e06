package ref

import (
	"reflect"
	"runtime"
)

// Call is a call into the reference.
type Call struct {
	What   string // Reference, or the method by which the function was given: On, Draw, Done, …
	Stream string // may be empty
	File   string // of the function
	Line   int
}

// Watch has f called before each call into the reference.
func (p *Player) Watch(f func(c Call)) { p.watch = f }

// enter announces a call of f into the reference.
func (p *Player) enter(what, stream string, f any) {
	if p.watch != nil {
		file, line := Place(f)
		p.watch(Call{what, stream, file, line})
	}
}

// Place returns where a function begins in the sources.
func Place(f any) (file string, line int) {
	pc := reflect.ValueOf(f).Pointer()
	if x := runtime.FuncForPC(pc); x != nil {
		return x.FileLine(pc)
	}
	return "", 0
}

// at gives a mistake in what a function returned the place of that function. It is deferred.
func at(f any) {
	r := recover()
	if m, ok := r.(*Mistake); ok && m.File == "" {
		m.File, m.Line = Place(f)
	}
	if r != nil {
		panic(r)
	}
}
