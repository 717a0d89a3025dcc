/* SPDX-License-Identifier: Apache-2.0 */
/* The notes of the kill rounds must be able to find fault: each promise broken, one at a time. */
#include "tests/system/kills/job.h"
#include "tests/unit/unit.h"

enum { HOLD_MS = 300 };

struct notebook {
    struct verdict verdict;
    struct vnis *vnis;
    struct history history;
    uint64_t seq;
};

static int open_notebook(void **state)
{
    static struct notebook notebook;

    notebook = (struct notebook){.verdict = {.plannedkill = "none"}};
    notebook.vnis = vnis_create(&notebook.verdict, HOLD_MS * (int64_t)1000000);
    history_init(&notebook.history, &notebook.verdict);
    *state = &notebook;
    return notebook.vnis ? 0 : -1;
}

static int close_notebook(void **state)
{
    struct notebook *notebook = *state;

    history_release(&notebook->history);
    vnis_destroy(notebook->vnis);
    return 0;
}

static void hear(struct notebook *notebook, const char *word, unsigned number, const char *job)
{
    char text[160];
    const uint64_t seq = ++notebook->seq;
    const int length =
        snprintf(text, sizeof text, "{\"seq\":%u,\"event\":\"%s\",\"job\":\"%s\",\"number\":%u}",
                 (unsigned)seq, word, job, number);

    history_hear(&notebook->history, seq, text, (size_t)length);
}

#define assert_found(count) assert_int_equal(notebook->verdict.faults, count)

static int64_t ms(int64_t count)
{
    return count * 1000000;
}

static void vni__of_two_live_jobs_is_found(void **state)
{
    struct notebook *notebook = *state;

    vnis_given(notebook->vnis, 1, 2000, ms(1));
    vnis_given(notebook->vnis, 1, 2000, ms(2)); /* told again */
    vnis_given(notebook->vnis, 2, 2001, ms(3));
    assert_found(0);
    vnis_given(notebook->vnis, 2, 2000, ms(4));
    assert_found(1);
}

static void vni__given_while_quarantined_is_found(void **state)
{
    struct notebook *notebook = *state;

    vnis_given(notebook->vnis, 1, 2000, ms(1));
    vnis_given(notebook->vnis, 1, 2001, ms(1));
    vnis_let_go(notebook->vnis, 1, 2000, ms(10));
    vnis_let_go(notebook->vnis, 1, 2001, ms(10));
    vnis_given(notebook->vnis, 2, 2000, ms(9 + HOLD_MS));
    assert_found(0);
    vnis_given(notebook->vnis, 2, 2001, ms(9 + HOLD_MS) - 1);
    assert_found(1);
}

static void event__missing_or_changed_is_found(void **state)
{
    static const char other[] = "{\"seq\":1,\"event\":\"denied\",\"job\":\"f1\",\"number\":1}";
    struct notebook *notebook = *state;

    hear(notebook, "reserved", 1, "f1");
    hear(notebook, "reserved", 2, "f2");
    notebook->seq = 0;
    hear(notebook, "reserved", 1, "f1"); /* replayed */
    assert_found(0);
    history_hear(&notebook->history, 1, other, strlen(other));
    assert_found(1);
    notebook->seq = 3;
    hear(notebook, "reserved", 4, "f4"); /* the fourth after the second */
    assert_found(2);
}

static void loss__told_twice_or_without_reason_is_found(void **state)
{
    struct notebook *notebook = *state;

    hear(notebook, "reserved", 1, "f1");
    hear(notebook, "denied", 2, "f2");
    hear(notebook, "lost", 1, "f1");
    assert_found(0);
    hear(notebook, "lost", 1, "f1");
    assert_found(1);
    hear(notebook, "lost", 2, "f2");
    assert_found(2);
}

static void story__out_of_order_is_found(void **state)
{
    struct notebook *notebook = *state;

    hear(notebook, "reserved", 1, "f1");
    hear(notebook, "released", 1, "f1");
    hear(notebook, "released", 2, "f2"); /* before it was reserved */
    assert_found(0);
    hear(notebook, "released", 1, "f1");
    assert_found(1);
    hear(notebook, "timeout", 2, "f2");
    assert_found(2);
}

static void stray__of_our_own_making_is_found(void **state)
{
    struct notebook *notebook = *state;

    hear(notebook, "adopted", 1, "stray7");
    assert_found(0);
    hear(notebook, "adopted", 2, "f2");
    assert_found(1);
}

static json_t *answer(unsigned number, unsigned vni, const char *hwcoll)
{
    json_t *env = strcmp(hwcoll, "reserved") == 0
                      ? json_pack("{ss}", "FI_CXI_COLL_MCAST_TOKEN", "sess-1")
                      : json_object();

    return json_pack("{sI s[I] s{ss} so}", "number", (json_int_t)number, "vnis", (json_int_t)vni,
                     "hwcoll", "state", hwcoll, "env", env);
}

static void tell(struct notebook *notebook, struct job *job, json_t *words)
{
    job_told(job, words, notebook->vnis, &notebook->history, ms(1));
}

static void answer__that_changes_is_found(void **state)
{
    struct notebook *notebook = *state;
    struct job job = {.cluster = "elcap", .id = "f1", .life = JOB_ASKED};

    tell(notebook, &job, answer(1, 2000, "reserved"));
    tell(notebook, &job, answer(1, 2000, "reserved"));
    assert_found(0);
    tell(notebook, &job, answer(1, 2001, "reserved"));
    assert_found(1);
    tell(notebook, &job, answer(1, 2000, "lost")); /* and nobody made it lose anything */
    assert_found(2);
    job_end(&job, &notebook->history);
}

static void answer__lost_stays_lost(void **state)
{
    struct notebook *notebook = *state;
    struct job job = {.cluster = "elcap", .id = "f1", .life = JOB_ASKED, .forgotten = true};

    tell(notebook, &job, answer(1, 2000, "reserved"));
    tell(notebook, &job, answer(1, 2000, "reserved"));
    tell(notebook, &job, answer(1, 2000, "lost"));
    tell(notebook, &job, answer(1, 2000, "lost"));
    assert_found(0);
    tell(notebook, &job, answer(1, 2000, "reserved"));
    assert_found(1);
    job_end(&job, &notebook->history);
}

static void number__given_twice_is_found(void **state)
{
    struct notebook *notebook = *state;
    struct job one = {.cluster = "elcap", .id = "f1", .life = JOB_ASKED};
    struct job other = {.index = 1, .cluster = "elcap", .id = "f2", .life = JOB_ASKED};

    tell(notebook, &one, answer(1, 2000, "off"));
    assert_found(0);
    tell(notebook, &other, answer(1, 2001, "off"));
    assert_found(1);
    job_end(&one, &notebook->history);
    job_end(&other, &notebook->history);
}

#define NOTED(test) cmocka_unit_test_setup_teardown(test, open_notebook, close_notebook)

UNIT_MAIN(NOTED(vni__of_two_live_jobs_is_found), NOTED(vni__given_while_quarantined_is_found),
          NOTED(event__missing_or_changed_is_found),
          NOTED(loss__told_twice_or_without_reason_is_found), NOTED(story__out_of_order_is_found),
          NOTED(stray__of_our_own_making_is_found), NOTED(answer__that_changes_is_found),
          NOTED(answer__lost_stays_lost), NOTED(number__given_twice_is_found))
