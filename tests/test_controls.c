// SPDX-License-Identifier: MIT
// Faults that the harness must catch: the program fails where one goes unnoticed. Contraction comes from the
// very text of the portable path, compiled so; it is put in the library's place by defining its function
// here. The other faults are specs that say something else than the truth was asked for.
#include "cpu/portable.h"
#include "harness/run.h"
#include "harness/verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 20260729

rope2d_cpu_kernel plain_kernel, contracted_kernel;
uint32_t plain_convert(uint32_t from, uint32_t to, uint32_t bits);

static bool contracts;

void rope2d_portable_rotate(const rope2d_cpu_run *run) {
    (contracts ? contracted_kernel : plain_kernel)(run);
}

uint32_t rope2d_portable_convert(uint32_t from, uint32_t to, uint32_t bits) {
    return plain_convert(from, to, bits);
}

struct control {
    struct harness_device device;
    struct harness_work work;
    struct harness_truth truth;
    unsigned char **blocks;
    char bits[HARNESS_TEXT_SIZE], bound[HARNESS_TEXT_SIZE], guards[HARNESS_TEXT_SIZE];
    bool bits_hold, bound_holds, guards_hold;
};

static void end(struct control *control) {
    harness_blocks_free(&control->work, control->blocks);
    harness_truth_free(&control->truth, &control->work);
    harness_work_free(&control->work);
    harness_device_close(&control->device);
}

static bool begin(struct control *control, const char *name, struct harness_types types) {
    uint64_t dispatches;
    contracts = false;
    memset(control, 0, sizeof(*control));
    if (harness_device_open(&control->device, ROPE2D_BACKEND_CPU, 0, ROPE2D_DEVICE_PORTABLE, false) !=
            ROPE2D_OK ||
        !harness_work_make(&control->work, harness_case_find(name), types, SEED))
        return false;
    struct harness_work *work = &control->work;
    if ((work->what->flags & HARNESS_CANCELLING) != 0 &&
        harness_run_cancel(&control->device, work) != ROPE2D_OK)
        return false;
    control->truth.blocks = harness_blocks_copy(work);
    control->blocks = harness_blocks_copy(work);
    return control->truth.blocks != NULL && control->blocks != NULL &&
           harness_run(&control->device, work, ROPE2D_TABLE_BUFFER, control->truth.blocks, &dispatches) ==
               ROPE2D_OK &&
           harness_truth_ask(&control->truth, work);
}

// Runs with whatever is wrong by now, and takes the three verdicts.
static bool run(struct control *control) {
    uint64_t dispatches;
    double worst;
    // The plan that is kept is of the right spec.
    harness_device_close(&control->device);
    rope2d_status status =
        harness_device_open(&control->device, ROPE2D_BACKEND_CPU, 0, ROPE2D_DEVICE_PORTABLE, false);
    if (status == ROPE2D_OK)
        status =
            harness_run(&control->device, &control->work, ROPE2D_TABLE_BUFFER, control->blocks, &dispatches);
    if (status != ROPE2D_OK)
        printf("     %s\n%s", rope2d_status_name(status), control->device.log.text);
    control->bits_hold =
        harness_verdict_bits(&control->work, &control->truth, control->blocks, false, control->bits);
    control->bound_holds = harness_verdict_oracle(&control->work, &control->truth, control->blocks, false,
                                                  &worst, control->bound);
    control->guards_hold = harness_verdict_guards(&control->work, control->blocks, control->guards);
    return status == ROPE2D_OK;
}

typedef void fault_fn(struct control *control);

// The plain run passes; the faulty one runs, and both the bits and, where asked for, the bound catch it.
static void expect_caught(struct harness_report *report, const char *what, const char *name,
                          struct harness_types types, fault_fn *fault, bool by_bound) {
    static struct control control;
    bool good = begin(&control, name, types) && run(&control) && control.bits_hold && control.bound_holds &&
                control.guards_hold;
    harness_check(report, good, "%s: before the fault, %s does not pass\n     %s\n     %s", what, name,
                  control.bits, control.bound);
    if (good) {
        fault(&control);
        bool ran = run(&control);
        harness_check(report, ran && !control.bits_hold && (!by_bound || !control.bound_holds),
                      "%s in %s goes unnoticed: the bits %s, the oracle's bound %s", what, name,
                      control.bits_hold ? "are equal" : "differ",
                      control.bound_holds ? "holds" : "does not hold");
        harness_check(report, control.guards_hold, "%s: %s", what, control.guards);
    }
    end(&control);
}

static void contract(struct control *control) {
    (void)control;
    contracts = true;
}

