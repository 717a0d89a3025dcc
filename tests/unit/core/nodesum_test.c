/* SPDX-License-Identifier: Apache-2.0 */
/* F3, I1: one report of many nodes, by who acts for the cluster. */
#include "tests/unit/core/driver.h"

#include "core/reservation/nodes.h"

/* What was saved of a job and its nodes, in the order in which a store loads it. */
enum { NODES = 12, SUMS_MAX = 1000, NAME_SIZE = 16 };
struct kept {
    bool there;
    struct reservation_numbers numbers;
    struct node_record nodes[NODES]; /* number 0: nothing was saved of it */
    struct sum_record sums[SUMS_MAX];
    char lists[SUMS_MAX][64];
    uint32_t sum_count, writes;
};

static const char *name_of(int node)
{
    static char names[NODES][NAME_SIZE];
    (void)snprintf(names[node], NAME_SIZE, "n%d", node + 1);
    return names[node];
}

static void keep(struct kept *kept, const struct record *record)
{
    if (record->kind == RECORD_RESERVATION) {
        kept->numbers = record->u.reservation.numbers;
        kept->there = true;
    } else if (record->kind == RECORD_GONE) {
        *kept = (struct kept){.there = false};
    } else if (record->kind == RECORD_NODE) {
        struct node_record *node = &kept->nodes[atoi(record->u.node.node + 1) - 1];
        *node = record->u.node;
        node->node = name_of((int)(node - kept->nodes));
        node->services = NULL;
        kept->writes++;
    } else if (record->kind == RECORD_SUM) {
        assert_true(kept->sum_count < SUMS_MAX);
        struct sum_record *sum = &kept->sums[kept->sum_count];
        *sum = record->u.sum;
        assert_int_equal(sum->sum, kept->sum_count + 1);
        (void)snprintf(kept->lists[kept->sum_count], sizeof kept->lists[0], "%s", sum->nodes);
        sum->nodes = kept->lists[kept->sum_count++];
        kept->writes++;
    }
}

static void keep_all(struct kept *kept, const struct driver *d)
{
    size_t count;
    const struct effect *effects = core_effects(d->core, &count);
    for (size_t i = 0; i < count; i++)
        if (effects[i].kind == EFFECT_SAVE)
            keep(kept, &effects[i].u.record);
}

static void load(struct driver *d, struct record record)
{
    struct error err = {0};
    if (core_load(d->core, &record, &err) != 0)
        fail_msg("%s", err.text);
}

/* Another core, with what was kept. */
static void replay(struct driver *d, const struct kept *kept)
{
    driver_init(d);
    d->core = core_create(&d->config);
    if (kept->there) {
        struct record record = {.kind = RECORD_RESERVATION};
        record.u.reservation.numbers = kept->numbers;
        record.u.reservation.cluster = "elcap";
        record.u.reservation.job = "a";
        record.u.reservation.nodes = "n[1-12]";
        load(d, record);
    }
    for (int i = 0; i < NODES; i++)
        if (kept->nodes[i].number > 0)
            load(d, (struct record){.kind = RECORD_NODE, .u.node = kept->nodes[i]});
    for (uint32_t i = 0; i < kept->sum_count; i++)
        load(d, (struct record){.kind = RECORD_SUM, .u.sum = kept->sums[i]});
}

static void start_of(struct driver *d, const char *nodes, uint32_t count)
{
    driver_init(d);
    d->config.vni_hold_ms = HOLD_UNTIL_REPORTED;
    driver_up(d);
    struct reserve_request request = driver_request("a", count);
    request.nodes = nodes;
    request.wish = WISH_OFF;
    driver_reserve(d, request);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
}

static void start(struct driver *d)
{
    start_of(d, "n[1-12]", NODES);
}
DRIVER_FIXTURE(start_driver, start)

static enum answer_kind sum(struct driver *d, uint64_t number, const char *nodes,
                            enum node_state state)
{
    DRIVER_ASK(d, CORE_NODE_SUM, sum, .cluster = "elcap", .job = "a", .number = number,
               .nodes = nodes, .state = state);
    return driver_answered(d);
}

/* How many are clean then. */
static uint32_t clean(struct driver *d, const char *nodes)
{
    assert_int_equal(sum(d, 1, nodes, NODE_DESTROYED), ANSWER_REPORTED);
    return driver_answer(d)->count;
}

