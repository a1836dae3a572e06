package ref

import (
	"reflect"
	"runtime"
)

// Call describes a call into the reference.
type Call struct {
	What   string // "Reference", or the method that registered the function: On, Draw, Done, …
	Stream string // name of the stream; empty if the call concerns none
	File   string // position of the function
	Line   int
}

// Watch makes the player call f before every call into the reference.
func (p *Player) Watch(f func(c Call)) { p.watch = f }

// enter reports to the watcher that f, a function of the reference, is about to be called.
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

// at adds the position of f to a mistake found in f's results. It must be deferred.
func at(f any) {
	r := recover()
	if m, ok := r.(*Mistake); ok && m.File == "" {
		m.File, m.Line = Place(f)
	}
	if r != nil {
		panic(r)
	}
}