static void swap_axes(struct control *control) {
    struct harness_spec *spec = &control->work.spec;
    size_t count = (size_t)spec->spec.freq_heads * spec->pairs;
    for (size_t i = 0; i < count; i++) {
        float other = spec->freqs[i];
        spec->freqs[i] = spec->freqs[count + i];
        spec->freqs[count + i] = other;
    }
}

static void pair_otherwise(struct control *control) {
    rope2d_spec *spec = &control->work.spec.spec;
    spec->pairing = spec->pairing == ROPE2D_PAIRING_HALF ? ROPE2D_PAIRING_INTERLEAVED : ROPE2D_PAIRING_HALF;
}

static void turn_back(struct control *control) {
    control->work.spec.spec.direction = ROPE2D_INVERSE;
}

static void shift_positions(struct control *control) {
    struct harness_positions *positions = &control->work.positions[0];
    for (size_t i = 0; i < positions->tokens * control->work.spec.spec.axes; i++)
        positions->coordinates[i] += 1.0f;
}

static void rotate_the_prefix(struct control *control) {
    control->work.positions[0].unrotated_count = 0;
}

static void change_angles(struct control *control) {
    control->work.spec.spec.angles = ROPE2D_ANGLES_FP32;
}

// Four units in the last place of one input, far down in a tensor.
static void change_one_input(struct control *control) {
    const struct harness_tensor *tensor = &control->work.tensors[1];
    size_t at = harness_side_at(&control->work, &tensor->in, 0, tensor->tokens - 1, tensor->heads - 1);
    control->blocks[tensor->in.block][at] ^= 4;
    control->work.blocks[tensor->in.block].memory[at] ^= 4;
}

// The guards' own control: an element beside the tensor, written once.
static void expect_guard(struct harness_report *report) {
    static struct control control;
    const struct harness_types types = {ROPE2D_F16, ROPE2D_F16};
    bool good = begin(&control, "odd_half_split_in_place", types) && run(&control) && control.guards_hold;
    harness_check(report, good, "guards: before the fault: %s", control.guards);
    if (good) {
        const struct harness_tensor *tensor = &control.work.tensors[0];
        size_t behind = harness_side_at(&control.work, &tensor->out, 0, 0, 0) +
                        control.work.spec.spec.head_dim * sizeof(uint16_t);
        control.blocks[tensor->out.block][behind] ^= 0x80;
        harness_check(
            report,
            !harness_verdict_guards(&control.work, control.blocks, control.guards) &&
                harness_verdict_bits(&control.work, &control.truth, control.blocks, false, control.bits),
            "a half-word written behind a head goes unnoticed");
    }
    end(&control);
}

static bool processor_fuses(void) {
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("fma");
#else
    return true;
#endif
}

int main(void) {
    struct harness_report report = {0};
    const struct harness_types f32 = {ROPE2D_F32, ROPE2D_F32};
    const struct harness_types f16 = {ROPE2D_F16, ROPE2D_F16};
    const struct harness_types bf16 = {ROPE2D_BF16, ROPE2D_F32};
    if (HARNESS_CONTRACTS && processor_fuses()) {
        expect_caught(&report, "contraction", "interleaved", f32, contract, false);
        expect_caught(&report, "contraction", "odd_half_split", f32, contract, false);
        expect_caught(&report, "contraction", "half", f16, contract, false);
        expect_caught(&report, "contraction", "two_angles", bf16, contract, false);
        expect_caught(&report, "contraction", "cancelling_pairs", f32, contract, false);
    } else {
        harness_skip(&report, "contraction: this compiler or this processor does not fuse");
    }
    expect_caught(&report, "a swapped axis", "interleaved", f32, swap_axes, true);
    expect_caught(&report, "a swapped axis", "dense", f16, swap_axes, true);
    expect_caught(&report, "a wrong pairing", "half", f32, pair_otherwise, true);
    expect_caught(&report, "a wrong pairing", "interleaved", f16, pair_otherwise, true);
    expect_caught(&report, "a wrong sign", "half", f32, turn_back, true);
    expect_caught(&report, "a wrong sign", "interleaved", bf16, turn_back, true);
    expect_caught(&report, "positions that begin at 1", "half", f32, shift_positions, true);
    expect_caught(&report, "a prefix that rotates", "unrotated_prefix", f16, rotate_the_prefix, true);
    expect_caught(&report, "angles formed in fp32", "far", f32, change_angles, true);
    expect_caught(&report, "one input a little off", "even_gaps", f32, change_one_input, false);
    expect_guard(&report);
    return harness_finish(&report);
}
