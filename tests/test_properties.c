// SPDX-License-Identifier: MIT
//
// What the mathematics promises, for random specs of 1 to 4 axes: relativity, orthogonality, inverses, and
// positions that can be read back from what they turned. Each check is also shown a wrong sign, a wrong axis
// and a wrong frequency, and must object.
#include "counter.h"
#include "rotations.h"

#include <math.h>
#include <string.h>

enum { TOKENS = 8, SPECS = 24, AXES = ROPE2D_MAX_AXES, CHANNELS = ROTATION_MAX_CHANNELS };

// Vectors u and v and positions p and q of a spec, and how large their q - p can turn.
struct problem {
    random_spec random;
    char name[160];
    float u[TOKENS][CHANNELS], v[TOKENS][CHANNELS]; // packed: [TOKENS][head_dim]
    float p[TOKENS * AXES], q[TOKENS * AXES], between[TOKENS * AXES], sum[TOKENS * AXES],
        minus[TOKENS * AXES];
    float a[TOKENS][CHANNELS], b[TOKENS][CHANNELS];
};

// Of q.k relative to the vectors' lengths: three rotations, each within 2.5 ulp of an output, in fp32.
static const double TOLERANCE = 2e-6;
// A fault turns a pair the wrong way by radians, which no rounding does.
static const double NOTICED = 1e-3;

static rope2d_device *device;

static float *vector(float (*all)[CHANNELS], const struct problem *problem, int token) {
    return &all[0][0] + (size_t)token * problem->random.spec.head_dim;
}

static void fill(struct problem *problem, uint32_t axes, uint64_t seed) {
    random_spec_fill(&problem->random, axes, seed);
    random_spec_describe(&problem->random, problem->name, sizeof(problem->name));
    counter_fill(problem->u, COUNTER_F32, COUNTER_BELL, seed, 2, 0, sizeof(problem->u) / sizeof(float));
    counter_fill(problem->v, COUNTER_F32, COUNTER_BELL, seed, 3, 0, sizeof(problem->v) / sizeof(float));
    uint32_t span = 2 * ROTATION_RANGE + 1;
    for (uint32_t i = 0; i < TOKENS * axes; i++) {
        problem->p[i] = (float)counter_below(counter_word(seed, 4, i), span) - ROTATION_RANGE;
        problem->q[i] = (float)counter_below(counter_word(seed, 5, i), span) - ROTATION_RANGE;
        problem->between[i] = problem->q[i] - problem->p[i];
        problem->sum[i] = problem->q[i] + problem->p[i];
        problem->minus[i] = -problem->p[i];
    }
}

static bool turn(const rope2d_spec *spec, const float *coordinates, float (*in)[CHANNELS],
                 float (*out)[CHANNELS]) {
    return rotate(device, spec, coordinates, TOKENS, in[0], out[0]);
}

static double largest_difference(const struct problem *problem, float (*a)[CHANNELS], float (*b)[CHANNELS]) {
    double largest = 0;
    uint32_t channels = problem->random.spec.head_dim;
    for (int t = 0; t < TOKENS; t++) {
        float difference[CHANNELS];
        for (uint32_t c = 0; c < channels; c++)
            difference[c] = vector(a, problem, t)[c] - vector(b, problem, t)[c];
        double relative = norm(difference, channels) / norm(vector(b, problem, t), channels);
        largest = fmax(largest, relative);
    }
    return largest;
}

// --------------------------------------------------------------------------------------------- relativity

// The largest |(R(p)u).(R'(q)v) - u.(R(q - p)v)| / (|u| |v|), R' of another spec for the keys.
static double relativity_violation(struct problem *problem, const rope2d_spec *keys) {
    const rope2d_spec *spec = &problem->random.spec;
    double products[TOKENS], largest = 0;
    uint32_t channels = spec->head_dim;
    if (!turn(spec, problem->p, problem->u, problem->a) || !turn(keys, problem->q, problem->v, problem->b))
        return INFINITY;
    for (int t = 0; t < TOKENS; t++)
        products[t] = dot(vector(problem->a, problem, t), vector(problem->b, problem, t), channels);
    if (!turn(spec, problem->between, problem->v, problem->b))
        return INFINITY;
    for (int t = 0; t < TOKENS; t++) {
        const float *u = vector(problem->u, problem, t), *v = vector(problem->v, problem, t);
        double relative = dot(u, vector(problem->b, problem, t), channels);
        double scale = norm(u, channels) * norm(v, channels);
        largest = fmax(largest, fabs(products[t] - relative) / scale);
    }
    return largest;
}

static void test_relativity(struct problem *problem) {
    rope2d_spec *spec = &problem->random.spec;
    double violation = relativity_violation(problem, spec);
    CHECK(violation <= TOLERANCE, "relativity: %s: %g", problem->name, violation);
    // Angles that are rounded to fp32 keep it only as far as their rounding: half an ulp of each.
    spec->angles = ROPE2D_ANGLES_FP32;
    violation = relativity_violation(problem, spec);
    double largest_angle = 2 * ROTATION_RANGE * 1.1 * (1 + 0.25 * (AXES - 1));
    double rounding = 3 * spec->axes * largest_angle * 0x1p-24;
    CHECK(violation <= TOLERANCE + rounding, "relativity with fp32 angles: %s: %g", problem->name, violation);
    spec->angles = ROPE2D_ANGLES_DOUBLE;
}

