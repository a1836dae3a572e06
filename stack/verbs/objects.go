package verbs

import "fmt"

// Kind is a kind of object.
type Kind uint8

// Kinds of objects.
const (
	KindPD Kind = iota
	KindMR
	KindCQ
	KindQP
	KindAH
	KindSRQ
	kinds
)

var kindNames = [...]string{"PD", "MR", "CQ", "QP", "AH", "SRQ"}

func (k Kind) String() string { return name(kindNames[:], int(k), "Kind") }

// Object names an object of a device.
type Object struct {
	Kind   Kind
	Number uint32
}

func (o Object) String() string { return fmt.Sprintf("%v %d", o.Kind, o.Number) }

// Objects tracks the objects of a device: which numbers are in use, and which objects use others. An object in use
// cannot be destroyed (EBUSY), as with the use counts of Linux's verbs layer.
type Objects struct {
	limits [kinds]Numbers
	live   [kinds]map[uint32]*object
}

// Numbers is a range of object numbers: Count of them, starting at First.
type Numbers struct {
	First uint32
	Count int
}

// object records which objects an existing object uses, and how many use it.
type object struct {
	users int
	uses  []Object
}

// NewObjects returns a table without objects. A kind without an entry in `limits` has no numbers.
func NewObjects(limits map[Kind]Numbers) *Objects {
	o := &Objects{}
	for k := range o.live {
		o.limits[k] = limits[Kind(k)]
		o.live[k] = map[uint32]*object{}
	}
	return o
}

// Create creates an object with the lowest free number, and marks the objects that it depends on, `uses`, as in use.
func (o *Objects) Create(verb string, k Kind, uses ...Object) (uint32, error) {
	l := o.limits[k]
	for n := l.First; n < l.First+uint32(l.Count); n++ {
		if o.live[k][n] == nil {
			return n, o.Add(verb, Object{k, n}, uses...)
		}
	}
	return 0, Errorf(verb, ENOMEM, "all %d objects of kind %v are in use", l.Count, k)
}

// Add creates an object with a number that the caller chose, and marks the objects that it depends on, `uses`, as in
// use.
func (o *Objects) Add(verb string, x Object, uses ...Object) error {
	if o.live[x.Kind][x.Number] != nil {
		return Errorf(verb, EINVAL, "%v already exists", x)
	}
	for _, u := range uses {
		if o.live[u.Kind][u.Number] == nil {
			return Errorf(verb, EINVAL, "%v does not exist", u)
		}
	}
	for _, u := range uses {
		o.live[u.Kind][u.Number].users++
	}
	o.live[x.Kind][x.Number] = &object{uses: uses}
	return nil
}

// Has reports whether an object exists.
func (o *Objects) Has(x Object) bool { return o.live[x.Kind][x.Number] != nil }

// CanDestroy returns the error that Destroy would return.
func (o *Objects) CanDestroy(verb string, x Object) error {
	switch it := o.live[x.Kind][x.Number]; {
	case it == nil:
		return Errorf(verb, EINVAL, "%v does not exist", x)
	case it.users > 0:
		return Errorf(verb, EBUSY, "%v: %d objects still use it", x, it.users)
	}
	return nil
}

// Destroy destroys an object, unless other objects use it.
func (o *Objects) Destroy(verb string, x Object) error {
	if err := o.CanDestroy(verb, x); err != nil {
		return err
	}
	for _, u := range o.live[x.Kind][x.Number].uses {
		o.live[u.Kind][u.Number].users--
	}
	delete(o.live[x.Kind], x.Number)
	return nil
}
