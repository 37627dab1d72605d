// SPDX-License-Identifier: MIT
//
// One case on one device: rotations and baselines in turns, each turn on the next set of buffers.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_cases.h"
#include "bench_kinds.h"
#include "bench_run.h"
#include "bench_time.h"
#include "message.h"

enum { LEAST_ROUNDS = 5, FEW_ROUNDS = 3, MOST_WAYS = BENCH_ROTATIONS + 1 + (BENCH_MOVES - 1) * BENCH_BEST };

// Something that is timed.
struct way {
    struct bench_rotation *rotation; // NULL: a move
    enum bench_move move;
    uint32_t variant;
    struct bench_sample *samples;
};

struct measuring {
    struct bench_run *run;
    struct bench_group *group;
    struct bench_rotation rotations[BENCH_ROTATIONS];
    rope2d_positions *positions[2][2]; // [pairing][texture]
    uint32_t rotation_count;
    struct way ways[MOST_WAYS];
    uint32_t way_count;
    uint32_t set;
    double *room;
};

static void name_group(const struct bench_engine *engine, const struct bench_case *what,
                       struct bench_group *group) {
    *group = (struct bench_group){
        .what = *what,
        .backend = engine->choice->info.backend,
        .is_software = engine->choice->info.is_software != 0,
        .most_range = engine->info.max_buffer_range,
    };
    snprintf(group->device, sizeof group->device, "%s", engine->choice->name);
    snprintf(group->device_name, sizeof group->device_name, "%.120s", engine->choice->info.name);
    snprintf(group->driver, sizeof group->driver, "%.120s", engine->choice->info.driver);
}

// Everything that is bound once, against q and k read and written once.
static void count_traffic(const struct bench_rotation *rotation, uint64_t bytes, struct bench_row *row) {
    row->dispatches = rotation->dispatches;
    row->traffic = 1 + (double)rotation->bound_bytes / (2.0 * (double)bytes);
}

static int add_rotation(struct measuring *m, bool in_place, rope2d_pairing pairing, rope2d_table table) {
    struct bench_run *run = m->run;
    const struct bench_case *what = &m->group->what;
    struct bench_rotation *rotation = &m->rotations[m->rotation_count];
    struct bench_row *row = &m->group->rows[m->rotation_count++];
    rope2d_positions **positions = &m->positions[pairing][table == ROPE2D_TABLE_TEXTURE];
    const struct bench_plan *plan;
    *rotation =
        (struct bench_rotation){.what = what, .in_place = in_place, .pairing = pairing, .table = table};
    *row = (struct bench_row){.in_place = in_place, .pairing = pairing, .table = table};
    m->group->row_count = m->rotation_count;
    int result = bench_plan_get(run, what, pairing, table, &plan, row->why, sizeof row->why);
    if (result || !plan)
        return result;
    rope2d_status status = ROPE2D_OK;
    if (!*positions)
        status = bench_positions_create(run->engine.device, what, pairing, table, positions);
    if (status) {
        snprintf(row->why, sizeof row->why, "positions: %s", rope2d_status_name(status));
        return STATUS_OK;
    }
    rotation->plan = plan->plan;
    rotation->positions = *positions;
    result = run->engine.ops->rotation_create(&run->engine, rotation);
    row->exactness = plan->info.exactness;
    char name[BENCH_KERNEL_NAME];
    if (what->purpose == BENCH_ONE_KERNEL)
        bench_kernel_name(what->kernel, name);
    snprintf(row->kernel, sizeof row->kernel, "%s",
             what->purpose == BENCH_ONE_KERNEL ? name : plan->info.kernel);
    snprintf(row->why, sizeof row->why, "%s", rotation->why);
    count_traffic(rotation, m->group->bytes, row);
    if (!result && !*rotation->why)
        m->ways[m->way_count++] = (struct way){.rotation = rotation};
    return result;
}

static bool is_wanted(const struct measuring *m, int pairing, int table, int place) {
    const struct bench_request *request = m->run->request;
    const struct bench_case *what = &m->group->what;
    if (what->purpose == BENCH_GROWTH)
        return pairing == ROPE2D_PAIRING_HALF && table == 0 && place == 1;
    if (what->purpose == BENCH_ONE_KERNEL)
        return (rope2d_pairing)pairing == bench_kernel_pairing(what->kernel) &&
               place == bench_kernel_is_in_place(what->kernel);
    return request->pairings >> pairing & 1 && request->tables >> table & 1 && request->places >> place & 1;
}

static int add_rotations(struct measuring *m) {
    static const rope2d_table tables[] = {ROPE2D_TABLE_BUFFER, ROPE2D_TABLE_TEXTURE};
    int result = STATUS_OK;
    for (int pairing = 0; pairing < 2; ++pairing)
        for (int table = 0; table < 2; ++table)
            for (int place = 0; place < 2 && !result; ++place)
                if (is_wanted(m, pairing, table, place) && (table == 0 || m->run->engine.info.has_textures))
                    result = add_rotation(m, place == 1, (rope2d_pairing)pairing, tables[table]);
    return result;
}

