package program

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/traffic/craft"
	"nictwin/stack/driver"
)

// Limits of a program: beyond what the generator uses, but small enough to be played.
const (
	maxOps     = 100_000
	maxWait    = 1_000_000 // longest wait in cycles
	maxList    = 4096      // frames or entries in an operation
	MaxFrame   = 16 << 10  // maximum length of a frame in bytes
	MaxCopied  = 2 << 20   // bytes of a copy's source that software fills
	MaxPlayed  = 32 << 10  // bytes of an arriving frame
	maxLenErr  = 60_000    // largest deviation of ip_len and udp_len from the right length
	maxRepeat  = 4096      // times that a TLP is sent
	maxCredits = 4096
)

// validator collects the faults of a program.
type validator struct {
	op   int    // the operation being checked, or -1
	kind string // kind of that operation
	errs []error
}

// at makes i the operation that further faults belong to.
func (v *validator) at(i int, o *Op) {
	v.op, v.kind = i, ""
	if given := o.given(); len(given) == 1 {
		v.kind = given[0]
	}
}

// kinds returns the names of all kinds of operations.
func kinds() (names []string) {
	t := reflect.TypeFor[Op]()
	for f := range t.NumField() {
		if t.Field(f).Type.Kind() == reflect.Pointer {
			names = append(names, kindOf(t.Field(f)))
		}
	}
	return names
}

func kindOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// given returns the kinds whose fields are set in an operation. In a valid operation that is exactly one.
func (o *Op) given() (list []string) {
	x := reflect.ValueOf(o).Elem()
	for f := range x.NumField() {
		if x.Field(f).Kind() == reflect.Pointer && !x.Field(f).IsNil() {
			list = append(list, kindOf(x.Type().Field(f)))
		}
	}
	return list
}

func (v *validator) is(ok bool, format string, a ...any) {
	if !ok {
		v.errs = append(v.errs, &Error{v.op, v.kind, fmt.Sprintf(format, a...)})
	}
}

func (v *validator) in(field string, x, lo, hi int) {
	v.is(x >= lo && x <= hi, "%s is %d: want %d to %d", field, x, lo, hi)
}

// offset checks that the address of a part of memory is above 4 GB, at the start of a page, and leaves enough space to
// the endpoint's end.
func (v *validator) offset(field string, at uint64) {
	v.is(at == 0 || at >= 1<<32 && at <= MemoryBytes-Room && at%tlp.PageBytes == 0,
		"%s is %#x: want 0 or a multiple of %d from %#x to %#x",
		field, at, tlp.PageBytes, uint64(1)<<32, uint64(MemoryBytes-Room))
}

// check checks that exactly one operation is given, and validates it.
func (v *validator) check(o *Op) {
	v.in("wait", o.Wait, 0, maxWait)
	for f := range reflect.ValueOf(*o).NumField() {
		if x := reflect.ValueOf(*o).Field(f); x.Kind() == reflect.Pointer && !x.IsNil() {
			if c, ok := x.Interface().(checked); ok {
				c.check(v)
			}
		}
	}
	given := o.given()
	v.is(len(given) > 0, "has no kind: want one of %s", strings.Join(kinds(), ", "))
	v.is(len(given) < 2, "has %d kinds, %s: want one", len(given), strings.Join(given, " and "))
}

// checked is implemented by operations that can be invalid.
type checked interface{ check(v *validator) }

// message checks that a queue's messages are written to an aligned DW.
func (v *validator) message(m *Msix) {
	if m != nil {
		v.place("msix.at", &m.At)
		v.is(m.At.Skew%4 == 0 && m.At.Page%4 == 0, "msix.at: want a multiple of 4")
	}
}

func (q *RxQueue) check(v *validator) {
	v.queue(q.Queue)
	v.in("log_size", q.LogSize, nicspec.LogSizeMin, nicspec.LogSizeMax)
	v.in("split", int(q.Split), 0, int(nicspec.SplitModeHeaders))
	v.in("trim", int(q.Trim), 0, 1)
	v.is(q.PayBytes > 0, "pay_bytes is 0: want more")
	v.is(q.HdrBytes > 0 || q.Split == nicspec.SplitModeNone, "hdr_bytes is 0: want more with split %v", q.Split)
	v.aligned("ring", &q.Ring)
	v.aligned("done", &q.Done)
	v.message(q.Msix)
}

