/* SPDX-License-Identifier: Apache-2.0 */
/* Tries the inputs that are kept on a fuzz target, without libFuzzer: so the corpora are tests in
 * every build. Arguments are files, and folders of files. */

#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void give_up(const char *path)
{
    perror(path);
    exit(2);
}

static void try_file(const char *path, long size)
{
    /* Exactly as large as the input, so that the sanitizer sees one read too far. */
    uint8_t *bytes = malloc((size_t)size);
    FILE *file = fopen(path, "re");
    if (!file || (size > 0 && (!bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size)))
        give_up(path);
    (void)fclose(file);
    printf("%s\n", path); /* first: the last line before a failure names its input */
    (void)fflush(stdout);
    (void)LLVMFuzzerTestOneInput(bytes, (size_t)size);
    free(bytes);
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static unsigned try_path(const char *path);

static unsigned try_folder(const char *folder)
{
    struct dirent **entries;
    unsigned tried = 0;
    int count = scandir(folder, &entries, visible, alphasort);
    if (count < 0)
        give_up(folder);
    for (int i = 0; i < count; i++) {
        char path[4096];
        (void)snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        tried += try_path(path);
        free(entries[i]);
    }
    free(entries);
    return tried;
}

static unsigned try_path(const char *path)
{
    struct stat found;
    if (stat(path, &found) < 0)
        give_up(path);
    if (S_ISDIR(found.st_mode))
        return try_folder(path);
    try_file(path, found.st_size);
    return 1;
}

int main(int argc, char **argv)
{
    unsigned tried = 0;
    for (int i = 1; i < argc; i++)
        tried += try_path(argv[i]);
    if (tried == 0) {
        (void)fprintf(stderr, "usage: %s FILE|FOLDER…: nothing was tried\n", argv[0]);
        return 2;
    }
    printf("%u inputs tried\n", tried);
    return 0;
}
