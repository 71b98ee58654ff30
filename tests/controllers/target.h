#ifndef TARGET_H
#define TARGET_H

#include <stddef.h>

void write_text(const char *text);
void start_ticks(void);
unsigned long ticks(void);
void paint_stack(void);
unsigned long painted_off(void);

/* Write memory as a line of hexadecimal digits, byte by byte. */
static inline void write_bytes(const void *memory, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)memory;
    size_t k;
    for (k = 0; k < size; ++k) {
        char text[3] = {"0123456789abcdef"[bytes[k] >> 4], "0123456789abcdef"[bytes[k] & 15], 0};
        write_text(text);
    }
    write_text("\n");
}

#endif
