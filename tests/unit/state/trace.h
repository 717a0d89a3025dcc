/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Looking for a secret in every file of a store's folder, byte by byte, as a thief of the disk
 * would. */

#include "tests/unit/state/fixture.h"

#include <fcntl.h>
#include <sys/stat.h>

static inline bool file_has(int folder, const char *name, const char *text)
{
    int file = openat(folder, name, O_RDONLY);
    struct stat status;
    assert_true(file >= 0);
    assert_int_equal(fstat(file, &status), 0);
    char *bytes = malloc((size_t)status.st_size + 1);
    assert_int_equal(read(file, bytes, (size_t)status.st_size), status.st_size);
    bool has = memmem(bytes, (size_t)status.st_size, text, strlen(text));
    free(bytes);
    close(file);
    return has;
}

/* The name of a file that has the text in it, or NULL. */
static inline const char *trace_of(const struct fixture *fixture, const char *text)
{
    static char name[256];
    const char *found = NULL;
    DIR *folder = opendir(fixture->folder);
    assert_non_null(folder);
    for (struct dirent *entry; !found && (entry = readdir(folder));)
        if (entry->d_type == DT_REG && file_has(dirfd(folder), entry->d_name, text)) {
            snprintf(name, sizeof name, "%s", entry->d_name);
            found = name;
        }
    closedir(folder);
    return found;
}

static inline void assert_no_trace(const struct fixture *fixture, const char *text)
{
    const char *name = trace_of(fixture, text);
    if (name)
        fail_msg("\"%s\" stands in %s", text, name);
}
