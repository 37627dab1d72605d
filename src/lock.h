// SPDX-License-Identifier: MIT
//
// A mutual exclusion that needs no <threads.h>, which some C libraries lack. Zeroed memory is no lock: create
// first, and destroy what was created.
#ifndef ROPE2D_LOCK_H
#define ROPE2D_LOCK_H

#include <stdbool.h>

#ifdef _WIN32

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

typedef struct rope2d_lock {
    bool is_made;
    SRWLOCK native;
} rope2d_lock;

static inline bool rope2d_lock_create(rope2d_lock *lock) {
    InitializeSRWLock(&lock->native);
    lock->is_made = true;
    return true;
}

static inline void rope2d_lock_destroy(rope2d_lock *lock) {
    lock->is_made = false;
}

static inline void rope2d_lock_take(rope2d_lock *lock) {
    AcquireSRWLockExclusive(&lock->native);
}

static inline void rope2d_lock_give(rope2d_lock *lock) {
    ReleaseSRWLockExclusive(&lock->native);
}

#else

#include <pthread.h>

typedef struct rope2d_lock {
    bool is_made;
    pthread_mutex_t native;
} rope2d_lock;

static inline bool rope2d_lock_create(rope2d_lock *lock) {
    lock->is_made = pthread_mutex_init(&lock->native, NULL) == 0;
    return lock->is_made;
}

// A lock that was never made is legal.
static inline void rope2d_lock_destroy(rope2d_lock *lock) {
    if (lock->is_made)
        pthread_mutex_destroy(&lock->native);
    lock->is_made = false;
}

static inline void rope2d_lock_take(rope2d_lock *lock) {
    pthread_mutex_lock(&lock->native);
}

static inline void rope2d_lock_give(rope2d_lock *lock) {
    pthread_mutex_unlock(&lock->native);
}

#endif

#endif