func (q *TxQueue) check(v *validator) {
	v.queue(q.Queue)
	v.in("log_size", q.LogSize, nicspec.LogSizeMin, nicspec.LogSizeMax)
	v.aligned("ring", &q.Ring)
	v.aligned("done", &q.Done)
	v.message(q.Msix)
}

func (v *validator) queue(q int) { v.in("queue", q, 0, nicspec.RxqMax-1) }

func (v *validator) place(name string, p *Place) {
	v.in(name+".skew", p.Skew, 0, tlp.PageBytes-1)
	v.in(name+".page", p.Page, 0, tlp.PageBytes-1)
	v.is(!p.Host || !p.High, "%s: high is for Arm memory", name)
	v.is(p.Far&^p.FarBits() == 0, "%s.far is %#x: want bits of %#x", name, p.Far, p.FarBits())
}

func (v *validator) aligned(name string, p *Place) {
	v.place(name, p)
	v.is(p.Skew == 0 && p.Page%64 == 0, "%s: want a multiple of 64", name)
}

func (q *Queue) check(v *validator) { v.queue(q.Queue) }

func (d *Disable) check(v *validator) {
	d.Queue.check(v)
	v.in("late", d.Late, 0, nicspec.TableWords/2)
}

func (p *Post) check(v *validator) {
	v.queue(p.Queue)
	v.in("count", p.Count, 0, 1<<nicspec.LogSizeMax)
	v.place("hdr", &p.Hdr)
	v.place("pay", &p.Pay)
}

func (p *Play) check(v *validator) {
	v.in("port", p.Port, 0, 1)
	v.in("frames", len(p.Frames), 0, maxList)
	for i := range p.Frames {
		v.frame(&p.Frames[i], 1)
	}
}

func (v *validator) frame(f *Frame, least int) {
	if f.Len != 0 {
		v.in("len", f.Len, least, MaxPlayed)
	}
	v.in("flip", len(f.Flip), 0, maxList)
	v.in("words", len(f.Words), 0, 20)
	v.in("raw", len(f.Raw), 0, MaxFrame)
	v.in("tags", len(f.Tags), 0, 8)
	v.is(f.L3 == 0 || f.L3 == 4 || f.L3 == 6, "l3 is %d: want 0, 4 or 6", f.L3)
	v.is(f.Options >= 0 && f.Options <= craft.MaxOptions && f.Options%4 == 0,
		"options is %d: want a multiple of 4 up to %d", f.Options, craft.MaxOptions)
	v.in("ihl", f.IHL, 0, 15)
	v.in("ip_len", f.IPLen, -maxLenErr, maxLenErr)
	v.in("udp_len", f.UDPLen, -maxLenErr, maxLenErr)
	v.in("udp_sum", int(f.UDPSum), 0, int(craft.SumOnes))
	v.in("digest", int(f.Digest), 0, int(craft.SumWrong))
	v.in("data_off", f.DataOff, 0, 15)
	v.in("payload", f.Payload, 0, MaxPlayed)
	v.in("trailer", f.Trailer, 0, MaxPlayed)
	v.is(!f.Roce || f.Proto == craft.ProtoUDP && f.L3 != 0, "roce: want UDP over IP")
	for _, b := range f.Flip {
		v.in("flip", b, 0, 8*MaxFrame)
	}
	v.in("put", len(f.Put), 0, maxList)
	for _, p := range f.Put {
		v.in("put.at", p.At, 0, MaxFrame)
	}
}

func (s *Send) check(v *validator) {
	v.queue(s.Queue)
	v.in("times", s.Times, 0, maxTimes)
	v.in("entries", len(s.Entries), 0, maxList)
	for i := range s.Entries {
		e := &s.Entries[i]
		v.frame(&e.Frame, 0)
		v.in("noise", int(e.Noise), 0, int(NoiseAll))
		v.in("blocks", int(e.Blocks), 0, nicspec.WqeBlocksMax-1)
		v.in("inline", e.Inline, 0, e.Slots()*nicspec.WqeSlotBytes)
		v.in("pieces", len(e.Pieces), 0, e.Slots()-driver.InlineSlots(e.Inline))
		for k := range e.Pieces {
			p := &e.Pieces[k]
			v.in("key", p.Key, 0, 0xffff)
			v.is(p.Len <= nicspec.CopyMax, "len is %d: want at most %d", p.Len, nicspec.CopyMax)
			v.in("same", p.Same, 0, SharedBuffers)
			v.place("piece", &Place{Skew: p.Skew, Page: p.Page})
		}
		for _, p := range e.Patch {
			v.in("patch.at", p.At, 0, (1+int(e.Blocks))*nicspec.WqeBytes-1)
		}
	}
}

