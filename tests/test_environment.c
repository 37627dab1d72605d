// SPDX-License-Identifier: MIT
//
// Variables that load code or kernels into a program with more rights than its user are as if they were not
// set: this program runs itself again as another user's, with the set-user-ID bit.
#include "backend.h"
#include "check.h"
#include "last_line.h"
#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534, IS_NOT_SECURE = 77 };

static const char *const variables[] = {"ROPE2D_SHADERS", "ROPE2D_VULKAN_LOADER", "ROPE2D_OPENCL_LOADER",
                                        "ROPE2D_CPU"};
enum { VARIABLES = sizeof variables / sizeof *variables };

static void check_devices(bool is_heard) {
    struct last_line line = {""};
    const rope2d_host host = {.struct_size = sizeof host, .user = &line, .log = last_line_keep};
    const rope2d_device_params params = {.struct_size = sizeof params, .host = &host};
    rope2d_device *device = NULL;
    uint32_t count = 0;
    for (int backend = ROPE2D_BACKEND_VULKAN; backend < ROPE2D_BACKEND_COUNT; backend++) {
        line.text[0] = '\0';
        const rope2d_status status = rope2d_enumerate((rope2d_backend)backend, &host, &count, NULL);
        const bool is_named = strstr(line.text, "/nowhere") != NULL;
        CHECK(is_named == (is_heard && strstr(line.text, "this build") == NULL), "backend %d: %s, \"%s\"",
              backend, rope2d_status_name(status), line.text);
    }
    if (!CHECK(rope2d_device_create(&params, &device) == ROPE2D_OK, "the CPU: %s", line.text))
        return;
    CHECK((device->shader_folder != NULL) == is_heard, "kernels of a folder: %s",
          device->shader_folder ? device->shader_folder : "none");
    rope2d_device_destroy(device);
}

// The program with more rights.
static int look(void) {
    if (getuid() == geteuid())
        return IS_NOT_SECURE; // a file system that has no such programs
    for (size_t i = 0; i < VARIABLES; i++) {
        CHECK(getenv(variables[i]) != NULL, "%s came along", variables[i]);
        CHECK(rope2d_environment(variables[i]) == NULL, "%s is ignored", variables[i]);
    }
    check_devices(false);
    return check_finish();
}

static bool copy(const char *to) {
    char command[SCRATCH_PATH + 64];
    snprintf(command, sizeof command, "cp /proc/%ld/exe '%s'", (long)getpid(), to);
    return system(command) == 0 && chmod(to, 04755) == 0;
}

static void check_more_rights(void) {
    char folder[SCRATCH_PATH], program[SCRATCH_PATH + 16];
    int status = 0;
    if (geteuid() != 0 || access("/proc/self/exe", R_OK) != 0) {
        check_skip("a program with more rights than its user: only root can make one here");
        return;
    }
    if (!CHECK(scratch_make(folder) && chmod(folder, 0755) == 0, "no folder"))
        return;
    snprintf(program, sizeof program, "%s/program", folder);
    CHECK(copy(program), "%s", program);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        if (setgid(NOBODY) == 0 && setuid(NOBODY) == 0)
            execl(program, program, "look", (char *)NULL);
        _exit(9);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status), "status %d", status);
    if (WEXITSTATUS(status) == IS_NOT_SECURE)
        check_skip("a program with more rights than its user: not in %s", folder);
    else
        CHECK(WEXITSTATUS(status) == 0, "with more rights than its user: exit status %d",
              WEXITSTATUS(status));
    scratch_remove(folder);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "look") == 0)
        return look();
    for (size_t i = 0; i < VARIABLES; i++)
        CHECK(setenv(variables[i], strcmp(variables[i], "ROPE2D_CPU") == 0 ? "portable" : "/nowhere", 1) == 0,
              "setenv");
    for (size_t i = 0; i < VARIABLES; i++)
        CHECK(rope2d_environment(variables[i]) != NULL, "%s is heard", variables[i]);
    check_devices(true);
    check_more_rights();
    return check_finish();
}
