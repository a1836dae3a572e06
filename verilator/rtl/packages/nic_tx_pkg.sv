/// Types that the transmit blocks pass to one another: decoded entries, frames to gather, frames
/// with their offload results.

package nic_tx_pkg;
  import nic_pkg::AppendMax, nic_pkg::InlineMaxLong, nic_pkg::SegMax;

  // Longest inline data of an entry, in bits.
  localparam int InlW = 8 * InlineMaxLong;

  // Identity of a work entry (or of a queue's Event), kept until it ends.
  typedef struct packed {
    logic        is_event;
    logic        port;       // port whose lane the entry uses
    logic        no_port;    // the entry sends no frame and uses no port's lane
    logic [7:0]  qid;
    logic [15:0] index;
    logic [1:0]  more;       // blocks beyond the first
    logic [31:0] wqe_id;
    logic [7:0]  status;     // nic_pkg status code
    logic        complete;   // a completion entry is requested (f_complete)
  } tx_id_t;

  // Offloads requested for a frame; udp_csum and udp_zero are never both set.
  typedef struct packed {
    logic        ip_csum;
    logic        udp_csum;
    logic        udp_zero;
    logic        icrc;
    logic        crc;         // CRC-32C (f_crc32c)
    logic [1:0]  ecn;         // ecn_mode of the queue; 0: off
    logic [7:0]  l3;
    logic [7:0]  l4;
    logic [13:0] crc_off;    // larger offsets become 16,383, beyond the longest frame
    logic [13:0] crc_start;
  } tx_ofl_t;

  // A frame to send; len is the contract's L, 0 if no frame leaves. The last `app` bytes are
  // appended pad and ICRC. Until the pad count is known, app is 4 and len contains no appended
  // bytes.
  typedef struct packed {
    tx_id_t      id;
    tx_ofl_t     ofl;
    logic [2:0]  app;
    logic [13:0] len;
    logic [7:0]  inl_len;
  } tx_frame_t;

  // Copy work of an entry: copy bytes (move), invalidate cache lines (inval), or both. Field any is
  // low if the entry has none of this work.
  typedef struct packed {
    logic        any;
    logic        move;
    logic        inval;
    logic [24:0] len;        // length of each piece, bytes
  } tx_copy_t;

  // A checked entry for the copy engine, with bus addresses; an invalidated range begins at src.
  typedef struct packed {
    tx_id_t      id;
    logic        move;       // the entry copies bytes
    logic        inval;      // the entry invalidates cache lines
    logic [24:0] len;
    logic [63:0] src;
    logic [63:0] dst;
  } copy_job_t;

  // A checked entry. Inline bytes from inl_len on and pieces from nseg on are undefined.
  typedef struct packed {
    tx_frame_t         f;
    logic [3:0]               nseg;
    logic [SegMax-1:0][13:0]  seg_len;
    logic [SegMax-1:0][63:0]  seg_addr;   // bus addresses
    logic [InlW-1:0]          inl;
    tx_copy_t                 copy;
  } tx_ent_t;

  // A decoded entry before its keys are looked up; seg_addr holds virtual addresses.
  typedef struct packed {
    logic                     late_bad;   // status BadOffload if no key check fails
    logic [SegMax-1:0][15:0]  key_index;
    logic [SegMax-1:0][7:0]   key_variant;
    logic [SegMax-1:0]        key_read;   // right_read, right_write required for each piece
    logic [SegMax-1:0]        key_write;
    tx_ent_t                  e;
  } tx_dec_t;

  // Result of nic_offload_parse: which offloads to do, at which offsets and over which bytes.
  typedef struct packed {
    logic        bad;         // conditions violated: status BadOffload
    logic        icrc;
    logic        udp_csum;
    logic        udp_zero;
    logic        ip_csum;
    logic        crc;
    logic [13:0] crc_pos;     // offset of the CRC-32C; it covers bytes crc_from to crc_upto-1
    logic [13:0] crc_from;
    logic [13:0] crc_upto;
    logic [2:0]  crc_summed;  // number of bytes of the CRC-32C that the UDP sum covers
    logic        swap;        // the UDP header begins at an odd offset
    logic        odd_end;     // the UDP length is odd
    logic [13:0] last;        // end of the bytes that ICRC and UDP sum cover
    logic [6:0]  udp_pos;     // offset of the UDP checksum field
    logic [6:0]  ip_pos;      // offset of the IPv4 checksum field
    logic        ovl_lo;      // the IPv4 sum covers the first byte of the UDP checksum field
    logic        ovl_hi;      // the IPv4 sum covers the second byte of the UDP checksum field
    logic        ovl_swap;    // the UDP checksum field is at an odd offset in the IPv4 header
    logic [15:0] udp_base;    // sum of pseudo header and complement of the old field, folded
    // Folded sum of the IPv4 header without its checksum, and without the UDP checksum if the
    // device writes that and it lies in the header.
    logic [15:0] ip_base;
  } tx_par_t;

  // A frame in the output buffer, with the results to patch into it.
  typedef struct packed {
    tx_id_t      id;
    logic [13:0] len;
    logic        icrc;
    logic [13:0] icrc_pos;
    logic [31:0] icrc_val;
    logic        crc;
    logic [13:0] crc_pos;
    logic [31:0] crc_val;
    logic        udp;
    logic [6:0]  udp_pos;
    logic [15:0] udp_val;
    logic        ip;
    logic [6:0]  ip_pos;
    logic [15:0] ip_val;
  } tx_out_t;

  // Returns the 128-byte lines that a frame takes, with room for the longest pad and ICRC.
  function automatic logic [7:0] lines_of(input tx_frame_t f);
    logic unused_f;
    unused_f = ^f;
    lines_of = 8'((f.len + (f.app != 3'd0 ? 14'(AppendMax) : 14'd0) + 14'd127) >> 7);
  endfunction

  // LowBytes[n] masks the first n bytes of a line, n = 0..128.
  typedef logic [1023:0] line_mask_t[129];
  localparam line_mask_t LowBytes = low_bytes();

  function automatic line_mask_t low_bytes();
    for (int i = 0; i <= 128; i++) low_bytes[i] = ~({1024{1'b1}} << (8 * i));
  endfunction

  // Returns the line with its first n bytes replaced by those of inl.
  function automatic logic [1023:0] with_inline(input logic [1023:0] line, input logic [1023:0] inl,
                                                input logic [7:0] n);
    with_inline = (line & ~LowBytes[n]) | (inl & LowBytes[n]);
  endfunction

  // Places twelve bytes at byte n of a DW.
  function automatic logic [127:0] in_dw(input logic [95:0] d, input logic [1:0] n);
    unique case (n)
      2'd1:    in_dw = {24'd0, d, 8'd0};
      2'd2:    in_dw = {16'd0, d, 16'd0};
      2'd3:    in_dw = {8'd0, d, 24'd0};
      default: in_dw = {32'd0, d};
    endcase
  endfunction

  // Ones' complement sum of two 16-bit numbers.
  function automatic logic [15:0] add1c(input logic [15:0] a, input logic [15:0] b);
    logic [16:0] s;
    s = {1'b0, a} + {1'b0, b};
    add1c = s[15:0] + {15'b0, s[16]};
  endfunction

  // Ones' complement fold of a sum of up to 2^32 - 1.
  function automatic logic [15:0] fold(input logic [31:0] a);
    fold = add1c(a[31:16], a[15:0]);
  endfunction

endpackage
