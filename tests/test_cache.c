// SPDX-License-Identifier: MIT
//
// The format of caches without a driver: whatever is cut off, changed, foreign or of another version is told
// from what was written.
#include "cache.h"
#include "check.h"
#include "harness/digest.h"

#include <string.h>

enum { PART_BYTES = 300 };

static unsigned char part_bytes[PART_BYTES];
static const rope2d_digest key = {{1, 2, 3, 200}};

static void hash_of(const void *data, size_t size, char hex[65]) {
    rope2d_sha256 hash;
    rope2d_sha256_begin(&hash);
    rope2d_sha256_add(&hash, data, size / 3);
    rope2d_sha256_add(&hash, (const unsigned char *)data + size / 3, size - size / 3);
    digest_end(&hash, hex);
}

// By Python's hashlib: a block, two, none, and the hash of the hashes of all lengths to 300.
static void check_hash(void) {
    static const struct {
        const char *text, *hash;
    } known[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    unsigned char text[300];
    char found[65];
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        hash_of(known[i].text, strlen(known[i].text), found);
        CHECK(strcmp(found, known[i].hash) == 0, "\"%s\": %s", known[i].text, found);
    }
    rope2d_sha256 all;
    rope2d_sha256_begin(&all);
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (unsigned char)(i * 31 + 5);
    for (size_t size = 0; size <= sizeof(text); size++) {
        hash_of(text, size, found);
        rope2d_sha256_add(&all, found, 64);
    }
    digest_end(&all, found);
    CHECK(strcmp(found, "7a1976e2f8040b730b93a404ad996a8ae2891f409468aa3177bbb62d94b0e1a6") == 0,
          "all lengths: %s", found);
}

static const char *unpack(const unsigned char *data, uint64_t size) {
    const unsigned char *part = NULL;
    uint64_t part_size = 0;
    const char *wrong = rope2d_cache_unpack(ROPE2D_BACKEND_OPENCL, &key, data, size, &part, &part_size);
    if (!wrong && (part_size != PART_BYTES || memcmp(part, part_bytes, PART_BYTES) != 0))
        return "the part is another";
    CHECK(!wrong || (!part && part_size == 0), "what is wrong is handed out");
    return wrong;
}

static void check_damage(rope2d_blob *packed) {
    const unsigned char *part = NULL;
    uint64_t part_size = 0;
    CHECK(!unpack(packed->bytes, packed->size), "what was packed: %s", unpack(packed->bytes, packed->size));
    for (uint64_t size = 0; size < packed->size; size++)
        CHECK(unpack(packed->bytes, size), "cut off after %u bytes", (unsigned)size);
    for (uint64_t i = 0; i < packed->size; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            packed->bytes[i] ^= (unsigned char)(1u << bit);
            CHECK(unpack(packed->bytes, packed->size), "bit %u of byte %u is another", bit, (unsigned)i);
            packed->bytes[i] ^= (unsigned char)(1u << bit);
        }
    }
    rope2d_digest other = key;
    other.bytes[31] = 1;
    CHECK(rope2d_cache_unpack(ROPE2D_BACKEND_OPENCL, &other, packed->bytes, packed->size, &part, &part_size),
          "a foreign key");
    CHECK(rope2d_cache_unpack(ROPE2D_BACKEND_VULKAN, &key, packed->bytes, packed->size, &part, &part_size),
          "another backend");
}

// Headers that are told apart before anything is read past the end.
static void check_headers(const rope2d_blob *packed) {
    static const uint64_t lengths[] = {
        0,          PART_BYTES - 1, PART_BYTES + 1, ROPE2D_CACHE_MOST_BYTES,
        UINT32_MAX, INT64_MAX,      UINT64_MAX,     UINT64_MAX - (ROPE2D_CACHE_HEADER_BYTES - 1)};
    unsigned char bytes[ROPE2D_CACHE_HEADER_BYTES + PART_BYTES];
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        memcpy(bytes, packed->bytes, sizeof(bytes));
        rope2d_write_64(bytes + 48, lengths[i]);
        CHECK(strstr(unpack(bytes, sizeof(bytes)), "length"), "a length of %llx",
              (unsigned long long)lengths[i]);
    }
    for (unsigned version = 0; version < 4; version++) {
        memcpy(bytes, packed->bytes, sizeof(bytes));
        bytes[8] = (unsigned char)version;
        const char *wrong = unpack(bytes, sizeof(bytes));
        CHECK(version == ROPE2D_CACHE_VERSION ? !wrong : strstr(wrong, "version") != NULL, "version %u",
              version);
    }
}

int main(void) {
    const rope2d_host host = rope2d_host_resolve(NULL);
    rope2d_blob part = {part_bytes, PART_BYTES}, packed, none = {NULL, 0};
    for (size_t i = 0; i < PART_BYTES; i++)
        part_bytes[i] = (unsigned char)(i * i);
    check_hash();
    CHECK(rope2d_cache_pack(&host, ROPE2D_BACKEND_OPENCL, &key, &part, &packed) == ROPE2D_OK, "pack");
    check_damage(&packed);
    check_headers(&packed);
    rope2d_blob_release(&host, &packed);
    CHECK(rope2d_cache_pack(&host, ROPE2D_BACKEND_OPENCL, &key, &none, &packed) == ROPE2D_OK &&
              packed.size == ROPE2D_CACHE_HEADER_BYTES,
          "an empty part");
    rope2d_blob_release(&host, &packed);
    part.size = ROPE2D_CACHE_MOST_BYTES + 1;
    CHECK(rope2d_cache_pack(&host, ROPE2D_BACKEND_OPENCL, &key, &part, &packed) == ROPE2D_ERROR_LIMIT,
          "more than the limit");
    return check_finish();
}
