package kit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
)

// TestRecordsAreTheirLayouts checks that every kind of field is where its layout says, under its name.
func TestRecordsAreTheirLayouts(t *testing.T) {
	type inner struct {
		Len uint16
		_   uint8
		Mac [2]uint8
	}
	type outer struct {
		WqeId uint32
		Why   nicspec.Status
		_     [3]uint8
		L3Off [2]uint8
		Words [2]uint16
		Parts [2]inner
		Desc  [nicspec.RxDescSize]uint8 `entry:"RxDesc"`
		Last  inner
	}
	v := outer{
		WqeId: 7, Why: nicspec.StatusBadKey, L3Off: [2]uint8{1, 2}, Words: [2]uint16{3, 4},
		Desc:  [nicspec.RxDescSize]uint8{5, 8: 6},
		Parts: [2]inner{{Len: 8, Mac: [2]uint8{9, 1}}, {Len: 0x102}}, Last: inner{Mac: [2]uint8{2, 3}},
	}
	l := NewRecord[outer]()
	require.Equal(t, "{wqe_id=7 why=BadKey (4) l3_off=0102 words_0=3 words_1=4 len_0=8 mac_0=0901 len_1=258 (0x102) "+
		"hdr_addr=5 pay_addr=6 mac=0203}", l.Text(Encode(v)))
	require.Equal(t, v, Decode[outer](Encode(v)))
	require.Panics(t, func() { Decode[outer](Encode(v)[1:]) })
	require.Panics(t, func() {
		NewRecord[struct {
			Desc [nicspec.RxDescSize]uint8 `entry:"None"`
		}]()
	})
	require.Panics(t, func() {
		NewRecord[struct {
			Desc [nicspec.RxDescSize - 1]uint8 `entry:"RxDesc"`
		}]()
	})
}
