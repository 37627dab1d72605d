// SPDX-License-Identifier: MIT
//
// A driver that fails at each call in turn, and a host that is out of memory at each request in turn: always
// a status and a line in the log, never a crash, nothing left over. Takes the path of opencl_shim.
#include "opencl_faults.h"

#include <stdio.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

static tally counts;

static rope2d_status live(const life *way, const rope2d_host *host, job_result *result) {
    const rope2d_device_params params = {
        .struct_size = sizeof(params), .backend = ROPE2D_BACKEND_OPENCL, .index = 0, .host = host};
    rope2d_device *device = NULL;
    rope2d_status status = rope2d_device_create(&params, &device);
    if (status == ROPE2D_OK)
        status = job_run(&way->job, device, way->plan_flags, result);
    rope2d_device_destroy(device);
    return status;
}

int main(int argc, char **argv) {
    static const int codes[] = {CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES,      CL_DEVICE_NOT_AVAILABLE,
                                CL_INVALID_VALUE,      CL_BUILD_PROGRAM_FAILURE, -9999};
    static const life ways[] = {
        {live,
         {.shape = JOB_HALF, .layout = JOB_IN_PLACE, .table = ROPE2D_TABLE_BUFFER, .batch = 2, .tokens = 9},
         ROPE2D_PLAN_NO_SELF_TEST,
         false,
         false},
        {live,
         {.shape = JOB_ODD,
          .layout = JOB_FUSED,
          .in = ROPE2D_F16,
          .out = ROPE2D_F16,
          .batch = 1,
          .tokens = 3},
         ROPE2D_PLAN_NO_SELF_TEST,
         false,
         false},
    };
    static const life textured = {live,
                                  {.shape = JOB_ODD, .table = ROPE2D_TABLE_TEXTURE, .batch = 1, .tokens = 3},
                                  ROPE2D_PLAN_NO_SELF_TEST,
                                  false,
                                  false};
    static const life tested = {live, {.shape = JOB_HALF, .batch = 1, .tokens = 3}, 0, false, false};
    static rope2d_device_info infos[OPENCL_MAX_DEVICES];
    if (argc < 2 || !faults_open(argv[1])) {
        printf("%s cannot be opened\n", argc < 2 ? "the shim" : argv[1]);
        return 1;
    }
    uint32_t count = opencl_test_list(&counts, infos);
    if (count == 0) {
        opencl_test_required(&counts, infos, count);
        return tally_finish(&counts);
    }
    for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        faults_check_life(&counts, &ways[i], codes, i == 0 ? sizeof(codes) / sizeof(codes[0]) : 1);
    if (infos[0].has_textures)
        faults_check_life(&counts, &textured, codes, 1);
    else
        counts.skipped++;
    faults_check_life(&counts, &tested, &codes[1], 1);
    faults_check_lost(&counts, &ways[0], &codes[1], 2);
    printf("%lu calls of the driver and requests of memory failed in turn\n", faults_points());
    return tally_finish(&counts);
}
