/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/system/fmapi/jam.h"

static void wait_in_jam(uv_work_t *work)
{
    struct jam *jam = work->data;
    uv_sem_wait(&jam->end);
}

static void leave_jam(uv_work_t *work, int status)
{
    (void)status;
    ((struct jam *)work->data)->left++;
}

static bool jam_is_over(void *arg)
{
    return ((struct jam *)arg)->left == JAM_WORKERS;
}

void jam_prepare(void)
{
    (void)setenv("UV_THREADPOOL_SIZE", "4", 1);
}

void jam_begin(struct jam *jam, struct pilot *pilot)
{
    *jam = (struct jam){.left = 0};
    assert_int_equal(uv_sem_init(&jam->end, 0), 0);
    for (size_t i = 0; i < JAM_WORKERS; i++) {
        jam->works[i].data = jam;
        assert_int_equal(uv_queue_work(&pilot->loop, &jam->works[i], wait_in_jam, leave_jam), 0);
    }
}

void jam_end(struct jam *jam, struct pilot *pilot)
{
    for (size_t i = 0; i < JAM_WORKERS; i++)
        uv_sem_post(&jam->end);
    pilot_await_that(pilot, jam_is_over, jam);
    uv_sem_destroy(&jam->end);
}
