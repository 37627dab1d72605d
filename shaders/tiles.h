// SPDX-License-Identifier: MIT
//
// What a lane of a software device does, for vector.h: its group has a few tokens, and all units and heads of
// these.

// A unit has 32 bytes, or 64 by two loads: heads of so many units, read and written, fit the first caches of
// a processor, and both tensors are turned together; of more one tensor after the other.
#define R_JOINT_UNITS 512u

// In order: heads of 512 bytes, or of multiples, are turned so many at a time, of both tensors. A processor
// fetches ahead for few streams that lie so far apart: what lanes take next must follow soon.
#define R_NEAR_UNITS 16u
#define R_NEAR_HEADS 4u

// The lane's heads of one token and tensor. Loops have their condition at the end: lanes that are vectors of
// a CPU go through what follows it once more after all have left.
R_FN void r_turn_heads(R_MEM uint k, r_lane lane, r_heads heads, r_duos duos, r_duos odds, r_turns t0,
                       r_turns t1, uint row_at) {
    uint head = lane.head;
    uint in_run = heads.in_run;
    uint out_run = heads.out_run;
    do {
        if (R_HAS_FLAG(R_SLOW_SHIFTS_FLAG)) { // a loop's every variable takes long there, too
            in_run = heads.in_run + (head - lane.head) * heads.in_step;
            out_run = heads.out_run + (head - lane.head) * heads.out_step;
        }
        if (R_HAS_FLAG(R_HEAD_TABLE_FLAG)) {
            R_READ_TURNS(t0, duos, odds, 0, 1)
            if (R_HAS_FLAG(R_EIGHT_FLAG))
                R_READ_TURNS(t1, duos, odds, 2, 3)
        }
        r_uint4 a, a2, b, b2;
        R_LOAD_HEAD(R_TWO_LOADS, a, a2, b, b2, k, lane, in_run)
        R_TURN_HEAD(R_TWO_LOADS, a, a2, b, b2, duos, odds, t0, t1)
        R_STORE_HEAD(R_TWO_LOADS, a, a2, b, b2, k, lane, out_run)
        in_run += heads.in_step;
        out_run += heads.out_step;
        head += R_STEP;
    } while (head < heads.end);
}

#define R_IS_NEAR(heads) (!R_HAS_FLAG(R_ORDER_FLAG) || lane.head < heads.end)
// The heads of tensor t that are turned next, of a token that is `token` on.
#define R_FIND_NEAR(t)                                                                                       \
    heads.in_run += token * t##_in;                                                                          \
    heads.out_run += token * t##_out;                                                                        \
    if (R_HAS_FLAG(R_ORDER_FLAG)) {                                                                          \
        heads.in_run += (lane.head - head) * heads.in_step;                                                  \
        heads.out_run += (lane.head - head) * heads.out_step;                                                \
        heads.end = min(lane.head + near, heads.end);                                                        \
    }
