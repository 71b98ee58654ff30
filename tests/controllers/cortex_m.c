/* What a Cortex-M needs around main: vectors, the floating-point unit, and text and an end by semihosting. */
#include "target.h"

#define STACK 65536u
extern char stack_top[];
extern int main(void);
void reset(void);

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {(void (*)(void))stack_top, reset};

static long semihosting(long operation, const void *argument)
{
    register long r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void write_text(const char *text)
{
    semihosting(0x04, text);
}

/* SysTick counts down at 25 MHz; where an instruction takes a nanosecond (qemu -icount shift=0), 40 of them a tick. */
unsigned long ticks(void)
{
    return 0xffffffu - *(volatile unsigned long *)0xe000e018u;
}

void start_ticks(void)
{
    *(volatile unsigned long *)0xe000e014u = 0xffffffu;
    *(volatile unsigned long *)0xe000e018u = 0u;
    *(volatile unsigned long *)0xe000e010u = 5u;
}

__attribute__((noinline)) void paint_stack(void)
{
    volatile unsigned char *low = (unsigned char *)stack_top - STACK, *here = (unsigned char *)__builtin_frame_address(0);
    for (here -= 16; low < here; ++low)
        *low = 0xa5u;
}

/* Bytes from the frame of the caller down to the last one that was written since. */
__attribute__((noinline)) unsigned long painted_off(void)
{
    const volatile unsigned char *low = (unsigned char *)stack_top - STACK;
    while (*low == 0xa5u)
        ++low;
    return (unsigned long)((unsigned char *)__builtin_frame_address(0) - (unsigned char *)low);
}

void reset(void)
{
    *(volatile unsigned long *)0xe000ed88u |= 0xfu << 20;
    __asm__ volatile("dsb\n isb");
    main();
    semihosting(0x18, (void *)0x20026);
    for (;;) {
    }
}
