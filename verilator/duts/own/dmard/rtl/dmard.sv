/*
 * DMA engine that reads host memory into a RAM.
 *
 * A descriptor becomes memory read requests that exceed neither the maximum read request size nor
 * a 4 KB page. Completions come two TLP segments a beat, in any order between tags. Each segment
 * is written to those lanes of the RAM that it touches, and each lane takes its part when it can.
 * The status of a descriptor follows when all lanes have taken all of its bytes.
 *
 * Requests have double word 0 of their header on top. Completions are bytes as on the wire, lowest
 * first: the header, and payload right behind it; a TLP begins with a segment. Completions with an
 * error and lost ones are not handled.
 */
module dmard #(
    parameter TAGS = 8,  // requests in flight, a power of two
    parameter OPS  = 4,  // descriptors in progress, a power of two
    parameter BUG  = 0   // 0: none; 1, 2: seeded bugs, see docs/own-rtl.md
) (
    input  logic         clk,
    input  logic         rst,

    input  logic [2:0]   max_read_request_size,  // 128 bytes << value
    input  logic [15:0]  requester_id,

    input  logic [63:0]  s_axis_read_desc_pcie_addr,
    input  logic [19:0]  s_axis_read_desc_ram_addr,
    input  logic [15:0]  s_axis_read_desc_len,  // 1 or more
    input  logic [7:0]   s_axis_read_desc_tag,
    input  logic         s_axis_read_desc_valid,
    output logic         s_axis_read_desc_ready,

    output logic [7:0]   m_axis_read_desc_status_tag,
    output logic         m_axis_read_desc_status_valid,
    input  logic         m_axis_read_desc_status_ready,

    output logic [127:0] tx_rd_req_tlp_hdr,
    output logic         tx_rd_req_tlp_valid,
    input  logic         tx_rd_req_tlp_ready,

    // Two segments of 128 bits.
    input  logic [255:0] rx_cpl_tlp_data,
    input  logic [1:0]   rx_cpl_tlp_used,
    input  logic [1:0]   rx_cpl_tlp_sop,
    input  logic [1:0]   rx_cpl_tlp_eop,
    input  logic         rx_cpl_tlp_valid,
    output logic         rx_cpl_tlp_ready,

    // Four lanes of 64 bits: row r of lane l holds bytes 32 r + 8 l to 32 r + 8 l + 7.
    output logic [31:0]  ram_wr_cmd_be,
    output logic [59:0]  ram_wr_cmd_addr,
    output logic [255:0] ram_wr_cmd_data,
    output logic [3:0]   ram_wr_cmd_valid,
    input  logic [3:0]   ram_wr_cmd_ready
);

localparam TAG_W = $clog2(TAGS);
localparam OP_W  = $clog2(OPS);

// ---- descriptors under way ----
logic [OPS-1:0] op_busy, op_done;  // done: all bytes are in the lanes' registers or written
logic [7:0]     op_tag   [OPS];
logic [15:0]    op_left  [OPS];
logic [3:0]     op_lanes [OPS];    // lanes that have not accepted the last bytes
logic [OP_W-1:0] op_free, op_over;
logic           op_over_found;

always_comb begin
    op_free = '0;
    op_over = '0;
    op_over_found = 1'b0;
    for (int i = 0; i < OPS; i++) begin
        if (!op_busy[i]) op_free = OP_W'(i);
        if (op_done[i] && op_lanes[i] == '0) {op_over_found, op_over} = {1'b1, OP_W'(i)};
    end
end

// ---- requests ----
logic             req_active;
logic [63:0]      req_addr;
logic [19:0]      req_ram;
logic [15:0]      req_left;
logic [OP_W-1:0]  req_op;
logic [TAGS-1:0]  tag_busy;
logic [OP_W-1:0]  tag_op   [TAGS];
logic [19:0]      tag_ram  [TAGS];
logic [12:0]      tag_left [TAGS];
logic [TAG_W-1:0] tag_free;
logic             req_send;
logic [12:0]      req_most, req_page, req_size;
logic [12:0]      req_end;
logic [3:0]       first_be, last_be;
logic [10:0]      req_dws;

always_comb begin
    tag_free = '0;
    for (int i = 0; i < TAGS; i++) if (!tag_busy[i]) tag_free = TAG_W'(i);

    req_most = (13'd128 << max_read_request_size) - 13'(req_addr[1:0]);
    if (req_left < 16'(req_most)) req_most = req_left[12:0];
    req_page = 13'd4096 - 13'(req_addr[11:0]);
    // Bug 1: a request may cross the page boundary by one byte.
    req_size = req_most > req_page + (BUG == 1 ? 13'd1 : 13'd0) ? req_page : req_most;

    req_end  = req_size + 13'(req_addr[1:0]);
    req_dws  = 11'((req_end + 13'd3) >> 2);
    first_be = 4'hf << req_addr[1:0];
    last_be  = 4'hf >> (2'd0 - req_end[1:0]);
    if (req_dws == 11'd1) {first_be, last_be} = {first_be & last_be, 4'h0};
