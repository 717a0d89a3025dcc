#include "state/commit.h"

#include <assert.h>
#include <time.h>

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void commit_begin(struct commit *commit, struct batch *batch, store_done_fn *done, void *arg)
{
    assert(!commit->batch);
    *commit = (struct commit){.batch = batch, .done = done, .arg = arg, .began_us = now_us()};
}

void commit_end(struct commit *commit, int code)
{
    commit->result.code = code;
    commit->result.error.code = code;
    commit->result.took_us = now_us() - commit->began_us;
}

void commit_report(struct commit *commit)
{
    struct commit ended = *commit;
    *commit = (struct commit){0};
    if (ended.result.code == 0) {
        batch_destroy(ended.batch);
        ended.batch = NULL;
    }
    ended.done(ended.arg, &ended.result, ended.batch);
}

void commit_drop(struct commit *commit)
{
    batch_destroy(commit->batch);
    *commit = (struct commit){0};
}
