// SPDX-License-Identifier: MIT
//
// A small inference engine that owns OpenCL: its context, an out-of-order queue, its buffers and events.
// Between a kernel of its own that makes q and k and one that multiplies them, rope2d enqueues their
// rotation, with no copy to the host. It shows what a patch of an image attends to:
//     engine_opencl [PICTURE.png]
#include "engine_opencl.h"
#include "opencl_devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Every frame: the engine's events are all the order there is.
static rope2d_status draw(const engine *own, uint32_t frame, float scores[HEADS][TOKENS]) {
    static float features[TOKENS][FEATURES];
    const size_t elements = ELEMENTS, all = (size_t)HEADS * TOKENS;
    const cl_uint query = attention_query(frame);
    cl_event sent = NULL, projected = NULL, rotated = NULL, scored = NULL;
    attention_features(frame, features);
    clSetKernelArg(own->scores_kernel, 3, sizeof(query), &query);
    clEnqueueWriteBuffer(own->queue, own->values, CL_FALSE, 0, sizeof(features), features, 0, NULL, &sent);
    clEnqueueNDRangeKernel(own->queue, own->project_kernel, 1, NULL, &elements, NULL, 1, &sent, &projected);
    const rope2d_status status =
        rope2d_opencl_enqueue(own->rotation, own->queue, 0, TOKENS, 1, &projected, &rotated);
    if (status == ROPE2D_OK) {
        clEnqueueNDRangeKernel(own->queue, own->scores_kernel, 1, NULL, &all, NULL, 1, &rotated, &scored);
        clEnqueueReadBuffer(own->queue, own->scores, CL_FALSE, 0, all * sizeof(float), scores, 1, &scored,
                            NULL);
    }
    clFinish(own->queue);
    cl_event events[4] = {sent, projected, rotated, scored};
    for (int i = 0; i < 4; i++)
        if (events[i] != NULL)
            clReleaseEvent(events[i]);
    return status;
}

static int show(cl_device_id device, attention_picture picture) {
    static float scores[HEADS][TOKENS], expected[HEADS][TOKENS];
    char name[128] = "";
    int good = 1;
    engine own = {0};
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(name) - 1, name, NULL);
    rope2d_status status = engine_open(&own, device);
    for (uint32_t frame = 0; frame < FRAMES && status == ROPE2D_OK; frame++) {
        status = draw(&own, frame, scores);
        const int same = status == ROPE2D_OK && attention_expected(frame, expected) == ROPE2D_OK &&
                         memcmp(expected, scores, sizeof(scores)) == 0;
        printf("%s, frame %u: %s\n", name, frame, same ? "the CPU's scores, bit for bit" : "WRONG");
        attention_paint(frame, scores, picture);
        good &= same;
    }
    engine_close(&own);
    if (status != ROPE2D_OK)
        fprintf(stderr, "engine_opencl: %s\n", rope2d_status_name(status));
    return good && status == ROPE2D_OK;
}

int main(int argc, char **argv) {
    static attention_picture picture;
    cl_device_id devices[OPENCL_MOST_DEVICES];
    const cl_uint count = opencl_devices(devices);
    int good = 1;
    if (count == 0)
        puts("engine_opencl: no OpenCL device here");
    for (cl_uint i = 0; i < count; i++)
        good &= show(devices[i], picture);
    if (count > 0 && argc > 1 && !attention_save(argv[1], picture)) {
        fprintf(stderr, "engine_opencl: %s cannot be written\n", argv[1]);
        good = 0;
    }
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