// ------------------------------------------------------------------------------- orthogonality and inverses

static void test_orthogonality(struct problem *problem) {
    const random_spec *random = &problem->random;
    if (!turn(&random->spec, problem->p, problem->u, problem->a))
        return;
    double largest = 0;
    for (int t = 0; t < TOKENS; t++) {
        const float *before = vector(problem->u, problem, t), *after = vector(problem->a, problem, t);
        for (uint32_t i = 0; i < random->pairs; i++) {
            double was = hypot(before[random->lo[i]], before[random->hi[i]]);
            double is = hypot(after[random->lo[i]], after[random->hi[i]]);
            largest = fmax(largest, fabs(is - was) / was);
        }
    }
    CHECK(largest <= TOLERANCE, "a pair keeps its length: %s: %g", problem->name, largest);
}

static void test_group(struct problem *problem) {
    rope2d_spec *spec = &problem->random.spec;
    if (!turn(spec, problem->p, problem->u, problem->a))
        return;
    turn(spec, problem->minus, problem->a, problem->b);
    double difference = largest_difference(problem, problem->b, problem->u);
    CHECK(difference <= TOLERANCE, "R(-p) R(p) = 1: %s: %g", problem->name, difference);

    for (int direction = ROPE2D_INVERSE; direction <= ROPE2D_TRANSPOSE; direction++) {
        spec->direction = (rope2d_direction)direction;
        turn(spec, problem->p, problem->a, problem->b);
        difference = largest_difference(problem, problem->b, problem->u);
        CHECK(difference <= TOLERANCE, "direction %d undoes R(p): %s: %g", direction, problem->name,
              difference);
    }
    spec->direction = ROPE2D_FORWARD;

    turn(spec, problem->q, problem->a, problem->b);
    turn(spec, problem->sum, problem->u, problem->a);
    difference = largest_difference(problem, problem->a, problem->b);
    CHECK(difference <= TOLERANCE, "R(q) R(p) = R(p + q): %s: %g", problem->name, difference);
}

// ---------------------------------------------------------------------------------------------- recovery

// Solves the symmetric system [n][n] x = right by elimination; false when it is singular.
static bool solve(uint32_t n, double matrix[AXES][AXES], const double *right, double *x) {
    double m[AXES][AXES + 1];
    for (uint32_t i = 0; i < n; i++) {
        memcpy(m[i], matrix[i], sizeof(matrix[i]));
        m[i][n] = right[i];
    }
    for (uint32_t c = 0; c < n; c++) {
        uint32_t pivot = c;
        for (uint32_t i = c + 1; i < n; i++)
            pivot = fabs(m[i][c]) > fabs(m[pivot][c]) ? i : pivot;
        if (fabs(m[pivot][c]) < 1e-12)
            return false;
        for (uint32_t j = 0; j <= n; j++) {
            double swapped = m[c][j];
            m[c][j] = m[pivot][j];
            m[pivot][j] = swapped;
        }
        for (uint32_t i = 0; i < n; i++) {
            double factor = i == c ? 0 : m[i][c] / m[c][c];
            for (uint32_t j = c; j <= n; j++)
                m[i][j] -= factor * m[c][j];
        }
    }
    for (uint32_t i = 0; i < n; i++)
        x[i] = m[i][n] / m[i][i];
    return true;
}

// Positions from the angles of a turned probe, modulo 2 pi: the slowest pairs, which cannot have gone round
// within the range, say roughly where; each faster one then knows how often it went round, and sharpens it.
// Returns the largest angle by which a pair disagrees with the result.
static double recover(const random_spec *random, const float *turned, double *position) {
    uint32_t axes = random->spec.axes, pairs = random->pairs, order[ROTATION_MAX_PAIRS];
    double speed[ROTATION_MAX_PAIRS] = {0}, matrix[AXES][AXES] = {{0}}, right[AXES] = {0}, worst = 0;
    for (uint32_t i = 0; i < pairs; i++) {
        for (uint32_t a = 0; a < axes; a++)
            speed[i] += fabs(random->freqs[a * pairs + i]);
        uint32_t j = i;
        for (; j > 0 && speed[order[j - 1]] > speed[i]; j--)
            order[j] = order[j - 1];
        order[j] = i;
    }
    bool is_known = false;
    for (uint32_t step = 0; step < 2 * pairs; step++) { // the second round only compares
        uint32_t i = order[step % pairs];
        double angle = atan2(turned[random->hi[i]], turned[random->lo[i]]), expected = 0;
        if (!is_known && speed[i] * ROTATION_RANGE >= 3.1)
            return INFINITY; // too fast for the range
        for (uint32_t a = 0; a < axes && is_known; a++)
            expected += random->freqs[a * pairs + i] * position[a];
        angle += 6.283185307179586 * round((expected - angle) / 6.283185307179586);
        if (step >= pairs) {
            worst = fmax(worst, fabs(angle - expected));
            continue;
        }
        for (uint32_t a = 0; a < axes; a++) {
            for (uint32_t b = 0; b < axes; b++)
                matrix[a][b] += (double)random->freqs[a * pairs + i] * random->freqs[b * pairs + i];
            right[a] += random->freqs[a * pairs + i] * angle;
        }
        is_known = solve(axes, matrix, right, position);
    }
    return worst;
}

