// AXI4-Lite register block whose registers have side effects.
//
//   0x00 ID       read-only
//   0x04 STATUS   an event sets bits, writing 1 clears them; a bit that is set and cleared in one
//                 cycle stays set
//   0x08 EVENTS   read-only: events since it was read last; reading clears it
//   0x0C SCRATCH  read and written by bytes
//   0x10 MASK     read and written by bytes: bits of STATUS that raise IRQ
//
// Everything else, and writes to read-only registers, is answered with SLVERR. A read takes effect
// when ARVALID and ARREADY are high, a write when address and data have both been taken.

module axil_regs #(
    parameter int BUG = 0  // 0: none; 1, 2: seeded bugs, see docs/own-rtl.md
) (
    input  logic        ACLK,
    input  logic        ARESETn,

    input  logic [7:0]  AWADDR,
    input  logic        AWVALID,
    output logic        AWREADY,
    input  logic [31:0] WDATA,
    input  logic [3:0]  WSTRB,
    input  logic        WVALID,
    output logic        WREADY,
    output logic [1:0]  BRESP,
    output logic        BVALID,
    input  logic        BREADY,

    input  logic [7:0]  ARADDR,
    input  logic        ARVALID,
    output logic        ARREADY,
    output logic [31:0] RDATA,
    output logic [1:0]  RRESP,
    output logic        RVALID,
    input  logic        RREADY,

    input  logic [15:0] EVENT,        // bits to set
    input  logic        EVENT_VALID,
    output logic        IRQ
);

  localparam logic [1:0]  OKAY = 2'b00, SLVERR = 2'b10;
  localparam logic [31:0] ID   = 32'h4E54_0001;

  logic [15:0] Status, Mask;
  logic [31:0] Events, Scratch;

  assign IRQ = |(Status & Mask);

  // Write: address and data come in any order; the first one waits for the other.
  logic        HaveAddr, HaveData, Write;
  logic [7:0]  HeldAddr, WrAddr;
  logic [31:0] HeldData, WrData, WrBits;
  logic [3:0]  HeldStrb, WrStrb;

  assign AWREADY = !HaveAddr && !BVALID;
  assign WREADY  = !HaveData && !BVALID;
  assign WrAddr  = HaveAddr ? HeldAddr : AWADDR;
  assign WrData  = HaveData ? HeldData : WDATA;
  assign Write   = (HaveAddr || AWVALID && AWREADY) && (HaveData || WVALID && WREADY);

  // Bug 1: data that waited for their address use the strobes on the pins at that time.
  assign WrStrb  = HaveData && BUG != 1 ? HeldStrb : WSTRB;

  always_comb begin
    for (int i = 0; i < 4; i++) WrBits[8*i+:8] = {8{WrStrb[i]}};
  end

  always_ff @(posedge ACLK) begin
    if (!ARESETn) begin
      {HaveAddr, HaveData, BVALID} <= '0;
    end else begin
      if (BREADY) BVALID <= 1'b0;
      if (AWVALID && AWREADY) {HaveAddr, HeldAddr} <= {1'b1, AWADDR};
      if (WVALID && WREADY) {HaveData, HeldData, HeldStrb} <= {1'b1, WDATA, WSTRB};
      if (Write) begin
        {HaveAddr, HaveData} <= '0;
        BVALID <= 1'b1;
        BRESP  <= WrAddr inside {8'h04, 8'h0C, 8'h10} ? OKAY : SLVERR;
      end
    end
  end

  // Read channel: one read at a time.
  logic Read;

  assign ARREADY = !RVALID;
  assign Read    = ARVALID && ARREADY;

  always_ff @(posedge ACLK) begin
    if (!ARESETn) begin
      RVALID <= 1'b0;
    end else begin
      if (RREADY) RVALID <= 1'b0;
      if (Read) begin
        RVALID <= 1'b1;
        RRESP  <= OKAY;
        case (ARADDR)
          8'h00:   RDATA <= ID;
          8'h04:   RDATA <= 32'(Status);
          8'h08:   RDATA <= Events;
          8'h0C:   RDATA <= Scratch;
          8'h10:   RDATA <= 32'(Mask);
          default: {RDATA, RRESP} <= {32'h0, SLVERR};
        endcase
      end
    end
  end

  // Registers and their side effects.
  logic [15:0] Set, Clear;

  assign Set   = EVENT_VALID ? EVENT : '0;
  assign Clear = Write && WrAddr == 8'h04 ? WrData[15:0] & WrBits[15:0] : '0;

  always_ff @(posedge ACLK) begin
    if (!ARESETn) begin
      {Status, Mask, Events, Scratch} <= '0;
    end else begin
      Status <= Status & ~Clear | Set;
      if (Read && ARADDR == 8'h08) begin
        // Bug 2: the event of the cycle in which the counter is read is lost.
        Events <= BUG == 2 ? '0 : 32'(EVENT_VALID);
      end else begin
        Events <= Events + 32'(EVENT_VALID);
      end
      if (Write && WrAddr == 8'h0C) Scratch <= Scratch & ~WrBits | WrData & WrBits;
      if (Write && WrAddr == 8'h10) Mask <= Mask & ~WrBits[15:0] | WrData[15:0] & WrBits[15:0];
    end
  end

endmodule
