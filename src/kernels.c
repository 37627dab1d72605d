// SPDX-License-Identifier: MIT
#include "kernels.h"

#include "backend.h"
#include "lock.h"

struct rope2d_kernels {
    struct rope2d_kernels *next;
    rope2d_plan made; // owns the pattern and the backend's part
    uint64_t plans;   // that have them
    bool is_kept;
    rope2d_exactness verdict;
};

struct rope2d_kernel_list {
    rope2d_lock lock;
    struct rope2d_kernels *first; // guarded by the lock, as is all that hangs on it but `made`
};

rope2d_status rope2d_kernel_list_create(rope2d_device *device) {
    const rope2d_host *host = &device->host;
    device->kernels = rope2d_allocate(host, 1, sizeof(*device->kernels));
    if (!device->kernels)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "no memory for a list of kernels: %zu bytes",
                           sizeof(*device->kernels));
    if (!rope2d_lock_create(&device->kernels->lock))
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "the system has no lock left");
    return ROPE2D_OK;
}

static void destroy(struct rope2d_kernels *kernels) {
    const rope2d_device *device = kernels->made.device;
    device->ops->plan_destroy(&kernels->made);
    rope2d_pattern_destroy(&kernels->made.pattern, &device->host);
    rope2d_release(&device->host, kernels, 1, sizeof(*kernels));
}

void rope2d_kernel_list_destroy(rope2d_device *device) {
    struct rope2d_kernel_list *list = device->kernels;
    if (!list)
        return;
    while (list->first) {
        struct rope2d_kernels *next = list->first->next;
        destroy(list->first);
        list->first = next;
    }
    rope2d_lock_destroy(&list->lock);
    rope2d_release(&device->host, list, 1, sizeof(*list));
    device->kernels = NULL;
}

static bool are_equal(const rope2d_plan *a, const rope2d_plan *b) {
    return a->in == b->in && a->out == b->out && a->table_kind == b->table_kind &&
           rope2d_pattern_equal(&a->pattern, &b->pattern);
}

// One more plan has those of the same structure, if there are any; NULL else. Under the lock.
static struct rope2d_kernels *find(const struct rope2d_kernel_list *list, const rope2d_plan *plan) {
    for (struct rope2d_kernels *at = list->first; at; at = at->next) {
        if (are_equal(&at->made, plan)) {
            at->plans++;
            return at;
        }
    }
    return NULL;
}

static void share(rope2d_plan *plan, struct rope2d_kernels *kernels) {
    *plan = kernels->made;
    plan->kernels = kernels;
}

// Into the list, unless another thread has been faster.
static void insert(rope2d_plan *plan, struct rope2d_kernels *made) {
    struct rope2d_kernel_list *list = plan->device->kernels;
    made->made = *plan;
    made->made.exactness = ROPE2D_UNTESTED; // of plans that decline the test
    made->verdict = plan->exactness;
    made->plans = 1;
    rope2d_lock_take(&list->lock);
    struct rope2d_kernels *other = find(list, plan);
    if (!other) {
        made->next = list->first;
        list->first = made;
    }
    rope2d_lock_give(&list->lock);
    if (other)
        destroy(made);
    share(plan, other ? other : made);
}

rope2d_status rope2d_kernels_take(rope2d_plan *plan, bool may_compile, bool *compiled) {
    const rope2d_device *device = plan->device;
    struct rope2d_kernel_list *list = device->kernels;
    *compiled = false;
    rope2d_lock_take(&list->lock);
    struct rope2d_kernels *there = find(list, plan);
    rope2d_lock_give(&list->lock);
    if (there) {
        rope2d_pattern_destroy(&plan->pattern, &device->host);
        share(plan, there);
        return ROPE2D_OK;
    }
    if (!may_compile && device->backend != ROPE2D_BACKEND_CPU) {
        rope2d_log(&device->host, ROPE2D_LOG_INFO, "no kernels for this plan are on %s yet",
                   device->info.name);
        return ROPE2D_NOT_READY;
    }
    struct rope2d_kernels *made = rope2d_allocate(&device->host, 1, sizeof(*made));
    if (!made)
        return rope2d_fail(&device->host, ROPE2D_ERROR_HOST_MEMORY, "no memory for kernels: %zu bytes",
                           sizeof(*made));
    const rope2d_status status = device->ops->plan_create(plan);
    if (status != ROPE2D_OK) {
        rope2d_release(&device->host, made, 1, sizeof(*made));
        return status;
    }
    insert(plan, made);
    *compiled = true;
    return ROPE2D_OK;
}

void rope2d_kernels_give(rope2d_plan *plan) {
    struct rope2d_kernels *kernels = plan->kernels;
    struct rope2d_kernel_list *list = plan->device->kernels;
    rope2d_lock_take(&list->lock);
    const bool is_last = --kernels->plans == 0 && !kernels->is_kept;
    if (is_last) {
        struct rope2d_kernels **at = &list->first;
        while (*at != kernels)
            at = &(*at)->next;
        *at = kernels->next;
    }
    rope2d_lock_give(&list->lock);
    if (is_last)
        destroy(kernels);
    plan->kernels = NULL;
}

void rope2d_kernels_keep(const rope2d_plan *plan) {
    struct rope2d_kernel_list *list = plan->device->kernels;
    rope2d_lock_take(&list->lock);
    plan->kernels->is_kept = true;
    rope2d_lock_give(&list->lock);
}

rope2d_exactness rope2d_kernels_verdict(const rope2d_plan *plan) {
    struct rope2d_kernel_list *list = plan->device->kernels;
    rope2d_lock_take(&list->lock);
    const rope2d_exactness exactness = plan->kernels->verdict;
    rope2d_lock_give(&list->lock);
    return exactness;
}

void rope2d_kernels_set_verdict(const rope2d_plan *plan, rope2d_exactness exactness) {
    struct rope2d_kernel_list *list = plan->device->kernels;
    rope2d_lock_take(&list->lock);
    plan->kernels->verdict = exactness;
    rope2d_lock_give(&list->lock);
}

rope2d_converts rope2d_kernels_converts(const rope2d_device *device) {
    rope2d_lock_take(&device->kernels->lock);
    const rope2d_converts converts = device->converts;
    rope2d_lock_give(&device->kernels->lock);
    return converts;
}

void rope2d_kernels_set_converts(rope2d_device *device, rope2d_converts converts) {
    rope2d_lock_take(&device->kernels->lock);
    device->converts = converts;
    rope2d_lock_give(&device->kernels->lock);
}
