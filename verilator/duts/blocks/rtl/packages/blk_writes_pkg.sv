/// Results that consist of a block's write TLPs, beat by beat, and one last beat with other
/// results. Byte 0 of a packet is in the low bits.

package blk_writes_pkg;
  import nic_int_pkg::*;

  typedef struct packed {
    logic [79:0]       rsvd;
    logic [7:0]        entry;    // 1: the TLP is a completion entry
    logic [7:0]        last;     // 1: last beat of the TLP
    logic [31:0]       keep;     // tkeep: valid DWs
    logic [127:0]      hdr;
    logic [TlpW-1:0]   data;
  } write_beat_t;

  function automatic write_beat_t write_beat(input tlp_beat_t b);
    write_beat = '{rsvd: '0, entry: 8'(b.entry), last: 8'(b.last), keep: b.keep, hdr: b.hdr,
                   data: b.data};
  endfunction

  // Returns the last beat of a packet of results; it carries `told`, the results other than write
  // TLPs.
  function automatic write_beat_t write_end(input logic [TlpW-1:0] told);
    write_end = '{data: told, default: '0};
  endfunction
endpackage
