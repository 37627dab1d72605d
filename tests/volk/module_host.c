// SPDX-License-Identifier: MIT
//
// Loads an engine that is a module, as a game or a plug-in's host does, and runs it: module_host MODULE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    int (*engine_main)(void) = NULL;
    void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void *found = module != NULL ? dlsym(module, "engine_main") : NULL;
    if (found == NULL) {
        fprintf(stderr, "module_host: %s\n", argc > 1 ? dlerror() : "which module?");
        return 1;
    }
    memcpy(&engine_main, &found, sizeof(engine_main));
    const int status = engine_main();
    return dlclose(module) == 0 ? status : 1;
}