static bool has_move(const struct measuring *m, enum bench_move move) {
    const struct bench_case *what = &m->group->what;
    bool has_any = false, is_own = bench_is_turn(move); // of some rows alone
    for (uint32_t i = 0; i < m->rotation_count; ++i)
        has_any = has_any || (m->rotations[i].pairing == bench_turn_pairing(move) &&
                              m->rotations[i].in_place == bench_is_in_place(move));
    if (is_own && (!has_any || m->run->engine.ops->variants(&m->run->engine, move) == 0))
        return false;
    if (what->purpose == BENCH_ONE_KERNEL && !bench_kernel_is_in_place(what->kernel))
        return move == BENCH_SCALE || move == BENCH_LIMIT_OUT || is_own;
    if (bench_has_one_rotation(what->purpose))
        return bench_is_in_place(move);
    return what->purpose != BENCH_PAST_LAST || move != BENCH_COPY;
}

static int add_moves(struct measuring *m) {
    const uint32_t variants = m->group->what.purpose == BENCH_GROWTH ? 1 : BENCH_BEST;
    int result = STATUS_OK;
    if (has_move(m, BENCH_DRIVER_COPY))
        m->ways[m->way_count++] = (struct way){.move = BENCH_DRIVER_COPY};
    for (int move = BENCH_COPY; move < BENCH_MOVES && !result; ++move) {
        struct bench_found found;
        if (!has_move(m, (enum bench_move)move))
            continue;
        result = bench_search(m->run, m->group, (enum bench_move)move, &found);
        for (uint32_t i = 0; i < variants && !result; ++i)
            m->ways[m->way_count++] =
                (struct way){.move = (enum bench_move)move, .variant = found.variants[i]};
    }
    return result;
}

static int run_way(struct measuring *m, const struct way *way, struct bench_sample *sample) {
    struct bench_engine *engine = &m->run->engine;
    uint32_t set = m->set;
    if (way->rotation)
        return engine->ops->rotate(engine, way->rotation, set, sample);
    return engine->ops->move(engine, way->move, way->variant, set, sample);
}

static int sample_way(struct measuring *m, const struct way *way, struct bench_sample *sample) {
    m->set = (m->set + 1) % m->run->engine.sets;
    struct bench_engine *engine = &m->run->engine;
    int result =
        engine->ops->busy ? engine->ops->busy(engine, (m->set + engine->sets - 1) % engine->sets) : STATUS_OK;
    if (!result && m->group->what.in_cache)
        result = run_way(m, way, sample); // brings it there
    return result ? result : run_way(m, way, sample);
}

// The order of a round: by chance, so that no way always runs in what another one has left, its lines and the
// pages that it has written last.
static void shuffle(uint32_t *order, uint32_t count, uint64_t *state) {
    for (uint32_t i = 0; i < count; ++i)
        order[i] = i;
    for (uint32_t i = count; i > 1; --i) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        uint32_t other = (uint32_t)(*state >> 33) % i, kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}

// Half the distance of the quartiles that asks for more rounds, of the median.
static const double UNSETTLED = 0.1;

static bool is_unsettled(const struct measuring *m, uint32_t rounds) {
    for (uint32_t i = 0; i < m->way_count; ++i) {
        struct bench_timing timing = bench_timing_of(m->ways[i].samples, rounds, m->room);
        const struct bench_spread *spread = bench_counted(&timing);
        if (spread->high - spread->low > 2 * UNSETTLED * spread->median)
            return true;
    }
    return false;
}

// Fewer of what takes long.
static uint32_t least_rounds(enum bench_purpose purpose) {
    return purpose == BENCH_PAST_LAST || purpose == BENCH_GROWTH ? FEW_ROUNDS : LEAST_ROUNDS;
}

// Rounds until the time is over, or twice the time where something disturbs them: all ways alike. `spare`
// receives the seconds of the rounds that need not have been.
static int measure(struct measuring *m, double seconds, uint32_t *rounds, double *spare) {
    struct bench_sample warm;
    uint32_t order[MOST_WAYS];
    uint64_t chance = 1;
    int result = STATUS_OK;
    for (uint32_t i = 0; i < m->way_count && !result; ++i)
        result = sample_way(m, &m->ways[i], &warm);
    double begin = seconds_now();
    uint32_t most = m->run->request->most_rounds, least = least_rounds(m->group->what.purpose);
    for (*rounds = 0; *rounds < most && !result; ++*rounds) {
        double taken = seconds_now() - begin;
        if (*rounds >= least && taken > seconds && (taken > 2 * seconds || !is_unsettled(m, *rounds)))
            break;
        shuffle(order, m->way_count, &chance);
        for (uint32_t i = 0; i < m->way_count && !result; ++i) {
            struct way *way = &m->ways[order[i]];
            result = sample_way(m, way, &way->samples[*rounds]);
        }
        progress_add(&m->run->progress, 0);
    }
    if (*rounds > least)
        *spare = (seconds_now() - begin) * (1 - (double)least / *rounds);
    return result;
}

