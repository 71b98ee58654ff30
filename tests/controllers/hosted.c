/* The same where there is an operating system. */
#include "target.h"

#include <stdio.h>

void write_text(const char *text)
{
    fputs(text, stdout);
}
