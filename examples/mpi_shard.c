// SPDX-License-Identifier: MIT
//
// Tokens and heads spread over the ranks of MPI, each on a device of its own, of any kind: GPUs first, in
// turn, then the CPU. Rank 0 gathers the pieces and compares them with the whole. Build and run it with
//     mpicc mpi_shard.c $(pkg-config --cflags --libs rope2d) && mpirun --oversubscribe -n 4 ./a.out
#include <rope2d/rope2d.h>

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 20, TOKENS = SIDE * SIDE, HEADS = 6, HEAD_DIM = 32, PAIRS = HEAD_DIM / 2 };

typedef struct shard {
    int tokens_begin, tokens_end, heads_begin, heads_end;
} shard;

// Half of the heads each, and an equal part of the tokens.
static shard shard_of(int rank, int ranks) {
    const int columns = ranks % 2 == 0 ? 2 : 1;
    const int row = rank / columns, rows = ranks / columns, column = rank % columns;
    shard s = {TOKENS * row / rows, TOKENS * (row + 1) / rows, HEADS * column / columns,
               HEADS * (column + 1) / columns};
    return s;
}

// The device that comes after `rank` others: of Vulkan, of OpenCL, the CPU, and from the beginning again.
static rope2d_status open_device(int rank, rope2d_device **device, rope2d_device_info *info) {
    static const rope2d_backend order[] = {ROPE2D_BACKEND_VULKAN, ROPE2D_BACKEND_OPENCL, ROPE2D_BACKEND_CPU};
    uint32_t counts[3] = {0, 0, 0}, total = 0;
    rope2d_device_params where = {.struct_size = sizeof(where)};
    for (int i = 0; i < 3; i++) {
        if (rope2d_enumerate(order[i], NULL, &counts[i], NULL) != ROPE2D_OK)
            counts[i] = 0; // not built in, or no loader here
        total += counts[i];
    }
    uint32_t index = total > 0 ? (uint32_t)rank % total : 0;
    for (int i = 0; i < 3; index -= counts[i], i++) {
        where.backend = order[i];
        where.index = index;
        if (index < counts[i])
            break;
    }
    info->struct_size = sizeof(*info);
    const rope2d_status status = rope2d_device_create(&where, device);
    return status == ROPE2D_OK ? rope2d_device_get_info(*device, info) : status;
}

static rope2d_status rotate(rope2d_device *device, const shard *s, const float (*in)[HEADS][HEAD_DIM],
                            float *out) {
    static float freqs[2][PAIRS], yx[TOKENS][2];
    const uint64_t tokens = (uint64_t)(s->tokens_end - s->tokens_begin);
    const uint32_t heads = (uint32_t)(s->heads_end - s->heads_begin);
    rope2d_positions *positions = NULL;
    rope2d_plan *plan = NULL;
    for (int i = 0; i < PAIRS; i++)
        freqs[i % 2][i] = 1.0f / (float)(1 + i);
    for (int t = 0; t < TOKENS; t++) {
        yx[t][0] = (float)(t / SIDE);
        yx[t][1] = (float)(t % SIDE);
    }
    rope2d_spec spec = {sizeof(spec), .head_dim = HEAD_DIM, .axes = 2, .freqs = &freqs[0][0]};
    // The positions of this slice alone.
    rope2d_positions_params grid = {sizeof(grid), &spec, .tokens = tokens,
                                    .coordinates = yx[s->tokens_begin]};
    rope2d_plan_params types = {sizeof(types), &spec, .in = ROPE2D_F32, .out = ROPE2D_F32};
    rope2d_tensor q = {.heads = heads};
    q.in = rope2d_view_contiguous((float *)in, ROPE2D_F32, ROPE2D_LAYOUT_BNHD, 1, TOKENS, HEADS, HEAD_DIM);
    q.in.offset = sizeof(float) * (size_t)((s->tokens_begin * HEADS + s->heads_begin) * HEAD_DIM);
    q.out = rope2d_view_contiguous(out, ROPE2D_F32, ROPE2D_LAYOUT_BNHD, 1, tokens, heads, HEAD_DIM);
    rope2d_apply_params params = {sizeof(params), .batch = 1, .tokens = tokens, .tensor_count = 1,
                                  .tensors = &q};
    rope2d_status status = rope2d_positions_create(device, &grid, &positions);
    if (status == ROPE2D_OK)
        status = rope2d_plan_create(device, &types, &plan);
    if (status == ROPE2D_OK)
        status = rope2d_apply(plan, positions, &params);
    rope2d_plan_destroy(plan);
    rope2d_positions_destroy(positions);
    return status;
}

// Elements that a rank's piece has unlike the whole.
static int differences(const shard *s, const float *piece, float (*whole)[HEADS][HEAD_DIM]) {
    int count = 0;
    for (int t = s->tokens_begin; t < s->tokens_end; t++) {
        for (int h = s->heads_begin; h < s->heads_end; h++, piece += HEAD_DIM)
            count += memcmp(piece, whole[t][h], sizeof(whole[t][h])) != 0;
    }
    return count;
}

int main(int argc, char **argv) {
    static float in[TOKENS][HEADS][HEAD_DIM], whole[TOKENS][HEADS][HEAD_DIM],
        piece[TOKENS * HEADS * HEAD_DIM];
    int rank = 0, ranks = 1, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t i = 0; i < sizeof(in) / sizeof(float); i++)
        (&in[0][0][0])[i] = (float)((i * 2654435761u) % 2001u) / 1000.0f - 1.0f;

    shard mine = shard_of(rank, ranks);
    rope2d_device *device = NULL;
    rope2d_device_info info = {.name = "no device"};
    rope2d_status status = open_device(rank, &device, &info);
    if (status == ROPE2D_OK)
        status = rotate(device, &mine, (const float(*)[HEADS][HEAD_DIM])in, piece);
    rope2d_device_destroy(device);
    if (status != ROPE2D_OK) {
        fprintf(stderr, "mpi_shard: rank %d: %s\n", rank, rope2d_status_name(status));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank > 0) {
        MPI_Send(piece, TOKENS * HEADS * HEAD_DIM, MPI_FLOAT, 0, 0, MPI_COMM_WORLD);
        MPI_Send(info.name, sizeof(info.name), MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    } else {
        const shard all = {0, TOKENS, 0, HEADS};
        rope2d_device *cpu = NULL;
        rope2d_device_params where = {.struct_size = sizeof(where)};
        wrong = rope2d_device_create(&where, &cpu) != ROPE2D_OK ||
                rotate(cpu, &all, (const float(*)[HEADS][HEAD_DIM])in, &whole[0][0][0]) != ROPE2D_OK ||
                memcmp(in, whole, sizeof(in)) == 0;
        rope2d_device_destroy(cpu);
        for (int other = 0; other < ranks; other++) {
            mine = shard_of(other, ranks);
            if (other > 0) {
                MPI_Recv(piece, TOKENS * HEADS * HEAD_DIM, MPI_FLOAT, other, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
                MPI_Recv(info.name, sizeof(info.name), MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
            printf("tokens %d to %d, heads %d to %d: %s\n", mine.tokens_begin, mine.tokens_end,
                   mine.heads_begin, mine.heads_end, info.name);
            wrong += differences(&mine, piece, whole);
        }
        printf("%d ranks, %s\n%d passed, %d failed, 0 skipped\n", ranks,
               wrong ? "other bits" : "the same bits", wrong ? 0 : ranks, wrong);
    }
    MPI_Finalize();
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