static void report(struct driver *d, const char *node, enum node_state state, uint64_t order)
{
    DRIVER_ASK(d, CORE_NODE_REPORT, report, .cluster = "elcap", .job = "a", .number = 1,
               .node = node, .state = state, .order = order);
    assert_int_equal(driver_answered(d), ANSWER_REPORTED);
}

static void fence(struct driver *d, const char *node)
{
    DRIVER_ASK(d, CORE_FENCE, fence, node, NULL);
}

static uint32_t saves(const struct driver *d)
{
    return (uint32_t)driver_count(d, EFFECT_SAVE);
}

/* ---- what it says ---- */

WITH(start_driver, sum__frees_vnis_when_all_are_clean)
{
    struct driver *d = *state;
    driver_release(d, "a");
    assert_int_equal(clean(d, "n[1-6]"), 6);
    assert_string_equal(driver_answer(d)->lingering->text, "");
    assert_int_equal(driver_held(d), 1);
    struct core_waiting waiting;
    core_waiting(driver_job(d, "a"), &waiting);
    assert_int_equal(waiting.count, 6);
    assert_int_equal(waiting.unheard, 6);
    struct nodefold silent;
    core_silent_nodes(driver_job(d, "a"), &silent);
    assert_string_equal(silent.text, "n[7-12]");
    assert_int_equal(clean(d, "n[5-11]"), 11);
    assert_int_equal(driver_held(d), 1);
    assert_int_equal(clean(d, "n12"), 12);
    assert_int_equal(driver_held(d), 0);
    assert_null(driver_job(d, "a"));
    assert_int_equal(sum(d, 1, "n12", NODE_DESTROYED), ANSWER_NOT_FOUND);
}

/* Flux's epilog ends before the release. */
WITH(start_driver, sum__counts_while_the_job_is_active)
{
    struct driver *d = *state;
    report(d, "n3", NODE_CREATED, 5);
    assert_int_equal(clean(d, "n[1-12]"), 12);
    driver_release(d, "a");
    assert_int_equal(driver_held(d), 0);
    assert_null(driver_job(d, "a"));
}

/* The job goes on anyway: what a node says after the sum is newer, in whatever form. */
WITH(start_driver, sum__is_ended_by_a_later_word_of_the_node)
{
    struct driver *d = *state;
    assert_int_equal(clean(d, "n[1-12]"), 12);
    report(d, "n2", NODE_CREATED, 0);
    report(d, "n7", NODE_CREATED, 9);
    report(d, "n9", NODE_LINGERING, 9);
    driver_release(d, "a");
    assert_int_equal(driver_held(d), 1);
    struct core_waiting waiting;
    core_waiting(driver_job(d, "a"), &waiting);
    assert_int_equal(waiting.count, 3);
    assert_int_equal(waiting.unheard, 0);
    assert_int_equal(clean(d, "n[1-12]"), 11);
    assert_string_equal(driver_answer(d)->lingering->text, "n9");
    report(d, "n9", NODE_DESTROYED, 10);
    assert_int_equal(driver_held(d), 0);
}

/* A node sends its report again when the answer was lost: the sum has ended it already. */
WITH(start_driver, sum__is_not_undone_by_what_it_ended)
{
    struct driver *d = *state;
    report(d, "n1", NODE_CREATED, 5);
    assert_int_equal(clean(d, "n[1-12]"), 12);
    report(d, "n1", NODE_CREATED, 5);
    report(d, "n1", NODE_CREATED, 4);
    driver_release(d, "a");
    assert_int_equal(driver_held(d), 0);
}

WITH(start_driver, sum__leaves_lingering_to_the_node_or_a_fence)
{
    struct driver *d = *state;
    for (int i = 2; i < 6; i++)
        report(d, name_of(i), NODE_LINGERING, 5);
    driver_release(d, "a");
    assert_int_equal(clean(d, "n[1-4,6-12]"), 8);
    assert_string_equal(driver_answer(d)->lingering->text, "n[3-4,6]");
    assert_int_equal(driver_answer(d)->lingering->count, 3);
    assert_int_equal(clean(d, "n[1-12]"), 8);
    report(d, "n3", NODE_DESTROYED, 6);
    report(d, "n4", NODE_DESTROYED, 6);
    report(d, "n5", NODE_DESTROYED, 6);
    assert_int_equal(driver_held(d), 1);
    fence(d, "n6");
    assert_int_equal(driver_held(d), 0);
}

