/* SPDX-License-Identifier: Apache-2.0 */
/* In which order workers have their turns (B8). */

#include "broker/http/listen/httpworker.h"
#include "tests/unit/unit.h"

enum { WORKERS = 12, GREEDY = 100000, MODEST = 5588 };

static struct workerqueue queue;
static struct httpworker workers[WORKERS];

static int setup(void **state)
{
    workerqueue_init(&queue);
    memset(workers, 0, sizeof workers);
    for (int i = 0; i < WORKERS; i++)
        TAILQ_INSERT_TAIL(&queue.all, &workers[i], link);
    return 0;
}

static void assign_and_add(int worker, uint64_t user)
{
    workerqueue_assign(&queue, &workers[worker], user);
    workerqueue_add(&queue, &workers[worker]);
}

/* A user with ten workers that are never done, and one with a single worker: alternately. */
UNIT_WITH(user__waits_for_himself_only, setup, NULL)
{
    enum { ROUNDS = 20 };
    for (int i = 0; i < WORKERS - 2; i++)
        assign_and_add(i, GREEDY);
    assign_and_add(WORKERS - 2, MODEST);
    for (int i = 0; i < ROUNDS; i++) {
        struct httpworker *worker = workerqueue_take_user(&queue);
        assert_ptr_equal(worker, &workers[i % (WORKERS - 2)]); /* each of his in turn, too */
        workerqueue_add(&queue, worker);
        worker = workerqueue_take_user(&queue);
        assert_int_equal(worker->user, MODEST);
        workerqueue_add(&queue, worker);
        workerqueue_add(&queue, worker); /* that is known */
    }
}

/* Nor does an additional worker, or one that had no work for long, bring him forward. */
UNIT_WITH(user__gains_no_turn_by_another_worker, setup, NULL)
{
    assign_and_add(0, GREEDY);
    assign_and_add(1, MODEST);
    workerqueue_assign(&queue, &workers[2], GREEDY); /* without work */
    assert_ptr_equal(workerqueue_take_user(&queue), &workers[0]);
    assign_and_add(3, GREEDY);
    workerqueue_add(&queue, &workers[2]);
    assert_ptr_equal(workerqueue_take_user(&queue), &workers[1]);
    workerqueue_add(&queue, &workers[1]);
    assert_ptr_equal(workerqueue_take_user(&queue), &workers[3]);
    assert_ptr_equal(workerqueue_take_user(&queue), &workers[1]);
    assert_ptr_equal(workerqueue_take_user(&queue), &workers[2]);
}

UNIT_WITH(shared__do_not_wait_for_users, setup, NULL)
{
    assign_and_add(0, GREEDY);
    assert_null(workerqueue_take_shared(&queue));
    workerqueue_add(&queue, &workers[1]);
    assert_ptr_equal(workerqueue_take_shared(&queue), &workers[1]);
    assert_null(workerqueue_take_shared(&queue));
    assert_ptr_equal(workerqueue_take_user(&queue), &workers[0]);
    assert_null(workerqueue_take_user(&queue));
}

UNIT_WITH(worker__can_change_its_user, setup, NULL)
{
    workerqueue_assign(&queue, &workers[0], GREEDY);
    assign_and_add(1, GREEDY);
    assign_and_add(0, MODEST);
    assert_ptr_equal(workerqueue_take_user(&queue), &workers[1]);
    assert_ptr_equal(workerqueue_take_user(&queue), &workers[0]);
    assert_int_equal(workers[0].user, MODEST);
}

UNIT_RUN(NULL, NULL)
