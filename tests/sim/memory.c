#include "tests/sim/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *granted(void *memory)
{
    if (!memory) {
        fputs("mcast-sim: out of memory\n", stderr);
        exit(2);
    }
    return memory;
}

void *memory_zeroed(size_t size)
{
    return granted(calloc(1, size));
}

void *memory_resized(void *old, size_t count, size_t size)
{
    return granted(reallocarray(old, count, size));
}

char *memory_text(const char *text)
{
    return text ? granted(strdup(text)) : NULL;
}