WITH(start_driver, sum__says_lingering_for_many)
{
    struct driver *d = *state;
    assert_int_equal(clean(d, "n[1-6]"), 6);
    report(d, "n7", NODE_CREATED, 5);
    assert_int_equal(sum(d, 1, "n[5-8]", NODE_LINGERING), ANSWER_REPORTED);
    assert_int_equal(driver_answer(d)->count, 4);
    assert_int_equal(driver_events(d, EVENT_LINGERING), 1);
    assert_string_equal(driver_find(d, EFFECT_EVENT)->u.event->detail,
                        "node n[5-8]: CXI services cannot be destroyed");
    assert_int_equal(driver_status(d).nodes_lingering, 4);
    assert_int_equal(sum(d, 1, "n[5-8]", NODE_LINGERING), ANSWER_REPORTED);
    assert_int_equal(saves(d), 0); /* no news */
    assert_int_equal(driver_events(d, EVENT_LINGERING), 0);
    assert_int_equal(clean(d, "n[1-12]"), 8);
    assert_string_equal(driver_answer(d)->lingering->text, "n[5-8]");
    /* The services may have been made after the boot. */
    DRIVER_ASK(d, CORE_NODE_BOOT, boot, .node = "n7", .order = 9);
    assert_int_equal(driver_answer(d)->count, 0);
    driver_release(d, "a");
    for (int i = 4; i < 8; i++) {
        assert_int_equal(driver_held(d), 1);
        report(d, name_of(i), NODE_DESTROYED, 6);
    }
    assert_int_equal(driver_held(d), 0);
    assert_int_equal(driver_status(d).nodes_lingering, 0);
}

/* ---- what it is about ---- */

WITH(start_driver, sum__is_refused_as_a_whole_for_other_nodes)
{
    struct driver *d = *state;
    assert_int_equal(sum(d, 1, "n[1-13]", NODE_DESTROYED), ANSWER_INVALID);
    assert_string_equal(driver_answer(d)->field, "nodes");
    assert_string_equal(driver_answer(d)->detail, "job a has no node n13");
    assert_int_equal(saves(d), 0);
    assert_int_equal(sum(d, 1, "n[1-3],n04", NODE_LINGERING), ANSWER_INVALID);
    assert_string_equal(driver_answer(d)->detail, "job a has no node n04");
    assert_null(driver_job(d, "a")->reported);
    driver_release(d, "a");
    assert_int_equal(driver_held(d), 1);
}

/* Found by the simulator: the node's own later word leaves nothing of the sum. The next one must
 * not take its place on disk. */
UNIT(sum__goes_on_behind_the_last_one_after_a_restart)
{
    static struct kept kept;
    struct driver d, again;
    kept = (struct kept){.there = false};
    start(&d);
    keep_all(&kept, &d);
    assert_int_equal(sum(&d, 1, "n3", NODE_LINGERING), ANSWER_REPORTED);
    keep_all(&kept, &d);
    report(&d, "n3", NODE_CREATED, 1);
    keep_all(&kept, &d);
    driver_end(&d);
    replay(&again, &kept);
    core_start(again.core, again.now);
    assert_int_equal(clean(&again, "n[1-12]"), NODES);
    keep_all(&kept, &again); /* it is the second */
    driver_end(&again);
    replay(&again, &kept);
    core_start(again.core, again.now);
    assert_int_equal(nodes_clean(driver_job(&again, "a")->reported), NODES);
    driver_end(&again);
}

UNIT(sum__needs_a_job_that_named_its_nodes)
{
    struct driver d;
    start_of(&d, NULL, 3);
    assert_int_equal(sum(&d, 1, "n[1-3]", NODE_DESTROYED), ANSWER_INVALID);
    assert_string_equal(driver_answer(&d)->field, "nodes");
    assert_int_equal(saves(&d), 0);
    driver_end(&d);
}

/* Of a start that is over, of one that never was, and of one that a node alone knows (B11): it
 * changes nothing, and quarantines nothing. */
