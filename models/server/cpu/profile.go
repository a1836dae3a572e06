package cpu

import "nictwin/models/sim/simcore"

// Activity names what software spends time on.
type Activity uint8

// Activities. The zero value continues with the activity before; a step begins with that of its loop.
const (
	Same        Activity = iota
	Parse                // headers of received packets
	Build                // packets to send
	Element              // elements of pipes
	Touch                // ends of copies, timers
	Checksum             // CRCs in software
	Queues               // rings, doorbells and completion entries of the NIC
	Control              // control verbs and system calls
	Post                 // requests that the library posts
	Take                 // completions that the library takes
	Handlers             // of an offload engine
	Application          // the application's own work
	Poll                 // steps that find nothing
	Unnamed
	NumActivities
)

var activityNames = [NumActivities]string{"", "parse", "build", "element", "touch", "checksum", "queues", "control",
	"post", "take", "handlers", "application", "poll", "other"}

func (a Activity) String() string { return activityNames[a] }

// profile attributes the time of a core to activities.
type profile struct {
	now   Activity   // activity to which time counts now
	since simcore.Ps // time from which on it counts
	parts [NumActivities]simcore.Ps
	total [NumActivities]simcore.Ps // of records that have ended
}

// Profile makes the core attribute its time to activities, from the next record of operations on.
func (c *Core) Profile() {
	if c.profile == nil {
		c.profile = new(profile)
	}
}

// TimeIn returns the time that records of operations which have ended spent on an activity since Profile. All
// activities except Poll add up to what Stats.Busy grew by.
func (c *Core) TimeIn(a Activity) simcore.Ps {
	if c.profile == nil {
		return 0
	}
	return c.profile.total[a]
}

// ComputeAs makes the core spend a number of cycles on an activity, to which its later work counts, too.
func (c *Core) ComputeAs(a Activity, cycles int64) {
	c.beginRecord()
	c.ops.Push(op{kind: opSpend, as: a, time: simcore.Ps(cycles) * c.spec.Period})
}

// begin begins a record.
func (p *profile) begin(a Activity, at simcore.Ps) {
	if p == nil {
		return
	}
	if a == Same {
		a = Unnamed
	}
	p.now, p.since, p.parts = a, at, [NumActivities]simcore.Ps{}
}

// turn changes the activity in the middle of a record of operations.
func (p *profile) turn(a Activity, at simcore.Ps) {
	if p == nil || a == Same || a == p.now || p.now == Same {
		return
	}
	p.parts[p.now] += at - p.since
	p.now, p.since = a, at
}

// end ends a record. A step that found nothing is a poll, whatever it did.
func (p *profile) end(at simcore.Ps, busy bool) {
	if p == nil || p.now == Same { // the record began before method Profile was called
		return
	}
	p.parts[p.now] += at - p.since
	for a, t := range p.parts {
		if !busy {
			a = int(Poll)
		}
		p.total[a] += t
	}
	p.now = Same
}