end

assign s_axis_read_desc_ready = !req_active && !(&op_busy);
assign req_send = req_active && !(&tag_busy) && (!tx_rd_req_tlp_valid || tx_rd_req_tlp_ready);

always_ff @(posedge clk) begin
    if (tx_rd_req_tlp_ready) tx_rd_req_tlp_valid <= 1'b0;
    if (req_send) begin
        tx_rd_req_tlp_valid <= 1'b1;
        tx_rd_req_tlp_hdr[127:96] <= {2'b00, req_addr[63:32] != '0, 19'd0, req_dws[9:0]};
        tx_rd_req_tlp_hdr[95:64]  <= {requester_id, 8'(tag_free), last_be, first_be};
        tx_rd_req_tlp_hdr[63:0]   <= req_addr[63:32] != '0 ? {req_addr[63:2], 2'b00}
                                                           : {req_addr[31:2], 34'd0};
        req_addr   <= req_addr + 64'(req_size);
        req_ram    <= req_ram + 20'(req_size);
        req_left   <= req_left - 16'(req_size);
        req_active <= req_left != 16'(req_size);
    end
    if (s_axis_read_desc_valid && s_axis_read_desc_ready) begin
        req_active <= 1'b1;
        req_addr   <= s_axis_read_desc_pcie_addr;
        req_ram    <= s_axis_read_desc_ram_addr;
        req_left   <= s_axis_read_desc_len;
        req_op     <= op_free;
    end
    if (rst) {req_active, tx_rd_req_tlp_valid} <= '0;
end

// ---- completions: a segment a cycle ----
logic [255:0]     rx_data;
logic [1:0]       rx_used, rx_sop, rx_eop;
logic             seg, seg_go, seg_start, seg_end;
logic [127:0]     seg_data;
logic [TAG_W-1:0] seg_tag, cpl_tag;
logic [12:0]      cpl_count, cpl_bytes, seg_rest, cpl_rest;
logic [4:0]       seg_bytes, seg_room;
logic [3:0]       seg_pad;         // bytes before the payload: a header, or none
logic [19:0]      seg_ram;
logic [OP_W-1:0]  seg_op;
logic [511:0]     row_data;  // two rows of the RAM
logic [63:0]      row_be;
logic [3:0]       need, wait_lanes;

assign rx_cpl_tlp_ready = rx_used == 2'b00 || seg_go && rx_used != 2'b11;
assign seg       = !rx_used[0];
assign seg_data  = seg ? rx_data[255:128] : rx_data[127:0];
assign seg_start = rx_sop[seg];
assign seg_end   = rx_eop[seg];
assign seg_tag   = seg_start ? seg_data[80 +: TAG_W] : cpl_tag;
assign seg_pad   = seg_start ? {2'b11, seg_data[89:88]} : 4'd0;
assign seg_op    = tag_op[seg_tag];
assign seg_ram   = tag_ram[seg_tag];

always_comb begin
    // Bytes of this completion: what the request still lacks, at most the TLP's payload.
    cpl_count = {1'b0, seg_data[51:48], seg_data[63:56]};
    if (cpl_count == '0) cpl_count = 13'd4096;
    cpl_bytes = {1'b0, seg_data[17:16], seg_data[31:24], 2'b00};
    if (cpl_bytes == '0) cpl_bytes = 13'd4096;
    cpl_bytes = cpl_bytes - 13'(seg_data[89:88]);
    if (cpl_count < cpl_bytes) cpl_bytes = cpl_count;
    seg_rest  = seg_start ? cpl_bytes : cpl_rest;
    seg_room  = 5'd16 - 5'(seg_pad);
    seg_bytes = seg_rest < 13'(seg_room) ? seg_rest[4:0] : seg_room;

    row_data = {384'd0, seg_data >> {seg_pad, 3'b000}} << {seg_ram[4:0], 3'b000};
    row_be   = ((64'd1 << seg_bytes) - 64'd1) << seg_ram[4:0];
    for (int l = 0; l < 4; l++) need[l] = row_be[8*l +: 8] != '0 || row_be[32+8*l +: 8] != '0;
end

assign wait_lanes = ram_wr_cmd_valid & ~ram_wr_cmd_ready;
assign seg_go     = rx_used != 2'b00 && (need & wait_lanes) == '0;

always_ff @(posedge clk) begin
    if (seg_go) begin
        rx_used[seg] <= 1'b0;
        cpl_tag      <= seg_tag;
        cpl_rest     <= seg_rest - 13'(seg_bytes);
    end
    if (rx_cpl_tlp_valid && rx_cpl_tlp_ready) begin
        rx_data <= rx_cpl_tlp_data;
        rx_used <= rx_cpl_tlp_used;
        rx_sop  <= rx_cpl_tlp_sop;
        rx_eop  <= rx_cpl_tlp_eop;
    end
    if (rst) rx_used <= '0;
end

// ---- RAM lanes ----
for (genvar l = 0; l < 4; l++) begin : lane
    logic next_row;
    assign next_row = row_be[8*l +: 8] == '0;

    always_ff @(posedge clk) begin
        if (ram_wr_cmd_ready[l]) ram_wr_cmd_valid[l] <= 1'b0;
        if (seg_go && need[l]) begin
            ram_wr_cmd_valid[l]         <= 1'b1;
            ram_wr_cmd_addr[15*l +: 15] <= seg_ram[19:5] + 15'(next_row);
            ram_wr_cmd_be[8*l +: 8]     <= row_be[32*next_row + 8*l +: 8];
            ram_wr_cmd_data[64*l +: 64] <= row_data[256*next_row + 64*l +: 64];
        end
        if (rst) ram_wr_cmd_valid[l] <= 1'b0;
    end
end

// ---- tags, descriptors and status ----
logic tag_over;
// Bug 2: a tag is free again after the first completion, though more may come.
assign tag_over = BUG == 2 ? seg_end : tag_left[seg_tag] == 13'(seg_bytes);

always_ff @(posedge clk) begin
    if (m_axis_read_desc_status_ready) m_axis_read_desc_status_valid <= 1'b0;
    for (int i = 0; i < OPS; i++) op_lanes[i] <= op_lanes[i] & wait_lanes;
    if (seg_go) begin
        tag_ram[seg_tag]  <= seg_ram + 20'(seg_bytes);
        tag_left[seg_tag] <= tag_left[seg_tag] - 13'(seg_bytes);
        if (tag_over) tag_busy[seg_tag] <= 1'b0;
        op_left[seg_op] <= op_left[seg_op] - 16'(seg_bytes);
        if (op_left[seg_op] == 16'(seg_bytes)) begin
            op_done[seg_op]  <= 1'b1;
            op_lanes[seg_op] <= wait_lanes | need;
        end
    end
    if (req_send) begin
        tag_busy[tag_free] <= 1'b1;
        tag_op[tag_free]   <= req_op;
        tag_ram[tag_free]  <= req_ram;
        tag_left[tag_free] <= req_size;
    end
    if (s_axis_read_desc_valid && s_axis_read_desc_ready) begin
        op_busy[op_free] <= 1'b1;
        op_tag[op_free]  <= s_axis_read_desc_tag;
        op_left[op_free] <= s_axis_read_desc_len;
    end
    if (op_over_found && (!m_axis_read_desc_status_valid || m_axis_read_desc_status_ready)) begin
        m_axis_read_desc_status_valid <= 1'b1;
        m_axis_read_desc_status_tag   <= op_tag[op_over];
        {op_busy[op_over], op_done[op_over]} <= '0;
    end
    if (rst) {op_busy, op_done, tag_busy, m_axis_read_desc_status_valid} <= '0;
end

endmodule
