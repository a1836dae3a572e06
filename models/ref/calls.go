package ref

import (
	"reflect"
	"runtime"
)

// Call is a call into the reference.
type Call struct {
	What   string // Reference, or the method that registered the function: On, Draw, Done, …
	Stream string // may be empty
	File   string // where the function begins
	Line   int
}

// Watch makes the player call f before each call into the reference.
func (p *Player) Watch(f func(c Call)) { p.watch = f }

// enter announces a call of f, a function of the reference.
func (p *Player) enter(what, stream string, f any) {
	if p.watch != nil {
		file, line := Place(f)
		p.watch(Call{what, stream, file, line})
	}
}

// Place returns the position of a function in the sources.
func Place(f any) (file string, line int) {
	pc := reflect.ValueOf(f).Pointer()
	if x := runtime.FuncForPC(pc); x != nil {
		return x.FileLine(pc)
	}
	return "", 0
}

// at adds the position of f to a mistake in its results. It must be deferred.
func at(f any) {
	r := recover()
	if m, ok := r.(*Mistake); ok && m.File == "" {
		m.File, m.Line = Place(f)
	}
	if r != nil {
		panic(r)
	}
}
