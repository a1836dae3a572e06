/// What the blocks of the emulation shell share: messages, frames and widths (docs/emulation.md).

package shell_pkg;
  // Bits of a cycle count, and of the index of a slot in its grant.
  localparam int CycleBits = 48;
  localparam int SlotBits  = 12;

  // Messages from the agent. Bytes follow the code, their number by code and stream.
  localparam logic [7:0] CmdStart = 8'h01;  // configuration of a run; clears everything
  localparam logic [7:0] CmdBeat  = 8'h02;  // a beat of an input stream
  localparam logic [7:0] CmdMasks = 8'h03;  // stall bits of all streams for the next grant
  localparam logic [7:0] CmdGrant = 8'h04;  // slots to run

  // Bytes ahead of a beat's payload: stream, flags, epoch, cycle.
  localparam int BeatHead = 9;
  // Flags of a beat: first or last of its transaction; the agent has more of this stream.
  localparam int BeatFirst = 0;
  localparam int BeatLast  = 1;
  localparam int BeatMore  = 2;
  // Flags of a grant: streams rest, as a reset is held; transactions of earlier epochs are dropped;
  // cycles are counted (not in the reset before cycle 0); the trace buffer is read, no slot runs.
  localparam int GrantRest  = 0;
  localparam int GrantDrop  = 1;
  localparam int GrantCount = 2;
  localparam int GrantTrace = 3;

  // Messages to the agent: below RepDone, the index of a transactor, with an event of two bytes and
  // perhaps a payload.
  localparam logic [7:0] RepDone  = 8'h80;  // the grant is over, all of its events have been sent
  localparam logic [7:0] RepIdent = 8'h81;  // version and build hash
  localparam logic [7:0] RepFault = 8'h82;  // a message was not understood
  // Flags of an event, above its slot: the output was valid; it was taken; a payload follows.
  localparam int EventValid   = 0;
  localparam int EventTaken   = 1;
  localparam int EventPayload = 2;
  localparam int EventFlags   = 4;

  localparam logic [7:0] Version = 8'h01;

  // Frames: start byte, kind, session, sequence number, acknowledgement, length (2), payload,
  // CRC-32C (4) of all but the start byte.
  localparam logic [7:0] FrameStart = 8'h9d;
  localparam int         FrameBytes = 256;  // longest payload
  typedef enum logic [1:0] {FrameData, FrameReset, FrameLost, FrameAck} frame_e;
  localparam int KindNack = 2;  // bit of the kind: send again from the acknowledged number on

  // Advances a CRC-32C by a byte.
  function automatic logic [31:0] crc32c(logic [31:0] crc, logic [7:0] data);
    logic [31:0] c;
    c = crc ^ {24'h0, data};
    for (int i = 0; i < 8; i++) c = (c >> 1) ^ (c[0] ? 32'h82f6_3b78 : 32'h0);
    return c;
  endfunction
endpackage
