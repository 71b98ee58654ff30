// The words of CUDA that generated kernels use, for a C++17 compiler: the threads of a block are fibers.
//
// A fiber runs until it meets a barrier. Which fiber runs next is chosen by an order (forward, backward, or shuffled by
// a seed), and a barrier opens as soon as all it waits for have come: so one warp may be far ahead of others, and what
// reads without a barrier what another thread writes reads the wrong thing in some order. Shared memory begins as NaN.
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <utility>

namespace host {

struct Dim3 {
    unsigned x = 1, y = 1, z = 1;
};

enum class State { ready, at_warp, at_block, done };

constexpr unsigned WARP = 32, LARGEST = 1024;  // threads of a block
constexpr size_t STACK = size_t(4) << 20;  // taken page by page, as it is used
constexpr size_t PAGE = 4096, GUARD = 4096;

struct Fiber {
    ucontext_t context;
    State state;
    char *stack;
};

static Fiber fibers[LARGEST];
static ucontext_t scheduler;
static unsigned current;
static char failure[256];
static void (*body)();
static char *dynamic_memory;  // aligned to a page, with a guard of known bytes behind it
static uint64_t exchanged[LARGEST];

struct Random {
    uint64_t state;
    uint64_t below(uint64_t n) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        return state % n;
    }
};

}  // namespace host

static host::Dim3 threadIdx, blockIdx, blockDim, gridDim;
extern "C" char __start_cardan_shared[] __attribute__((weak));
extern "C" char __stop_cardan_shared[] __attribute__((weak));

