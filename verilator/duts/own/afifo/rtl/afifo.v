// FIFO between two clocks that stores whole frames. A frame that finds no room is dropped as a
// whole: the write pointer returns to where the frame began. The write side never stalls.
//
// The reader sees frames once they are complete. Its view of the write pointer walks towards the
// end of the last complete frame by one place a cycle, so that one bit of its Gray code changes.

module afifo #(
    parameter DATA_WIDTH = 64,
    parameter ADDR_WIDTH = 6,   // 2**ADDR_WIDTH beats
    parameter BUG        = 0    // 0: none; 1, 2: seeded bugs, see docs/own-rtl.md
) (
    input  wire                    s_axis_aclk,
    input  wire                    s_axis_aresetn,
    input  wire [DATA_WIDTH-1:0]   s_axis_tdata,
    input  wire [DATA_WIDTH/8-1:0] s_axis_tkeep,
    input  wire                    s_axis_tlast,
    input  wire                    s_axis_tvalid,
    output reg  [31:0]             s_drop_count,

    input  wire                    m_axis_aclk,
    input  wire                    m_axis_aresetn,
    output wire [DATA_WIDTH-1:0]   m_axis_tdata,
    output wire [DATA_WIDTH/8-1:0] m_axis_tkeep,
    output wire                    m_axis_tlast,
    output reg                     m_axis_tvalid,
    input  wire                    m_axis_tready
);

    localparam PTR  = ADDR_WIDTH + 1;  // pointers have one bit more than addresses
    localparam WORD = DATA_WIDTH + DATA_WIDTH/8 + 1;

    localparam [PTR-1:0] DEPTH = {1'b1, {ADDR_WIDTH{1'b0}}};
    // Bug 1: it takes one beat more than it has places.
    localparam [PTR-1:0] LIMIT = BUG == 1 ? DEPTH + 1'b1 : DEPTH;

    reg [WORD-1:0] mem [0:(1<<ADDR_WIDTH)-1];

    function [PTR-1:0] to_binary(input [PTR-1:0] gray);
        integer i;
        begin
            to_binary[PTR-1] = gray[PTR-1];
            for (i = PTR-2; i >= 0; i = i - 1) to_binary[i] = to_binary[i+1] ^ gray[i];
        end
    endfunction

    // Write side.
    reg  [PTR-1:0] wr_ptr;     // next place to write
    reg  [PTR-1:0] wr_start;   // first place of the frame that is being written
    reg  [PTR-1:0] wr_shown;   // what the reader may see
    reg  [PTR-1:0] wr_gray;
    reg            dropping;   // the rest of this frame is not stored
    reg  [PTR-1:0] rd_gray_w1, rd_gray_w2;

    wire [PTR-1:0] wr_level = wr_ptr - to_binary(rd_gray_w2);
    wire           full     = wr_level >= LIMIT;
    wire           lost     = dropping || full;
    wire           store    = s_axis_tvalid && !lost;
    // Bug 2: the beat that finds no room is noticed one beat later, so never if it is the last one.
    wire           spoilt   = BUG == 2 ? dropping : lost;
    wire [PTR-1:0] wr_next  = wr_ptr + {{ADDR_WIDTH{1'b0}}, store};
    wire [PTR-1:0] wr_step  = wr_shown + {{ADDR_WIDTH{1'b0}}, wr_shown != wr_start};

    always @(posedge s_axis_aclk) begin
        if (store) mem[wr_ptr[ADDR_WIDTH-1:0]] <= {s_axis_tlast, s_axis_tkeep, s_axis_tdata};
    end

    always @(posedge s_axis_aclk) begin
        if (!s_axis_aresetn) begin
            wr_ptr       <= {PTR{1'b0}};
            wr_start     <= {PTR{1'b0}};
            wr_shown     <= {PTR{1'b0}};
            wr_gray      <= {PTR{1'b0}};
            rd_gray_w1   <= {PTR{1'b0}};
            rd_gray_w2   <= {PTR{1'b0}};
            dropping     <= 1'b0;
            s_drop_count <= 32'd0;
        end else begin
            rd_gray_w1 <= rd_gray;
            rd_gray_w2 <= rd_gray_w1;
            wr_shown   <= wr_step;
            wr_gray    <= wr_step ^ (wr_step >> 1);
            if (s_axis_tvalid) begin
                wr_ptr   <= wr_next;
                dropping <= lost;
                if (s_axis_tlast) begin
                    dropping <= 1'b0;
                    if (spoilt) begin
                        wr_ptr       <= wr_start;
                        s_drop_count <= s_drop_count + 32'd1;
                    end else begin
                        wr_start <= wr_next;
                    end
                end
            end
        end
    end

    // Read side: the output register is filled from memory.
    reg  [PTR-1:0] rd_ptr, rd_gray;
    reg  [PTR-1:0] wr_gray_r1, wr_gray_r2;
    reg [WORD-1:0] out;

    wire           fetch   = rd_ptr != to_binary(wr_gray_r2) && (!m_axis_tvalid || m_axis_tready);
    wire [PTR-1:0] rd_next = rd_ptr + {{ADDR_WIDTH{1'b0}}, fetch};

    assign {m_axis_tlast, m_axis_tkeep, m_axis_tdata} = out;

    always @(posedge m_axis_aclk) begin
        if (fetch) out <= mem[rd_ptr[ADDR_WIDTH-1:0]];
    end

    always @(posedge m_axis_aclk) begin
        if (!m_axis_aresetn) begin
            rd_ptr        <= {PTR{1'b0}};
            rd_gray       <= {PTR{1'b0}};
            wr_gray_r1    <= {PTR{1'b0}};
            wr_gray_r2    <= {PTR{1'b0}};
            m_axis_tvalid <= 1'b0;
        end else begin
            wr_gray_r1    <= wr_gray;
            wr_gray_r2    <= wr_gray_r1;
            rd_ptr        <= rd_next;
            rd_gray       <= rd_next ^ (rd_next >> 1);
            m_axis_tvalid <= fetch || m_axis_tvalid && !m_axis_tready;
        end
    end

endmodule