WITH(start_driver, sum__is_about_one_start)
{
    struct driver *d = *state;
    const uint16_t vni = 2000;
    driver_release(d, "a");
    struct reserve_request request = driver_request("a", 2);
    request.nodes = "n[1-2]";
    driver_reserve(d, request);
    const uint64_t second = driver_answer(d)->reservation->number;
    assert_int_equal(sum(d, second + 1, "n[1-2]", NODE_LINGERING), ANSWER_NOT_FOUND);
    assert_int_equal(saves(d), 0);
    assert_int_equal(sum(d, 1, "n[1-12]", NODE_DESTROYED), ANSWER_REPORTED); /* still quarantined */
    assert_int_equal(driver_held(d), 0);
    assert_null(driver_job(d, "a")->reported);
    assert_int_equal(sum(d, 1, "n[1-2]", NODE_DESTROYED), ANSWER_NOT_FOUND);
    DRIVER_ASK(d, CORE_NODE_REPORT, report, .cluster = "elcap", .job = "a", .number = 77,
               .node = "n1", .state = NODE_LINGERING, .vnis = &vni, .vni_count = 1);
    assert_int_equal(driver_held(d), 1);
    assert_int_equal(sum(d, 77, "n1", NODE_DESTROYED), ANSWER_NOT_FOUND);
    assert_int_equal(saves(d), 0);
    assert_int_equal(driver_held(d), 1);
}

/* Which of two lives it speaks of cannot be told, as with a node's own word. */
UNIT(sum__of_what_was_granted_twice_is_not_enough)
{
    for (int sum_first = 0; sum_first < 2; sum_first++) {
        struct driver d;
        struct reserve_request request = driver_request("a", NODES);
        start(&d);
        request.nodes = "n[1-12]";
        request.wish = WISH_OFF;
        if (sum_first)
            assert_int_equal(clean(&d, "n[1-12]"), 12);
        driver_reserve(&d, request);
        assert_int_equal(driver_answered(&d), ANSWER_SAME);
        if (!sum_first)
            assert_int_equal(clean(&d, "n[1-12]"), 12);
        assert_int_equal(driver_job(&d, "a")->regranted, 1);
        driver_release(&d, "a");
        assert_int_equal(driver_held(&d), 1);
        driver_end(&d);
    }
}

/* Its nodes have spoken: a document now would be of another start (I1). */
WITH(start_driver, sum__ends_launch_documents)
{
    struct driver *d = *state;
    DRIVER_ASK(d, CORE_LAUNCH, launch, .cluster = "elcap", .job = "a");
    assert_int_equal(core_judge_launch(d->core, driver_job(d, "a")), LAUNCH_ALLOWED);
    assert_int_equal(clean(d, "n1"), 1);
    assert_int_equal(core_judge_launch(d->core, driver_job(d, "a")), LAUNCH_EARLIER_START);
}

/* ---- what it costs, and what comes back ---- */

UNIT(sum__is_one_record)
{
    struct driver d;
    start_of(&d, "elcap[1-11136]", 11136);
    for (int i = 0; i < 3; i++)
        report(&d, i == 0 ? "elcap1" : i == 1 ? "elcap2" : "elcap3", NODE_CREATED, 5);
    assert_int_equal(clean(&d, "elcap[1-6000]"), 6000);
    assert_int_equal(saves(&d), 1);
    assert_int_equal(clean(&d, "elcap[3000-5000]"), 6000);
    assert_int_equal(saves(&d), 0); /* no news */
    assert_int_equal(clean(&d, "elcap[1-11136]"), 11136);
    assert_int_equal(saves(&d), 1);
    assert_int_equal(clean(&d, "elcap[1-11136]"), 11136);
    assert_int_equal(saves(&d), 0);
    driver_end(&d);
}

UNIT(sum__that_does_not_fit_is_no_ledger)
{
    struct kept kept = {.there = true,
                        .numbers = {.number = 1,
                                    .node_count = NODES,
                                    .uid = 1,
                                    .wish = WISH_OFF,
                                    .hwcoll = HWCOLL_OFF,
                                    .state = JOB_ACTIVE},
                        .sums = {{1, "n[1-12]", 1, NODE_DESTROYED}},
                        .sum_count = 1};
    static const struct sum_record wrong[] = {{1, "n1", 1, NODE_DESTROYED}, /* out of order */
                                              {1, "n13", 2, NODE_DESTROYED},
                                              {2, "n1", 2, NODE_DESTROYED}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct driver d;
        struct error err = {0};
        replay(&d, &kept);
        const struct record record = {.kind = RECORD_SUM, .u.sum = wrong[i]};
        assert_int_equal(core_load(d.core, &record, &err), ERROR_CORRUPT);
        assert_non_null(strstr(err.text, "does not fit reservation"));
        driver_end(&d);
    }
}

/* ---- against a model ---- */

struct word {
    enum node_state state; /* 0: none */
    uint64_t order;
    bool summed;
};