// A probe: 1 in the first channel of each pair. Returns the largest error of a coordinate, and through
// *disagreement how far any pair is from the position found.
static double recovery_error(struct problem *problem, const rope2d_spec *turning, double *disagreement) {
    const random_spec *random = &problem->random;
    uint32_t axes = random->spec.axes;
    double largest = 0;
    *disagreement = 0;
    memset(problem->a, 0, sizeof(problem->a));
    for (int t = 0; t < TOKENS; t++)
        for (uint32_t i = 0; i < random->pairs; i++)
            vector(problem->a, problem, t)[random->lo[i]] = 1;
    if (!turn(turning, problem->p, problem->a, problem->b))
        return INFINITY;
    for (int t = 0; t < TOKENS; t++) {
        double position[AXES] = {0};
        double worst = recover(random, vector(problem->b, problem, t), position);
        *disagreement = fmax(*disagreement, worst);
        for (uint32_t a = 0; a < axes; a++)
            largest = fmax(largest, fabs(position[a] - problem->p[(uint32_t)t * axes + a]));
    }
    return largest;
}

static void test_recovery(struct problem *problem) {
    double disagreement, error = recovery_error(problem, &problem->random.spec, &disagreement);
    CHECK(error < 1e-4 && disagreement < 1e-4, "recovery: %s: off by %g, %g rad", problem->name, error,
          disagreement);
}

// A single pair goes round after 2 pi / f: positions beyond half of it are mistaken for others, by whole
// turns.
static void test_range(void) {
    static struct problem problem;
    random_spec *random = &problem.random;
    random_spec_fill(random, 1, 0);
    random->spec = (rope2d_spec){sizeof(random->spec), .head_dim = 2, .axes = 1, .freqs = random->freqs};
    random->pairs = 1;
    random->lo[0] = 0;
    random->hi[0] = 1;
    random->freqs[0] = 0.006f; // half a turn at 523.6
    const float places[TOKENS] = {0, 100, -500, 520, 528, 1000, -600, 2000};
    memcpy(problem.p, places, sizeof(places));
    double disagreement;
    recovery_error(&problem, &random->spec, &disagreement);
    for (int t = 0; t < TOKENS; t++) {
        double position[AXES] = {0};
        recover(random, vector(problem.b, &problem, t), position);
        double turns = (places[t] - position[0]) * random->freqs[0] / 6.283185307179586;
        double expected = round(places[t] * (double)random->freqs[0] / 6.283185307179586);
        CHECK(fabs(turns - expected) < 1e-5, "%g is read as %g: %g turns off, not %g", (double)places[t],
              position[0], turns, expected);
    }
}

// ---------------------------------------------------------------------------------------------- faults

static const char *const fault_names[] = {"sign", "axis", "frequency"};

// A fault in the fastest pair of the first axis.
static void make_fault(int fault, random_spec *random) {
    uint32_t pairs = random->pairs;
    for (uint32_t a = 0; a < random->spec.axes; a++) {
        float *f = &random->freqs[a * pairs];
        if (fault == 0)
            *f = -*f;
        else if (fault == 2)
            *f *= 1.01f;
    }
    if (fault == 1) {
        float swapped = random->freqs[0];
        random->freqs[0] = random->freqs[pairs];
        random->freqs[pairs] = swapped;
    }
}

static void test_faults(struct problem *problem, uint32_t axes, uint64_t seed) {
    static random_spec wrong;
    for (int fault = 0; fault < 3; fault++) {
        if (fault == 1 && axes == 1)
            continue; // there is no other axis
        random_spec_fill(&wrong, axes, seed);
        make_fault(fault, &wrong);
        double violation = relativity_violation(problem, &wrong.spec);
        CHECK(violation > NOTICED, "relativity misses a wrong %s: %s: %g", fault_names[fault], problem->name,
              violation);
        double disagreement;
        recovery_error(problem, &wrong.spec, &disagreement);
        CHECK(disagreement > NOTICED, "recovery misses a wrong %s: %s: %g", fault_names[fault], problem->name,
              disagreement);
    }
}

int main(void) {
    static struct problem problem;
    device = rotations_open();
    for (uint32_t axes = 1; axes <= AXES && device != NULL; axes++)
        for (uint64_t seed = 0; seed < SPECS; seed++) {
            fill(&problem, axes, seed);
            test_relativity(&problem);
            test_orthogonality(&problem);
            test_group(&problem);
            test_recovery(&problem);
            test_faults(&problem, axes, seed);
        }
    if (device != NULL)
        test_range();
    return rotations_finish(device);
}