// Slots returns the number of slots of the entry [T14].
func (e *Entry) Slots() int { return nicspec.WqeSlots + int(e.Blocks)*nicspec.WqeMoreSlots }

func (w *Rewrite) check(v *validator) {
	v.in("same", w.Same, 1, SharedBuffers)
	v.place("place", &w.Place)
	v.in("off", w.Off, 0, SharedBytes)
	v.in("len", w.Len, 1, SharedBytes-w.Off)
}

func (b *Bell) check(v *validator) {
	v.queue(b.Queue.Queue)
	v.in("over", b.Over, 0, 1<<nicspec.LogSizeMax)
	v.is(b.Over == 0 || !b.Tx, "over: want a receive queue")
	v.in("delta", b.Delta, 1-1<<nicspec.LogSizeMax, 1<<nicspec.LogSizeMax)
}

func (k *Key) check(v *validator) {
	v.in("index", k.Index, 0, 0xffff)
	v.is(k.Room <= MemoryBytes, "room is %#x: want at most %#x", k.Room, uint64(MemoryBytes))
	v.place("place", &k.Place)
}

func (r *Rule) check(v *validator) {
	v.in("index", r.Index, 0, 0xffff)
	for _, m := range r.Match {
		f := SteerField(m.Field)
		v.is(f != nil && f.Width <= 64, "match %q: want a field of SteerKey of up to 64 bits", m.Field)
	}
}

// SteerField returns a field of SteerKey by name, or nil.
func SteerField(name string) *nicspec.FieldInfo {
	i := slices.IndexFunc(nicspec.SteerKeyInfo.Fields, func(f nicspec.FieldInfo) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &nicspec.SteerKeyInfo.Fields[i]
}

func (t *Table) check(v *validator) {
	v.in("op", int(t.Op), 0, 3)
	v.in("index", t.Index, 0, 0xffff)
	v.in("words", len(t.Words), 0, nicspec.TableWords)
}

func (w *Write) check(v *validator) {
	r := Register(w.Reg)
	v.is(r != nil, "reg %q: there is no such register", w.Reg)
	if r != nil {
		v.in("index", w.Index, 0, max(0, r.Count-1))
		v.is(!slices.Contains([]string{"RX_DOORBELL", "TX_DOORBELL", "TX_PUSH", "TBL_CMD"}, w.Reg),
			"reg %s: has operations of its own", w.Reg)
	}
}

// Register returns a register by name, or nil.
func Register(name string) *nicspec.RegInfo {
	for i := range nicspec.Registers {
		if nicspec.Registers[i].Name == name {
			return &nicspec.Registers[i]
		}
	}
	return nil
}

func (r *Read) check(v *validator) {
	n := 4
	if r.Wide {
		n = 8
	}
	v.is(int(r.Off)%n == 0 && r.Off < nicspec.BarBytes, "off is %#x: want a multiple of %d below %#x", r.Off, n,
		nicspec.BarBytes)
}

func (t *TLP) check(v *validator) {
	b, err := hex.DecodeString(t.Header)
	v.is(err == nil && len(b) == tlp.HeaderBytes, "header %q: want %d bytes in hexadecimal", t.Header, tlp.HeaderBytes)
	v.is(t.Data >= 0 && t.Data <= tlp.PageBytes && t.Data%tlp.DWBytes == 0, "data is %d: want a multiple of 4 up to %d",
		t.Data, tlp.PageBytes)
	v.in("count", t.Count, 0, maxRepeat)
}

// Kinds of reads that faults can affect.
const (
	OfRxRing = "rx_ring"
	OfTxRing = "tx_ring"
	OfMemory = "memory"
)

func (f *Fault) check(v *validator) {
	_, err := inject.ParseFault(f.Kind)
	v.is(err == nil, "kind: %v", err)
	v.is(slices.Contains([]string{OfRxRing, OfTxRing, OfMemory}, f.Of), "of %q: want %s, %s or %s", f.Of, OfRxRing,
		OfTxRing, OfMemory)
	v.queue(f.Queue)
	v.place("place", &f.Place)
	v.in("at", f.At, 0, 1<<nicspec.LogSizeMax)
	v.in("skip", f.Skip, 0, maxList)
	v.in("count", f.Count, 0, maxList)
	v.in("nth", f.Nth, 0, maxList)
	v.in("delay", f.Delay, 0, maxWait)
	v.in("gap", f.Gap, 0, maxWait)
}
