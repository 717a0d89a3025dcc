/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/system/fmapi/blockedworkers.h"
#include "tests/unit/unit.h"

static void wait_in_jam(uv_work_t *work)
{
    struct blockedworkers *blockedworkers = work->data;
    uv_sem_wait(&blockedworkers->end);
}

static void leave_jam(uv_work_t *work, int status)
{
    ((struct blockedworkers *)work->data)->left++;
}

static bool blockedworkers_is_over(void *arg)
{
    return ((struct blockedworkers *)arg)->left == BLOCKEDWORKERS_WORKERS;
}

void blockedworkers_prepare(void)
{
    (void)setenv("UV_THREADPOOL_SIZE", "4", 1);
}

void blockedworkers_begin(struct blockedworkers *blockedworkers, struct apiclient *apiclient)
{
    *blockedworkers = (struct blockedworkers){.left = 0};
    assert_int_equal(uv_sem_init(&blockedworkers->end, 0), 0);
    for (size_t i = 0; i < BLOCKEDWORKERS_WORKERS; i++) {
        blockedworkers->works[i].data = blockedworkers;
        assert_int_equal(
            uv_queue_work(&apiclient->loop, &blockedworkers->works[i], wait_in_jam, leave_jam), 0);
    }
}

void blockedworkers_end(struct blockedworkers *blockedworkers, struct apiclient *apiclient)
{
    for (size_t i = 0; i < BLOCKEDWORKERS_WORKERS; i++)
        uv_sem_post(&blockedworkers->end);
    apiclient_await_that(apiclient, blockedworkers_is_over, blockedworkers);
    uv_sem_destroy(&blockedworkers->end);
}
