/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *memory_must(void *memory)
{
    if (!memory) {
        (void)fprintf(stderr, "%s: out of memory: stopping\n", program_invocation_short_name);
        abort();
    }
    return memory;
}

void *memory_zeroed(size_t size)
{
    return memory_must(calloc(1, size));
}

void *memory_resized(void *old, size_t count, size_t size)
{
    return memory_must(count > SIZE_MAX / size ? NULL : realloc(old, count * size));
}

void *memory_room(void *array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    *capacity = *capacity < 16 ? 16 : *capacity * 2;
    return memory_resized(array, *capacity, size);
}

void *memory_room_doubled(void *array, size_t count, size_t size)
{
    if (count % 4 != 0 || (count & (count - 1)) != 0)
        return array;
    return memory_resized(array, count == 0 ? 4 : count * 2, size);
}

char *memory_text(const char *text)
{
    return !text ? NULL : memory_must(strdup(text));
}

char *memory_format(const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    char *text = memory_zeroed((size_t)length + 1);
    (void)vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}

void memory_wipe(void *bytes, size_t size)
{
    if (bytes)
        explicit_bzero(bytes, size);
    free(bytes);
}

void memory_wipe_text(char *text)
{
    memory_wipe(text, text ? strlen(text) : 0);
}

char *memory_room_wiped(char *bytes, size_t size, size_t *capacity, size_t need)
{
    if (need <= *capacity)
        return bytes;
    *capacity = need < 2048 ? 4096 : need * 2;
    char *moved = memory_zeroed(*capacity);
    if (bytes)
        memcpy(moved, bytes, size);
    memory_wipe(bytes, size);
    return moved;
}
