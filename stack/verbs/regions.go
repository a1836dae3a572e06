package verbs

// Regions holds the memory regions of a device, by key. A region has one key, which is both LKey and RKey.
//
// A key consists of an index and, in its lowest 8 bits, a count of the index's uses, so that an old key does not name
// the index's current region.
type Regions struct {
	all  []region
	free []uint32
	max  int
	used int
}

// region is an element of Regions: a memory region, or one that is free for reuse.
type region struct {
	MR
	live    bool
	invalid bool // the region's remote rights were revoked by Invalidate; the region is still registered
}

const keyVariant = 8 // bits of a key that count the uses of its index

// NewRegions returns an empty table of at most the given number of regions.
func NewRegions(most int) *Regions { return &Regions{max: most} }

// Register registers a region. Remote write and atomic rights need the local write right (ibv_reg_mr(3)).
func (r *Regions) Register(pd PD, addr, length uint64, a Access) (MR, error) {
	const verb = "reg_mr"
	switch {
	case a&^maxAccess != 0:
		return MR{}, Errorf(verb, EINVAL, "access %#x: want %#x at most", a, maxAccess)
	case a&(AccessRemoteWrite|AccessRemoteAtomic) != 0 && a&AccessLocalWrite == 0:
		return MR{}, Errorf(verb, EINVAL, "access %#x: REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE, too", a)
	case length == 0 || addr+length-1 < addr:
		return MR{}, Errorf(verb, EINVAL, "%#x B at %#x: want 1 B or more, and an end below 2^64", length, addr)
	case r.used == r.max:
		return MR{}, Errorf(verb, ENOMEM, "all %d regions are in use", r.max)
	}
	var i uint32
	if n := len(r.free); n > 0 {
		i, r.free = r.free[n-1], r.free[:n-1]
	} else {
		r.all = append(r.all, region{})
		i = uint32(len(r.all) - 1)
		r.all[i].LKey = (i + 1) << keyVariant // no key is 0
	}
	x := &r.all[i]
	key := x.LKey&^(1<<keyVariant-1) | (x.LKey+1)&(1<<keyVariant-1)
	*x = region{MR: MR{PD: pd, Addr: addr, Length: length, Access: a, LKey: key, RKey: key}, live: true}
	r.used++
	return x.MR, nil
}

// Deregister removes the region of a key.
func (r *Regions) Deregister(key uint32) (MR, error) {
	x := r.find(key)
	if x == nil {
		return MR{}, Errorf("dereg_mr", EINVAL, "key %#x: no such region", key)
	}
	x.live = false
	r.used--
	r.free = append(r.free, key>>keyVariant-1)
	return x.MR, nil
}

// Invalidate revokes the remote rights of a region, as SEND_WITH_INV and LOCAL_INV do. It returns false if the
// protection domain has no such region. In libibverbs these operations invalidate memory windows; here, without
// windows, they act on a region's RKey.
func (r *Regions) Invalidate(pd PD, key uint32) bool {
	x := r.find(key)
	if x == nil || x.PD != pd || x.invalid {
		return false
	}
	x.invalid = true
	return true
}

func (r *Regions) find(key uint32) *region {
	i := key>>keyVariant - 1
	if key>>keyVariant == 0 || int(i) >= len(r.all) || r.all[i].LKey != key || !r.all[i].live {
		return nil
	}
	return &r.all[i]
}

// Find returns the region of a key.
func (r *Regions) Find(key uint32) (MR, bool) {
	if x := r.find(key); x != nil {
		return x.MR, true
	}
	return MR{}, false
}

func (x *region) has(addr uint64, n uint64) bool {
	return addr >= x.Addr && n <= x.Length && addr-x.Addr <= x.Length-n
}

// Local reports whether a queue pair of a protection domain may use a piece of local memory. Pieces of 0 bytes are
// always allowed.
func (r *Regions) Local(pd PD, s *SGE, need Access) bool {
	if s.Length == 0 {
		return true
	}
	x := r.find(s.LKey)
	return x != nil && x.PD == pd && x.Access&need == need && x.has(s.Addr, uint64(s.Length))
}

// Remote reports whether a peer may access n bytes at an address with a key. 0 bytes are always allowed (IBTA C9-88,
// C9-96).
func (r *Regions) Remote(pd PD, key uint32, addr uint64, n uint64, need Access) bool {
	if n == 0 {
		return true
	}
	x := r.find(key)
	return x != nil && !x.invalid && x.PD == pd && x.Access&need == need && x.has(addr, n)
}
