/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/kills/refusal.h"

#include "tests/system/rig/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 128, SAID_SIZE = 8192 };

static bool has_ended(void *arg)
{
    return !process_alive(arg);
}

static void read_log(const char *path, char said[SAID_SIZE])
{
    FILE *file = fopen(path, "re");

    said[file ? fread(said, 1, SAID_SIZE - 1, file) : 0] = '\0';
    if (file)
        fclose(file);
}

void refusal_expect(struct scene *scene, const char *mcastd, const char *words)
{
    char config[PATH_SIZE], log[PATH_SIZE], said[SAID_SIZE];
    const char *const argv[] = {
        mcastd, "--config",
        folder_path(config, sizeof config, testbed_folder(scene->testbed), "mcastd.conf"), NULL};

    folder_path(log, sizeof log, testbed_folder(scene->testbed), "refused.log");
    (void)unlink(log);
    struct process *process = process_start(argv, log);
    if (!process || !scene_await(scene, has_ended, process)) {
        verdict_fault(&scene->verdict, "a broker that must not start goes on");
    } else {
        const int status = process_exit_status(process);

        read_log(log, said);
        const char *line = strstr(said, "cannot start: ");
        if (status != 1 || !line || !strstr(line, words))
            verdict_fault(&scene->verdict, "exit status %d, expected the words \"%s\": %s", status,
                          words, said);
    }
    process_kill(process);
}
