/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/wire/jobsteps.h"

#include "base/memory.h"
#include "base/names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct jobsteps {
    struct fmcall_steps list;  /* first: what others see of it */
    struct fmcall_step *steps; /* as many as were listed, at most */
    size_t taken;              /* of trees */
    uint16_t trees[FMCALL_TREES];
    bool seen[FMCALL_TREES];
};

/* The number at the end of an id or link, -1 when there is none that is an id. */
static int id_of_text(const char *text)
{
    const char *slash = strrchr(text, '/');
    const char *digits = slash ? slash + 1 : text;
    size_t length = strspn(digits, "0123456789");
    if (length < 1 || length > 4 || digits[length] != '\0')
        return -1;
    return (int)strtol(digits, NULL, 10);
}

static int id_of(const json_t *value)
{
    double number = json_number_value(value);
    int id = -1;
    if (json_is_string(value))
        id = id_of_text(json_string_value(value));
    else if (json_is_number(value) && number >= 0 && number < FMCALL_TREES)
        id = (double)(int)number == number ? (int)number : -1; /* 77.0 is 77 */
    return id < FMCALL_TREES ? id : -1;
}

static void add_trees(struct jobsteps *jobsteps, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        int id = id_of(json_array_get(list, i));

        if (id < 0 || jobsteps->seen[id]) {
            jobsteps->list.skipped++;
            continue;
        }
        jobsteps->seen[id] = true;
        jobsteps->trees[jobsteps->taken++] = (uint16_t)id;
    }
}

static void add_step(struct jobsteps *jobsteps, const char *name, const json_t *list)
{
    size_t before = jobsteps->taken;
    if (!step_id_valid(name) || !json_is_array(list)) {
        jobsteps->list.skipped++;
        return;
    }
    add_trees(jobsteps, list);
    if (jobsteps->taken > before)
        jobsteps->steps[jobsteps->list.count++] =
            (struct fmcall_step){.step = memory_text(name),
                                 .trees = jobsteps->trees + before,
                                 .tree_count = jobsteps->taken - before};
}

struct fmcall_steps *jobsteps_create(json_t *value)
{
    const char *name;
    json_t *list;
    if (value && !json_is_null(value) && !json_is_object(value))
        return NULL;
    struct jobsteps *jobsteps = memory_zeroed(sizeof *jobsteps);
    jobsteps->steps = memory_zeroed((json_object_size(value) + 1) * sizeof *jobsteps->steps);
    jobsteps->list.steps = jobsteps->steps;
    json_object_foreach(value, name, list)
    {
        add_step(jobsteps, name, list);
    }
    return &jobsteps->list;
}

void jobsteps_destroy(struct fmcall_steps *steps)
{
    struct jobsteps *jobsteps = (struct jobsteps *)(void *)steps;
    if (!jobsteps)
        return;
    for (size_t i = 0; i < jobsteps->list.count; i++)
        free((void *)(uintptr_t)jobsteps->steps[i].step); /* const for all but us */
    free(jobsteps->steps);
    free(jobsteps);
}
