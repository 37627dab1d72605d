// SPDX-License-Identifier: MIT
//
// What the tests of a failing OpenCL share: lives that are lived again and again, with one call of the driver
// or one request for memory failing each time.
#ifndef TEST_OPENCL_FAULTS_H
#define TEST_OPENCL_FAULTS_H

#include "jobs.h"
#include "opencl_shim.h"

// A host that counts, and runs out of memory at one request.
typedef struct counting_host {
    long requests;
    long fail_at; // 0: never
    long alive;
    unsigned lines; // of errors in the log
    char last[512]; // error
} counting_host;

rope2d_host faults_host(counting_host *counting);

// From making a device to destroying it, with its result. Returns the first status that was not OK.
typedef struct life life;
struct life {
    rope2d_status (*live)(const life *way, const rope2d_host *host, job_result *result);
    test_job job;
    uint32_t plan_flags;
    bool retries; // what failed is done once more and must then succeed: there is a result in any case
    bool spare;   // some calls may fail without harm
};

// Puts the shim before the loader.
bool faults_open(const char *path);
// Devices that fail from one call on, until they are destroyed: what is made of `way` then says so each time.
void faults_check_lost(tally *counts, const life *way, const int *codes, unsigned code_count);
// How many calls and requests of memory failed so far.
unsigned long faults_points(void);
void faults_check_life(tally *counts, const life *way, const int *codes, unsigned code_count);

#endif
