#include "state/sqlite/walindex.h"

#include <endian.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INDEX_VERSION = 3007000 };

/* As it lies in the file, in this machine's byte order but for the salts. */
struct header {
    uint32_t version, unused, change;
    unsigned char is_initialized, big_endian;
    uint16_t page_size;
    uint32_t frames, pages;
    uint32_t frame_sum[2];
    uint32_t salts[2];
    uint32_t sum[2];
};
_Static_assert(sizeof(struct header) == 48, "the size that walformat.html gives");

static bool is_sound(const struct header *header)
{
    uint32_t words[offsetof(struct header, sum) / sizeof(uint32_t)], sum[2] = {0};
    memcpy(words, header, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i += 2) {
        sum[0] += words[i] + sum[1];
        sum[1] += words[i + 1] + sum[0];
    }
    return header->version == INDEX_VERSION && header->is_initialized &&
           memcmp(sum, header->sum, sizeof sum) == 0;
}

bool walindex_read(const char *path, struct walindex *index)
{
    struct header copies[2];
    char *name;
    if (asprintf(&name, "%s-shm", path) < 0)
        return false;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    free(name);
    ssize_t length = fd < 0 ? -1 : pread(fd, copies, sizeof copies, 0);
    if (fd >= 0)
        close(fd);
    /* They differ while it is being written. */
    if (length != (ssize_t)sizeof copies || memcmp(&copies[0], &copies[1], sizeof *copies) != 0 ||
        !is_sound(&copies[0]))
        return false;
    *index = (struct walindex){.frames = copies[0].frames,
                               .salts = {be32toh(copies[0].salts[0]), be32toh(copies[0].salts[1])}};
    return true;
}