static void keep_move(struct measuring *m, const struct way *way, uint32_t rounds,
                      struct bench_baseline *baseline) {
    const struct bench_engine *engine = &m->run->engine;
    engine->ops->variant_name(engine, way->move, way->variant, baseline->name, sizeof baseline->name);
    baseline->timing = bench_timing_of(way->samples, rounds, m->room);
}

static uint32_t fastest(const struct bench_baseline *baselines) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < BENCH_BEST && baselines[i].timing.runs; ++i)
        if (bench_counted(&baselines[i].timing)->median < bench_counted(&baselines[best].timing)->median)
            best = i;
    return best;
}

static void keep_moves(struct measuring *m, uint32_t rounds) {
    uint32_t kept[BENCH_MOVES] = {0};
    for (uint32_t i = 0; i < m->way_count; ++i) {
        const struct way *way = &m->ways[i];
        struct bench_best *best = &m->group->moves[way->move];
        if (way->rotation)
            continue;
        keep_move(m, way, rounds,
                  way->move == BENCH_DRIVER_COPY ? &m->group->driver_copy
                                                 : &best->variants[kept[way->move]++]);
    }
    for (int move = BENCH_COPY; move < BENCH_MOVES; ++move)
        m->group->moves[move].best = fastest(m->group->moves[move].variants);
}

// A baseline that does not do its work is no baseline.
static int check_moves(struct measuring *m) {
    struct bench_engine *engine = &m->run->engine;
    int result = STATUS_OK;
    for (uint32_t i = 0; i < m->way_count && !result; ++i) {
        const struct way *way = &m->ways[i];
        char why[160] = "", name[64];
        if (way->rotation)
            continue;
        result = bench_check_move(engine, way->move, way->variant, m->set, why, sizeof why);
        if (!*why)
            continue;
        engine->ops->variant_name(engine, way->move, way->variant, name, sizeof name);
        message("%s: %s: %s", engine->choice->name, name, why);
        result = STATUS_FAILED;
    }
    return result;
}

static void keep_ratios(struct measuring *m, const struct way *rotation, uint32_t rounds,
                        struct bench_row *row) {
    uint32_t kept[BENCH_MOVES] = {0};
    for (uint32_t i = 0; i < m->way_count && row->timing.runs > 0; ++i) {
        const struct way *way = &m->ways[i];
        if (!way->rotation && kept[way->move]++ == m->group->moves[way->move].best)
            row->of[way->move] = bench_ratio_of(way->samples, rotation->samples, rounds, m->room);
    }
}

static int keep_rotations(struct measuring *m, uint32_t rounds) {
    int result = STATUS_OK;
    for (uint32_t i = 0; i < m->way_count && m->ways[i].rotation && !result; ++i) {
        struct bench_row *row = &m->group->rows[m->ways[i].rotation - m->rotations];
        struct bench_timing timing = bench_timing_of(m->ways[i].samples, rounds, m->room);
        result = bench_check(m->run, m->ways[i].rotation, m->set, row);
        bench_accept(row, &timing);
        keep_ratios(m, &m->ways[i], rounds, row);
        m->run->results->refused += !row->is_equal;
        progress_add(&m->run->progress, 0);
    }
    return result;
}

static int make_room(struct measuring *m) {
    uint32_t most = m->run->request->most_rounds;
    bool made = (m->room = malloc(most * sizeof *m->room)) != NULL;
    for (uint32_t i = 0; i < m->way_count && made; ++i)
        made = (m->ways[i].samples = malloc(most * sizeof *m->ways[i].samples)) != NULL;
    if (!made)
        message("no memory for %u rounds of samples", most);
    return made ? STATUS_OK : STATUS_DEVICE;
}

static void release(struct measuring *m) {
    struct bench_engine *engine = &m->run->engine;
    for (uint32_t i = 0; i < m->rotation_count; ++i)
        engine->ops->rotation_destroy(engine, &m->rotations[i]);
    for (int i = 0; i < 4; ++i)
        rope2d_positions_destroy(m->positions[i / 2][i % 2]);
    for (uint32_t i = 0; i < m->way_count; ++i)
        free(m->ways[i].samples);
    free(m->room);
    engine->ops->memory_destroy(engine);
}

int bench_group_run(struct bench_run *run, const struct bench_case *what, double seconds,
                    struct bench_group *group) {
    struct measuring m = {.run = run, .group = group};
    uint32_t rounds = 0;
    double begin = seconds_now(), spare = 0, searched;
    name_group(&run->engine, what, group);
    int result = bench_memory_create(run, what, group);
    group->fill_seconds = seconds_now() - begin;
    if (!result)
        result = add_rotations(&m);
    begin = seconds_now();
    if (!result)
        result = add_moves(&m);
    searched = seconds_now() - begin;
    if (!result)
        result = make_room(&m);
    if (!result)
        result = measure(&m, seconds, &rounds, &spare);
    if (!result)
        keep_moves(&m, rounds);
    if (!result)
        result = check_moves(&m);
    if (!result)
        result = keep_rotations(&m, rounds);
    release(&m);
    group->least_seconds = seconds_now() - begin - spare - searched;
    return result;
}