namespace host {

static void wait(State where) {
    Fiber &self = fibers[current];
    self.state = where;
    swapcontext(&self.context, &scheduler);
}

static void enter() {
    body();
    wait(State::done);
}

static void make(unsigned count) {
    for (unsigned k = 0; k < count; k++) {
        if (fibers[k].stack) continue;
        void *stack = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        mprotect(stack, PAGE, PROT_NONE);  // what needs more stack than there is ends here
        fibers[k].stack = static_cast<char *>(stack);
    }
    for (unsigned k = 0; k < count; k++) {
        getcontext(&fibers[k].context);
        fibers[k].context.uc_stack = {fibers[k].stack, 0, STACK};
        fibers[k].context.uc_link = nullptr;
        makecontext(&fibers[k].context, enter, 0);
        fibers[k].state = State::ready;
    }
}

// Opens the barriers of a group of threads if all of it waits there; false if some have ended and others wait.
static bool opened(unsigned start, unsigned stop, State where) {
    unsigned waiting = 0, ended = 0;
    for (unsigned k = start; k < stop; k++) {
        waiting += fibers[k].state == where;
        ended += fibers[k].state == State::done;
    }
    if (waiting && ended) {
        snprintf(failure, sizeof failure, "block %u: %u threads of %u to %u ended while %u wait at __sync%s()", blockIdx.x,
                 ended, start, stop - 1, waiting, where == State::at_warp ? "warp" : "threads");
        return false;
    }
    if (waiting == stop - start)
        for (unsigned k = start; k < stop; k++) fibers[k].state = State::ready;
    return true;
}

enum Order { forward, backward, shuffled };

// Returns the fiber to run next, or `count` if none is ready.
static unsigned next(unsigned count, Order order, Random &random) {
    if (order == backward) {
        for (unsigned k = count; k-- > 0;)
            if (fibers[k].state == State::ready) return k;
        return count;
    }
    unsigned begin = order == forward ? 0 : random.below(count);
    for (unsigned n = 0; n < count; n++) {
        unsigned k = (begin + n) % count;
        if (fibers[k].state == State::ready) return k;
    }
    return count;
}

static bool run_block(unsigned count, Order order, Random &random) {
    make(count);
    for (;;) {
        current = next(count, order, random);
        if (current == count) break;
        threadIdx.x = current;
        swapcontext(&scheduler, &fibers[current].context);
        State now = fibers[current].state;  // only what this thread has come to can open
        unsigned warp = current / WARP * WARP;
        if (now != State::at_block && !opened(warp, warp + WARP, State::at_warp)) return false;
        if (now != State::at_warp && !opened(0, count, State::at_block)) return false;
    }
    for (unsigned k = 0; k < count; k++)
        if (fibers[k].state != State::done) {
            snprintf(failure, sizeof failure, "block %u: thread %u waits for ever: others are at another barrier",
                     blockIdx.x, k);
            return false;
        }
    return true;
}

static bool shared_memory(size_t size) {
    size_t whole = (size + GUARD + PAGE - 1) / PAGE * PAGE;
    void *memory = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    dynamic_memory = memory == MAP_FAILED ? nullptr : static_cast<char *>(memory);
    return dynamic_memory != nullptr;
}

static void forget(size_t size) {
    memset(dynamic_memory, 0xff, size + GUARD);
    if (__start_cardan_shared) memset(__start_cardan_shared, 0xff, __stop_cardan_shared - __start_cardan_shared);
}

static bool kept_within(size_t size) {
    for (size_t k = size; k < size + GUARD; k++)
        if (dynamic_memory[k] != char(0xff)) {
            snprintf(failure, sizeof failure, "block %u wrote byte %zu of %zu in shared memory", blockIdx.x, k, size);
            return false;
        }
    return true;
}

template <class T>
T argument(const void *value) {
    T result;
    memcpy(&result, value, sizeof(T));
    return result;
}

template <class... A, size_t... K>
void call(void (*kernel)(A...), void *const *arguments, std::index_sequence<K...>) {
    kernel(argument<A>(arguments[K])...);
}

template <class... A>
const char *launch(void (*kernel)(A...), int count, unsigned grid, unsigned block, size_t shared, int order, uint64_t seed,
                   void *const *arguments) {
    static void (*the_kernel)(A...);
    static void *const *the_arguments;
    if (count != int(sizeof...(A))) return "the number of arguments is another one";
    if (block == 0 || block % WARP || block > LARGEST) return "a block has 32 to 1024 threads, in whole warps";
    if (!shared_memory(shared)) return "no memory";
    the_kernel = kernel, the_arguments = arguments;
    body = [] { call(the_kernel, the_arguments, std::index_sequence_for<A...>{}); };
    Random random{seed * 2 + 88172645463325253u};
    blockDim.x = block, gridDim.x = grid, failure[0] = 0;
    for (unsigned n = 0; n < grid && !failure[0]; n++) {
        blockIdx.x = order == backward ? grid - 1 - n : n;
        forget(shared);
        if (run_block(block, Order(order), random)) kept_within(shared);
    }
    munmap(dynamic_memory, (shared + GUARD + PAGE - 1) / PAGE * PAGE);
    return failure[0] ? failure : nullptr;
}

template <class... A>
int parameters(void (*)(A...)) {
    return sizeof...(A);
}

// What a thread of the same warp holds; `of` is its lane.
template <class T>
T from_lane(T value, unsigned of) {
    static_assert(sizeof(T) <= 8, "at most eight bytes are exchanged");
    memcpy(&exchanged[current], &value, sizeof(T));
    wait(State::at_warp);
    T result;
    memcpy(&result, &exchanged[current / WARP * WARP + of % WARP], sizeof(T));
    wait(State::at_warp);  // the slot is free again once all have read
    return result;
}

}  // namespace host

static inline void __syncwarp(unsigned = 0xffffffffu) { host::wait(host::State::at_warp); }
static inline void __syncthreads() { host::wait(host::State::at_block); }
static inline void __barrier_sync(unsigned) { host::wait(host::State::at_block); }  // of warps with different code
template <class T>
T __shfl_sync(unsigned, T value, int lane) {
    return host::from_lane(value, unsigned(lane));
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int mask) {
    return host::from_lane(value, (threadIdx.x % host::WARP) ^ unsigned(mask));
}
template <class T>
T __shfl_down_sync(unsigned, T value, unsigned by) {
    unsigned lane = threadIdx.x % host::WARP;
    return host::from_lane(value, lane + by < host::WARP ? lane + by : lane);
}
template <class T>
T __ldg(const T *place) {
    return *place;
}
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }

using std::max;
using std::min;

#define __global__
#define __device__
#define __constant__
#define __shared__ static __attribute__((section("cardan_shared")))
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

// What CUDA has for the bits of numbers and the upper half of a product.
static inline long long __double_as_longlong(double x) {
    long long bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double __longlong_as_double(long long bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline int __float_as_int(float x) {
    int bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float __int_as_float(int bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
