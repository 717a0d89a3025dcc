#include "cli/doctor/stamp.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 20 };

static size_t read_all(const char *path, char *data)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    size_t used = 0;
    ssize_t got = file < 0 ? 0 : 1;
    while (got > 0 && used < FILE_MAX) {
        got = read(file, data + used, FILE_MAX - used);
        used += got > 0 ? (size_t)got : 0;
    }
    if (file >= 0)
        close(file);
    return used;
}

static bool find(const char *data, size_t length, char out[STAMP_SIZE])
{
    static const char mark[] = " of mcastd ";
    const char *end = data + length, *at = data;
    while ((at = memmem(at, (size_t)(end - at), mark, sizeof(mark) - 1))) {
        size_t used = 0;
        at += sizeof(mark) - 1;
        while (at < end && used < STAMP_SIZE - 1 && (isdigit((unsigned char)*at) || *at == '.'))
            out[used++] = *at++;
        while (used > 0 && out[used - 1] == '.')
            used--;
        out[used] = '\0';
        if (used > 0)
            return true;
    }
    return false;
}

bool stamp_read(const char *path, char out[STAMP_SIZE])
{
    char *data = malloc(FILE_MAX);
    const size_t length = data ? read_all(path, data) : 0;
    out[0] = '\0';
    const bool found = length > 0 && find(data, length, out);
    free(data);
    return found;
}
