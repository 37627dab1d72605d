// SPDX-License-Identifier: MIT
// The names of the statuses, the log, memory.
#include "check.h"
#include "config.h"
#include "fake_device.h"

#include <stdio.h>
#include <string.h>

// Every constant of the enumeration, by its own text.
#define NAMED(status)                                                                                        \
    { status, #status }
static const struct {
    rope2d_status status;
    const char *name;
} statuses[] = {
    NAMED(ROPE2D_OK),
    NAMED(ROPE2D_ERROR_NULL),
    NAMED(ROPE2D_ERROR_STRUCT_SIZE),
    NAMED(ROPE2D_ERROR_ENUM),
    NAMED(ROPE2D_ERROR_HEAD_DIM),
    NAMED(ROPE2D_ERROR_ROTARY_RANGE),
    NAMED(ROPE2D_ERROR_ROTARY_ODD),
    NAMED(ROPE2D_ERROR_PAIRING),
    NAMED(ROPE2D_ERROR_AXES),
    NAMED(ROPE2D_ERROR_FREQUENCY),
    NAMED(ROPE2D_ERROR_MAGNITUDE),
    NAMED(ROPE2D_ERROR_DIRECTION),
    NAMED(ROPE2D_ERROR_COORDINATE),
    NAMED(ROPE2D_ERROR_ROW),
    NAMED(ROPE2D_ERROR_TOKENS),
    NAMED(ROPE2D_ERROR_BATCH),
    NAMED(ROPE2D_ERROR_HEADS),
    NAMED(ROPE2D_ERROR_TENSOR_SIZE),
    NAMED(ROPE2D_ERROR_TENSOR_ALIGNMENT),
    NAMED(ROPE2D_ERROR_STRIDE),
    NAMED(ROPE2D_ERROR_OVERLAP),
    NAMED(ROPE2D_ERROR_IN_PLACE_TYPE),
    NAMED(ROPE2D_ERROR_MISMATCH),
    NAMED(ROPE2D_ERROR_LIMIT),
    NAMED(ROPE2D_ERROR_BACKEND_MISSING),
    NAMED(ROPE2D_ERROR_DEVICE_INDEX),
    NAMED(ROPE2D_ERROR_UNSUPPORTED),
    NAMED(ROPE2D_ERROR_HOST_MEMORY),
    NAMED(ROPE2D_ERROR_DEVICE_MEMORY),
    NAMED(ROPE2D_ERROR_DEVICE_LOST),
    NAMED(ROPE2D_ERROR_DRIVER),
    NAMED(ROPE2D_ERROR_COMPILE),
    NAMED(ROPE2D_NOT_READY),
    NAMED(ROPE2D_ERROR_CACHE),
};

static void test_names(void) {
    const int count = (int)(sizeof(statuses) / sizeof(*statuses));
    CHECK(count == (int)ROPE2D_STATUS_COUNT, "this test names %d statuses of %d", count,
          (int)ROPE2D_STATUS_COUNT);
    for (int i = 0; i < count; i++)
        CHECK(strcmp(rope2d_status_name(statuses[i].status), statuses[i].name) == 0, "%s is called %s",
              statuses[i].name, rope2d_status_name(statuses[i].status));
    CHECK(strcmp(rope2d_status_name((rope2d_status)ROPE2D_STATUS_COUNT), "ROPE2D_STATUS_UNKNOWN") == 0 &&
              strcmp(rope2d_status_name((rope2d_status)4711), "ROPE2D_STATUS_UNKNOWN") == 0 &&
              strcmp(rope2d_status_name((rope2d_status)-1), "ROPE2D_STATUS_UNKNOWN") == 0,
          "other numbers are unknown");
}

// The build's version, the header's and the library's.
static void test_version(void) {
    char text[32];
    const uint32_t version = rope2d_version();
    (void)snprintf(text, sizeof(text), "%u.%u.%u", (unsigned)(version / 1000000),
                   (unsigned)(version / 1000 % 1000), (unsigned)(version % 1000));
    CHECK(strcmp(text, ROPE2D_VERSION) == 0, "the library says %s, the build " ROPE2D_VERSION, text);
    CHECK(version == ROPE2D_VERSION_MAJOR * 1000000u + ROPE2D_VERSION_MINOR * 1000u + ROPE2D_VERSION_PATCH,
          "the header's version");
}

static void test_host(void) {
    struct fake_device fake;
    fake_device_init(&fake);
    const rope2d_host *host = &fake.device.host;
    char word[1500];
    memset(word, 'x', sizeof(word) - 1);
    word[sizeof(word) - 1] = 0;
    (void)rope2d_fail(host, ROPE2D_ERROR_DRIVER, "%s", word);
    CHECK(strlen(fake.line) == 1023, "a long line is cut");
    rope2d_log_text(host, ROPE2D_LOG_INFO, word);
    CHECK(strlen(fake.line) == 1499, "a text is not");
    CHECK(rope2d_fail(NULL, ROPE2D_ERROR_LIMIT, "nobody listens") == ROPE2D_ERROR_LIMIT, "no host, no log");
    CHECK(rope2d_allocate(host, UINT64_MAX, 2) == NULL && rope2d_allocate(host, 0, 4) == NULL &&
              fake.requests == 0,
          "sizes that overflow, and none");
    rope2d_host plain = rope2d_host_resolve(NULL);
    unsigned char *memory = rope2d_allocate(&plain, 1001, 3);
    bool good = memory != NULL && (uintptr_t)memory % 64 == 0;
    for (size_t i = 0; good && i < 3003; i++)
        good = memory[i] == 0;
    rope2d_release(&plain, memory, 1001, 3);
    CHECK(good && plain.threads >= 1 && rope2d_threads(&plain) >= 1, "the default host");
}

int main(void) {
    test_names();
    test_version();
    test_host();
    return check_finish();
}
