// SPDX-License-Identifier: MIT
//
// Bytes under keys, in memory of the host's allocator: what a backend knows of kernels that are compiled.
// They are its part of a cache: one after the other a key of 32 bytes, a length of 8, little-endian, and so
// many bytes. A list that is NULL is empty. Not thread-safe: whoever has the list has a lock.
#ifndef ROPE2D_RECORDS_H
#define ROPE2D_RECORDS_H

#include "cache.h"

typedef struct rope2d_record {
    struct rope2d_record *next;
    rope2d_digest key;
    unsigned char *bytes; // behind it, aligned as it is
    uint64_t size;        // at least 1
    bool is_bad;          // neither found nor written any more
} rope2d_record;

rope2d_record *rope2d_record_find(rope2d_record *list, const rope2d_digest *key);
// In front, with a copy of the bytes; NULL: zeros.
rope2d_status rope2d_record_add(const rope2d_host *host, rope2d_record **list, const rope2d_digest *key,
                                const void *bytes, uint64_t size);
// One of the list's.
void rope2d_record_remove(const rope2d_host *host, rope2d_record **list, rope2d_record *record);
// Of an empty list no bytes.
rope2d_status rope2d_records_write(const rope2d_host *host, const rope2d_record *list, rope2d_blob *part);
// Adds those whose keys are not there, behind the others: what is read is written in the same order. Adds
// none where one is empty or cut off, or they are more than ROPE2D_MOST_RECORDS, or memory is out.
#define ROPE2D_MOST_RECORDS 4096
rope2d_status rope2d_records_read(const rope2d_host *host, rope2d_record **list, const unsigned char *part,
                                  uint64_t size);

#endif
