// SPDX-License-Identifier: MIT
#include "bench_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench_target.h"
#include "job.h"

void bench_print_heading(const struct bench_results *results) {
    const struct bench_machine *machine = &results->machine;
    printf(
        "%s, %u processors, L2 %.2g MiB, last cache %.3g MiB, memory %.1f GiB\n"
        "q and k in one rotation. GB/s: bytes read and written. Copies and the in-place scale move the same\n"
        "bytes, in turns with the rotation; so does the limit: in Vulkan, on PoCL, and on the CPU with AVX2\n"
        "or AVX-512, a turn of this tower alone; elsewhere, or where the rotation is faster, what converts\n"
        "to f32 and back, has a turn's arithmetic, and of a single head reads as much table, but turns\n"
        "nothing. Of each the best of three variants. 'of copy', 'of scale', 'of limit': 1 is as fast.\n"
        "Medians; +-: half the distance of the quartiles. Results are compared with the portable path's,\n"
        "bit by bit.\n"
        "L2: buffers that fit there; *: buffers that take turns fit a larger cache.\n",
        machine->name, machine->processors, (double)machine->core_cache / (1 << 20),
        (double)machine->last_cache / (1 << 20), (double)machine->memory / (1 << 30));
}

static void print_columns(const struct bench_group *group) {
    printf("\n%s, %s", group->device, group->device_name);
    if (group->what.threads)
        printf(", %u thread%s", group->what.threads, group->what.threads > 1 ? "s" : "");
    printf("\n%-8s %8s %-4s %-11s %-7s %-6s %8s %9s %9s %5s %7s %7s %7s %7s %7s %5s %5s %5s  %s\n", "tower",
           "tokens", "type", "pairing", "table", "where", "MiB", "ms", "host ms", "+-%", "GB/s", "copy",
           "driver", "scale", "limit", "of", "of", "of", "bits");
    printf("%90s %7s %7s %7s %7s %5s %5s %5s\n", "", "GB/s", "GB/s", "GB/s", "GB/s", "copy", "scale",
           "limit");
}

// What was not measured is a dash.
static void print_rate(const struct bench_group *group, enum bench_move move) {
    const struct bench_timing *timing = &bench_baseline_of(group, move)->timing;
    if (timing->runs)
        printf(" %7.2f", bench_rate(group, timing));
    else
        printf(" %7s", "-");
}

static void print_ratio(double ratio) {
    if (ratio > 0)
        printf(" %5.2f", ratio);
    else
        printf(" %5s", "-");
}

static void print_row(const struct bench_group *group, const struct bench_row *row) {
    char where[16];
    snprintf(where, sizeof where, "%s%s", row->in_place ? "in" : "out",
             group->what.in_cache ? " L2"
             : group->past_caches ? ""
                                  : " *");
    printf("%-8s %8" PRIu64 " %-4s %-11s %-7s %-6s %8.2f ", group->what.tower->name, group->what.tokens,
           bench_element_names[group->what.element], bench_pairing_names[row->pairing],
           bench_table_names[row->table == ROPE2D_TABLE_TEXTURE], where, (double)group->bytes / (1 << 20));
    if (!row->is_equal) {
        printf("no number: %s\n", row->why);
        return;
    }
    const struct bench_spread *counted = bench_counted(&row->timing);
    printf("%9.4f %9.4f %5.1f %7.2f", 1e3 * counted->median, 1e3 * row->timing.host.median,
           50 * (counted->high - counted->low) / counted->median, bench_rate(group, &row->timing));
    print_rate(group, BENCH_COPY);
    print_rate(group, BENCH_DRIVER_COPY);
    print_rate(group, BENCH_SCALE);
    print_rate(group, bench_limit_of(row));
    print_ratio(row->of[BENCH_COPY]);
    print_ratio(row->of[BENCH_SCALE]);
    print_ratio(bench_of_limit(row));
    if (group->what.purpose == BENCH_ONE_KERNEL)
        printf("  %s", row->kernel);
    printf("  equal%s\n", row->exactness == ROPE2D_EXACT_NORMAL ? " (normal)" : "");
}

void bench_print_group(const struct bench_group *group, bool is_first) {
    if (is_first)
        print_columns(group);
    for (uint32_t i = 0; i < group->row_count; ++i)
        print_row(group, &group->rows[i]);
    fflush(stdout);
}