// What a lane has of several tokens, of both tensors where there are two: the same unit of each, or, in
// order, what comes next in memory: some devices run lanes as a vector, and one vector to its end before the
// next. `left`: tokens to the end of the group's, the first included. Where there are more tensors than
// slots, all slots are the same buffer.
R_FN void r_vector_tokens(R_MEM uint k, uint unit, uint batch, uint first, uint left, uint first_row_at,
                          uint head) {
    r_heads a_heads = r_find_heads(R_M k, batch, first, head);
    r_heads b_heads = r_find_heads(R_M 1u, batch, first, head);
    uint a_in = R_TENSOR(k, R_IN_TOKEN_STRIDE) >> R_RUN_SHIFT;
    uint a_out = R_TENSOR(k, R_OUT_TOKEN_STRIDE) >> R_RUN_SHIFT;
    uint b_in = R_TENSOR(1u, R_IN_TOKEN_STRIDE) >> R_RUN_SHIFT;
    uint b_out = R_TENSOR(1u, R_OUT_TOKEN_STRIDE) >> R_RUN_SHIFT;
    uint near = R_TENSOR(k, R_HEADS) + R_TENSOR(1u, R_HEADS);
    bool is_joint = near * R_SHAPE(R_UNITS) <= R_JOINT_UNITS;
    if (R_HAS_FLAG(R_ORDER_FLAG)) {
        bool is_near = (R_SHAPE(R_UNITS) & (R_NEAR_UNITS - 1u)) == 0u;
        is_joint = is_joint || is_near;
        near = R_SELECT(is_near, R_NEAR_HEADS, near);
    }
    bool has_a = true;
    bool has_b = R_TWO_SLOTS && R_HAS_BOTH;
    bool goes_on = has_b && !is_joint;
    has_b = has_b && is_joint;
    uint end = R_SELECT(has_b, max(a_heads.end, b_heads.end), a_heads.end);
    uint first_unit = unit;
    uint row = R_SHAPE(R_UNITS) * R_STEP;
    do {
        uint token = 0u;
        uint rounds = R_SHAPE(R_LANE_TOKENS);
        uint token_unit = first_unit; // its first of this token, and what was left then
        uint token_rounds = rounds;
        r_lane lane = r_find_lane(R_M first_unit, head);
        unit = first_unit;
        do {
            uint row_at = first_row_at + token * R_SHAPE(R_ROW_AXES);
            r_duos duos = r_find_duos(R_M lane, row_at);
            r_duos odds = r_find_odds(R_M lane, duos, row_at);
            R_FIND_TURNS(t0, t1, duos, odds)
            r_heads heads = a_heads;
            if (has_a && R_IS_NEAR(a_heads)) {
                R_FIND_NEAR(a)
                r_turn_heads(R_M 0u, lane, heads, duos, odds, t0, t1, row_at);
            }
            if (R_TWO_SLOTS) {
                if (has_b && R_IS_NEAR(b_heads)) {
                    heads = b_heads;
                    R_FIND_NEAR(b)
                    r_turn_heads(R_M 1u, lane, heads, duos, odds, t0, t1, row_at);
                }
            }
            rounds--;
            if (R_HAS_FLAG(R_ORDER_FLAG)) {
                uint next_head = lane.head + near;
                unit += R_LANES_TOGETHER;
                uint next = (unit * R_SHAPE(R_UNIT_MAGIC)) >> R_UNIT_SHIFT;
                if (next != token || rounds == 0u) {
                    if (next_head < end) {
                        unit = token_unit;
                        rounds = token_rounds;
                    } else {
                        next_head = head;
                        token = next;
                        token_unit = unit;
                        token_rounds = rounds;
                    }
                } else {
                    next_head = lane.head;
                }
                lane = r_find_lane(R_M unit - token * row, next_head);
            } else {
                token++;
            }
        } while (rounds > 0u && token < left);
        has_b = goes_on;
        goes_on = goes_on && has_a;
        has_a = false;
    } while (goes_on);
}

R_FN void r_tile_lane(R_MEM uint k, uint item, uint lane) {
    uint tile = r_divide(item, R_TENSOR(k, R_SPAN_MAGIC), R_TENSOR(k, R_SHIFTS) >> 8);
    uint batch = item - tile * R_TENSOR(k, R_SPAN);
    uint head = 0u;
    uint place = lane;
    uint tokens = R_SHAPE(R_TILE_TOKENS);
    if (R_HAS_FLAG(R_ORDER_FLAG)) {
        uint together = lane & (R_LANES_TOGETHER - 1u);
        tokens *= R_SHAPE(R_LANE_TOKENS);
        place = (lane - together) * R_SHAPE(R_LANE_TOKENS) + together;
    }
    uint tile_token = (place * R_SHAPE(R_UNIT_MAGIC)) >> R_UNIT_SHIFT;
    uint unit = place - tile_token * R_SHAPE(R_UNITS) * R_STEP;
    if (R_HAS_FLAG(R_ORDER_FLAG)) {
        uint beside = (unit * R_STEP) / R_LANES_TOGETHER & (R_STEP - 1u);
        unit -= beside * R_SHAPE(R_UNITS);
        head += beside;
    }
    if (R_HAS_FLAG(R_TOKENS_FLAG)) {
        tokens *= R_SHAPE(R_LANE_TOKENS);
        tile_token *= R_SHAPE(R_LANE_TOKENS);
    }
    uint token = tile * tokens + tile_token;
    bool is_there = tile_token < tokens && token < R_RANGE(R_TOKENS) && item < R_TENSOR_RANGE(k, R_LANES);
    uint row_at = R_RANGE(R_ROW_FIRST) + batch * R_SHAPE(R_ROW_BATCH_STRIDE) + token * R_SHAPE(R_ROW_AXES);
    uint left = min(tokens - tile_token, R_RANGE(R_TOKENS) - token);
    if (is_there) {
        R_CHOOSE_SLOT(k)
        r_vector_tokens(R_M k, unit, batch, token, left, row_at, head);
    }
}