struct world {
    struct driver d;
    struct kept kept;
    struct word words[NODES];
    uint64_t random, order;
};

static uint32_t draw(struct world *w, uint32_t below)
{
    w->random = w->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(w->random >> 33) % below;
}

static void report_any(struct world *w)
{
    const int node = (int)draw(w, NODES);
    const enum node_state state = NODE_CREATED + draw(w, 3);
    const uint64_t order = draw(w, 4) == 0   ? 0
                           : draw(w, 4) == 0 ? 1 + draw(w, (uint32_t)w->order)
                                             : ++w->order;
    struct word *word = &w->words[node];
    report(&w->d, name_of(node), state, order);
    if (word->state && order != 0 && order < word->order + word->summed)
        return;
    if (word->state == state && order <= word->order)
        return;
    *word = (struct word){state, order ? order : word->order, false};
}

static void sum_any(struct world *w)
{
    const uint32_t first = draw(w, NODES), last = first + draw(w, NODES - first),
                   also = draw(w, 12);
    const enum node_state state = draw(w, 5) == 0 ? NODE_LINGERING : NODE_DESTROYED;
    static char list[64]; /* kept until what was saved is looked at */
    (void)snprintf(list, sizeof list, "n%u,n[%u-%u]", also + 1, first + 1, last + 1);
    assert_int_equal(sum(&w->d, 1, list, state), ANSWER_REPORTED);
    for (uint32_t i = 0; i < NODES; i++) {
        struct word *word = &w->words[i];
        if ((i < first || i > last) && i != also)
            continue;
        if (state == NODE_LINGERING ? word->state == NODE_LINGERING
                                    : word->state != 0 && word->state != NODE_CREATED)
            continue;
        word->state = state;
        word->summed = true;
    }
}

static void boot_any(struct world *w)
{
    const int node = (int)draw(w, NODES);
    struct word *word = &w->words[node];
    driver_step(&w->d, (struct core_event){.kind = CORE_NODE_BOOT,
                                           .ticket = ++w->d.ticket,
                                           .u.boot = {.node = name_of(node), .order = ++w->order}});
    if (!word->summed && (word->state == NODE_CREATED || word->state == NODE_LINGERING))
        *word = (struct word){NODE_DESTROYED, w->order, false};
}

static void compare(const struct world *w, const struct driver *d)
{
    const struct nodes *nodes = driver_job(d, "a")->reported;
    uint32_t count = 0, are_clean = 0, linger = 0;
    for (int i = 0; i < NODES; i++) {
        const struct word *word = &w->words[i];
        const struct node_report *report = nodes_find(nodes, name_of(i));
        assert_int_equal(report ? report->state : 0, word->state);
        if (!report)
            continue;
        assert_int_equal(report->order, word->order);
        assert_int_equal(report->summed, word->summed);
        count++;
        are_clean += word->state == NODE_DESTROYED;
        linger += word->state == NODE_LINGERING;
    }
    assert_int_equal(nodes ? nodes->count : 0, count);
    assert_int_equal(nodes_clean(nodes), are_clean);
    assert_int_equal(nodes ? nodes->lingering : 0, linger);
    assert_int_equal(driver_status(d).nodes_lingering, linger);
}

/* Whatever comes in whatever order: each node's last word is what counts, before and after a
 * restart of the broker. */
UNIT(sum__agrees_with_a_model_and_with_its_replay)
{
    static struct world w;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        w = (struct world){.random = seed, .order = 10};
        start(&w.d);
        keep_all(&w.kept, &w.d);
        for (int step = 0; step < 150; step++) {
            const uint32_t what = draw(&w, 8);
            if (what < 5)
                report_any(&w);
            else if (what < 7)
                sum_any(&w);
            else
                boot_any(&w);
            keep_all(&w.kept, &w.d);
            compare(&w, &w.d);
            if (draw(&w, 8) != 0)
                continue;
            struct driver again;
            replay(&again, &w.kept);
            assert_int_equal(core_check_load(again.core, NULL), 0);
            core_start(again.core, again.now);
            compare(&w, &again);
            driver_end(&again);
        }
        assert_in_range(w.kept.sum_count, 5, 100);
        bool all = true;
        for (int i = 0; i < NODES; i++)
            all &= w.words[i].state == NODE_DESTROYED;
        driver_release(&w.d, "a");
        assert_int_equal(driver_held(&w.d), !all);
        driver_end(&w.d);
    }
}

UNIT_RUN(NULL, NULL)
