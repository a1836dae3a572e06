/// Types shared by the blocks of the copy engine (contract section 17).

package nic_copy_pkg;

  localparam int Channels = nic_pkg::CopyChannels;
  localparam int Chw      = $clog2(Channels);
  // Entries that a channel holds at once.
  localparam int Jobs     = 16;
  localparam int Jw       = $clog2(Jobs);
  // Read requests that a channel may have in flight.
  localparam int Chunks   = 128;
  localparam int Cw       = $clog2(Chunks);
  // Lines of 128 bytes in a channel's buffer.
  localparam int Lines    = 256;
  localparam int Lw       = $clog2(Lines);
  // Longest read request, bytes. A request ends at a source address that is a multiple of this, or
  // at the end of the source.
  localparam int ChunkB   = 512;

  // A channel's read request.
  typedef struct packed {
    logic [63:0]   addr;
    logic [9:0]    len;
    logic [Cw-1:0] slot;
  } copy_rd_t;

  // An output step of a channel: a beat of a write, a message, or only the end of an entry.
  typedef struct packed {
    logic          data;     // a beat of a write: `bytes` bytes of buffer line `line`
    logic          msg;
    logic          start;    // first beat of a write of `len` bytes at `addr`
    logic          last;     // last beat of the TLP
    logic          done;     // the entry ends with this step
    logic [Lw-1:0] line;
    logic [7:0]    bytes;
    logic [9:0]    len;
    logic [18:0]   lines;    // 64-byte lines that the message invalidates
    logic [63:0]   addr;     // address of the write, or of the first line to invalidate
  } copy_step_t;

endpackage