static void print_time(double seconds, const char *end) {
    if (seconds < 0)
        printf("%10s%s", "-", end);
    else if (seconds < 1e-3)
        printf("%7.2f us%s", 1e6 * seconds, end);
    else
        printf("%7.2f ms%s", 1e3 * seconds, end);
}

void bench_print_overheads(const struct bench_results *results) {
    if (!results->overhead_count)
        return;
    printf(
        "\nOnce: f32, 1,024 tokens of 16 x 80. Plan: cold, of which the driver compiled, again after it was\n"
        "destroyed, warm in a new process with a cache, the same without its self-test, the same in f16, and "
        "in\n"
        "memory, while another of its structure is there. Apply: from host memory to host memory. Record, "
        "and the\n"
        "driver's commands alone.\n"
        "%-10s %10s %10s %10s %10s %10s %10s %10s %10s %10s %10s %10s %10s %10s\n",
        "device", "plan cold", "compiling", "again", "plan warm", "untested", "warm f16", "in memory",
        "positions", "1st apply", "next", "record", "commands", "enqueue");
    for (size_t i = 0; i < results->overhead_count; ++i) {
        const struct bench_overhead *each = &results->overheads[i];
        printf("%-10s ", each->device);
        print_time(each->plan_cold, " ");
        print_time(each->compile, " ");
        print_time(each->plan_again, " ");
        print_time(each->warm[0].plan, " ");
        print_time(each->warm[0].untested, " ");
        print_time(each->warm[1].plan, " ");
        print_time(each->plan_memory, " ");
        print_time(each->positions, " ");
        print_time(each->first_apply, " ");
        print_time(each->next_apply, " ");
        print_time(each->record, " ");
        print_time(each->bare_record, " ");
        print_time(each->enqueue, "\n");
    }
}

static void print_target(const struct bench_target *target) {
    const struct bench_unexplained *unexplained = &target->unexplained;
    char limit[16] = "-";
    if (target->reached >= 0)
        snprintf(limit, sizeof limit, "%.4g", target->reached);
    printf("%5u %5u %5u %5u %6u %9.4g %9.4g %9s  ", target->rows, target->rows_met, target->rows_explained,
           target->rows_unexplained, target->rows_beyond, target->worst, target->middle, limit);
    if (target->is_met)
        printf("pass\n");
    else
        printf("misses by %.3g: %s\n",
               target->worst > target->limit ? target->worst - target->limit : target->limit - target->worst,
               target->where);
    if (!target->rows_unexplained || strcmp(target->where, unexplained->where) == 0)
        return;
    snprintf(limit, sizeof limit, "-");
    if (unexplained->reached >= 0)
        snprintf(limit, sizeof limit, "%.4g", unexplained->reached);
    printf("%90s %30s %9.4g %9s %9s  has most to gain: %s\n", "", "", unexplained->value, "", limit,
           unexplained->where);
}

uint32_t bench_print_targets(const struct bench_results *results) {
    struct bench_target targets[BENCH_MOST_TARGETS];
    uint32_t count = bench_targets(results, targets), missed = 0;
    if (results->passes + results->again > 1)
        printf("\n%u pass%s", results->passes, results->passes > 1 ? "es" : "");
    if (results->again > 0)
        printf(", and up to %u more over cases with rows that were left", results->again);
    if (results->passes + results->again > 1)
        printf(": a row counts with the median of its own, which --json has of each.\n");
    printf("\nOf the rows: those that meet the target; those explained, which miss it but run as fast as\n"
           "their own limit (at least 0.95; of times at most 5 %% more, or of a warm plan, what is left\n"
           "without the driver's part meets the target); those left, of which the one that is farthest\n"
           "from its limit has a line of its own where it is not the worst; and beyond: of those left,\n"
           "those whose limit misses the target as well. Limit: what the limit makes of the row's place,\n"
           "and the driver of what happens once.\n"
           "%-52s %-37s %5s %5s %5s %5s %6s %9s %9s %9s\n",
           "target", "", "rows", "meet", "expl.", "left", "beyond", "worst", "median", "limit");
    for (uint32_t i = 0; i < count; ++i) {
        const struct bench_target *each = &targets[i];
        printf("%-52s %-37s ", each->what, each->target);
        if (each->is_measured)
            print_target(each);
        else
            printf("%5s %5s %5s %5s %6s %9s %9s %9s  not measured: %s\n", "-", "-", "-", "-", "-", "-", "-",
                   "-", each->where);
        missed += each->is_measured && !each->is_met;
    }
    return missed;
}
