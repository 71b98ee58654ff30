// A libcuda.so.1 without a device: the functions cardan calls, in the memory of the host, for cuda.bindings to find.
// A launch runs the kernel that HOST_KERNEL names, a library made by host_cuda.py, whatever module was loaded.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int Status;
typedef unsigned long long Address;
enum { OUT_OF_MEMORY = 2, INVALID_CONTEXT = 201, INVALID_IMAGE = 200, NOT_FOUND = 500, INVALID_HANDLE = 400 };
static const uintptr_t CONTEXT = 0x1000, MODULE = 0x2000, FUNCTION = 0x3000;
static int depth;

Status cuInit(unsigned flags) { return flags; }
Status cuDriverGetVersion(int *version) { return *version = atoi(getenv("FAKE_VERSION") ?: "13050"), 0; }
Status cuDeviceGetCount(int *count) { return *count = 1, 0; }
Status cuDeviceGet(int *device, int number) { return *device = number, number != 0; }
Status cuDeviceGetName(char *name, int size, int device) { return snprintf(name, size, "Fake"), device; }
Status cuDeviceGetAttribute(int *value, int attribute, int device) {
    *value = attribute == 75 ? 9 : attribute == 97 ? 232448 : attribute == 12 ? 65536 : attribute == 16 ? 132 : 0;
    return device;
}
Status cuDevicePrimaryCtxRetain(void **context, int device) { return *context = (void *)CONTEXT, device; }
Status cuCtxGetDevice(int *device) { return *device = 0, depth ? 0 : INVALID_CONTEXT; }
Status cuCtxPushCurrent_v2(void *context) { return depth++, context == (void *)CONTEXT ? 0 : INVALID_CONTEXT; }
Status cuCtxPopCurrent_v2(void **context) { return depth--, *context = (void *)CONTEXT, 0; }
Status cuModuleLoadData(void **module, const void *image) {
    *module = (void *)MODULE;
    return memcmp(image, "\x7f"
                         "ELF",
                  4)
               ? INVALID_IMAGE
               : 0;
}
Status cuModuleGetFunction(void **function, void *module, const char *name) {
    *function = (void *)FUNCTION;
    return module == (void *)MODULE && !strncmp(name, "cardan_", 7) ? 0 : NOT_FOUND;
}
Status cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, void *stream, void **arguments, void **extra) {
    if (function != (void *)FUNCTION || gy * gz * by * bz != 1 || extra || !depth) return INVALID_HANDLE;
    void *kernel = dlopen(getenv("HOST_KERNEL"), RTLD_NOW);
    int (*parameters)(void) = (int (*)(void))dlsym(kernel, "cardan_parameters");
    const char *(*launch)(int, unsigned, unsigned, size_t, int, unsigned long long, void *const *) =
        (const char *(*)(int, unsigned, unsigned, size_t, int, unsigned long long, void *const *))dlsym(kernel,
                                                                                                        "cardan_launch");
    printf("launched on stream %ju\n", (uintmax_t)(uintptr_t)stream);
    fflush(stdout);
    return launch(parameters(), gx, bx, shared, 0, 1, arguments) ? 700 : 0;
}
Status cuLibraryLoadData(void **library, const void *image, void *names, void *values, unsigned n, void *more,
                         void *others, unsigned m) {
    (void)names, (void)values, (void)more, (void)others;
    return *library = (void *)MODULE, n || m || ((const char *)image)[1] != 'E' ? INVALID_IMAGE : 0;
}
Status cuLibraryGetKernel(void **kernel, void *library, const char *name) {
    return cuModuleGetFunction(kernel, library, name);
}
Status cuMemAllocAsync(Address *address, size_t size, void *stream) {
    (void)stream;
    if (size > (size_t)1 << 30) return OUT_OF_MEMORY;
    return *address = (Address)(uintptr_t)malloc(size), 0;
}
Status cuMemFreeAsync(Address address, void *stream) { return (void)stream, free((void *)(uintptr_t)address), 0; }
Status cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t size, void *stream) {
    return (void)stream, memcpy((void *)(uintptr_t)to, from, size), 0;
}
Status cuMemcpyDtoHAsync_v2(void *to, Address from, size_t size, void *stream) {
    return (void)stream, memcpy(to, (void *)(uintptr_t)from, size), 0;
}
Status cuStreamSynchronize(void *stream) { return (void)stream, 0; }
Status cuMemGetInfo_v2(size_t *left, size_t *total) { return *left = 1 << 30, *total = (size_t)1 << 31, 0; }
Status cuPointerGetAttribute(void *value, int attribute, Address address) {
    return *(int *)value = 0, attribute == 9 && address ? 0 : 1;
}
Status cuGetErrorName(int status, const char **name) { return *name = status == 700 ? "ILLEGAL" : "OTHER", 0; }
Status cuGetErrorString(int status, const char **text) { return *text = status == 700 ? "illegal" : "other", 0; }

Status cuGetProcAddress_v2(const char *name, void **found, int version, uint64_t flags, void *status) {
    char versioned[128];
    (void)version, (void)flags;
    snprintf(versioned, sizeof versioned, "%s_v2", name);
    *found = dlsym(RTLD_DEFAULT, versioned);
    if (!*found) *found = dlsym(RTLD_DEFAULT, name);
    if (!*found) {
        void *self = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
        *found = dlsym(self, versioned);
        if (!*found) *found = dlsym(self, name);
    }
    if (status) *(int *)status = *found ? 0 : 1;
    return *found ? 0 : NOT_FOUND;
}
Status cuGetProcAddress(const char *name, void **found, int version, uint64_t flags) {
    return cuGetProcAddress_v2(name, found, version, flags, 0);
}
