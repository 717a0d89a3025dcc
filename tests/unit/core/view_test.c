/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/driver.h"

/* Lists of reservations, page by page; F11: which jobs may have services on a node. */

/* What a walk over all pages saw. */
struct seen {
    uint64_t numbers[64];
    size_t count, pages;
};

static void keep(void *arg, const struct reservation *reservation)
{
    struct seen *seen = arg;
    assert_true(seen->count < sizeof seen->numbers / sizeof *seen->numbers);
    seen->numbers[seen->count++] = reservation->number;
}

static void walk(const struct driver *d, struct core_filter filter, struct seen *seen)
{
    *seen = (struct seen){0};
    do {
        uint64_t after = filter.after;
        filter.after = core_page(d->core, &filter, keep, seen);
        seen->pages++;
        assert_true(filter.after == 0 || filter.after > after);
    } while (filter.after != 0);
}

static void assert_found(const struct driver *d, struct core_filter filter, const char *expected)
{
    struct seen seen;
    char text[64] = "";
    filter.uid = -1;
    filter.limit = 1000;
    walk(d, filter, &seen);
    for (size_t i = 0; i < seen.count; i++)
        sprintf(text + strlen(text), "%s%d", i > 0 ? "," : "", (int)seen.numbers[i]);
    assert_string_equal(text, expected);
}

static void assert_seen(const struct driver *d, const char *node, const char *expected)
{
    assert_found(d, (struct core_filter){.node = node}, expected);
}

static void assert_silent(const struct driver *d, const char *node, const char *expected)
{
    assert_found(d, (struct core_filter){.node = node, .silent = true}, expected);
}

static void reserve(struct driver *d, const char *job, const char *nodes, uint32_t count)
{
    struct reserve_request request = driver_request(job, count);
    request.nodes = nodes;
    request.wish = WISH_OFF;
    driver_reserve(d, request);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
}

static void report(struct driver *d, const char *job, uint64_t number, const char *node,
                   enum node_state state)
{
    DRIVER_ASK(d, CORE_NODE_REPORT, report, .cluster = "elcap", .job = job, .number = number,
               .node = node, .state = state);
    assert_int_equal(driver_answered(d), ANSWER_REPORTED);
}

UP(list__of_a_node)
{
    struct driver *d = *state;
    reserve(d, "a", "n[1-3]", 3);
    reserve(d, "b", "n[3-4],m1", 3);
    reserve(d, "c", NULL, 2); /* it may run on any node */
    assert_seen(d, "n1", "1,3");
    assert_seen(d, "n3", "1,2,3");
    assert_seen(d, "m1", "2,3");
    assert_seen(d, "n5", "3");
    assert_seen(d, "n", "3");
    assert_seen(d, NULL, "1,2,3");
    /* Released, and not clean: it is there as long as its VNIs are quarantined. */
    driver_release(d, "a");
    assert_seen(d, "n1", "1,3");
}

/* All of a job's nodes can have reported, and it be started anew elsewhere before its release. */
UP(list__a_job_without_node_list_may_be_anywhere)
{
    struct driver *d = *state;
    reserve(d, "a", NULL, 1);
    reserve(d, "b", "n1", 1);
    assert_int_equal(core_presence(driver_job(d, "a"), "n1"), PRESENCE_POSSIBLE);
    report(d, "a", 1, "n1", NODE_CREATED);
    report(d, "b", 2, "n1", NODE_CREATED);
    assert_int_equal(core_presence(driver_job(d, "a"), "n1"), PRESENCE_REPORTED);
    assert_int_equal(core_presence(driver_job(d, "a"), "n2"), PRESENCE_POSSIBLE);
    assert_int_equal(core_presence(driver_job(d, "b"), "n1"), PRESENCE_NAMED);
    assert_int_equal(core_presence(driver_job(d, "b"), "n2"), PRESENCE_NONE);
    report(d, "a", 1, "n1", NODE_DESTROYED);
    assert_int_equal(core_presence(driver_job(d, "a"), "n1"), PRESENCE_REPORTED);
}

/* F3: for whose word VNIs wait, to be asked for by a node that may never have heard of the job.
 * What names no nodes, and what the node has spoken of, is not for it to say so (I1). */
UP(list__of_what_a_silent_node_is_waited_for)
{
    struct driver *d = *state;
    reserve(d, "a", "n[1-3]", 3);
    reserve(d, "b", "n[3-4],m1", 3);
    reserve(d, "c", NULL, 2);
    struct reserve_request request = driver_request("d", 3);
    request.nodes = "n[1-3]";
    request.vni_count = 0;
    request.wish = WISH_OFF;
    driver_reserve(d, request);
    assert_silent(d, "n3", ""); /* all are active */
    report(d, "b", 2, "n4", NODE_CREATED);
    driver_release(d, "b");
    driver_release(d, "c");
    driver_release(d, "d");
    assert_silent(d, "n3", "2");
    assert_silent(d, "n1", "");
    driver_release(d, "a");
    assert_silent(d, "n3", "1,2");
    assert_silent(d, "n1", "1");
    assert_silent(d, "m1", "2");
    assert_silent(d, "n4", "");
    report(d, "a", 1, "n3", NODE_LINGERING);
    report(d, "b", 2, "n3", NODE_DESTROYED);
    assert_silent(d, "n3", "");
    assert_silent(d, "n1", "1");
    driver_step(d, (struct core_event){.kind = CORE_NODE_SUM,
                                       .ticket = ++d->ticket,
                                       .u.sum = {.cluster = "elcap",
                                                 .job = "a",
                                                 .number = 1,
                                                 .nodes = "n[1-2]",
                                                 .state = NODE_DESTROYED}});
    assert_silent(d, "n1", "");
}

UP(list__filters_together)
{
    struct driver *d = *state;
    struct seen seen;
    reserve(d, "a", "n[1-3]", 3);
    reserve(d, "b", "n[1-3]", 3);
    driver_release(d, "a");
    struct core_filter filter = {.uid = -1, .limit = 1000, .node = "n2", .state = JOB_ACTIVE};
    walk(d, filter, &seen);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.numbers[0], 2);
    filter.cluster = "elcap2";
    walk(d, filter, &seen);
    assert_int_equal(seen.count, 0);
    filter = (struct core_filter){.uid = 5588, .limit = 1, .node = "n2"};
    walk(d, filter, &seen);
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.pages, 2);
}

/* Long node lists and a long name end a page early; nothing is left out because of it. */
UP(list__a_page_reads_little)
{
    struct driver *d = *state;
    enum { JOBS = 20, LENGTH = 30000 };
    static char nodes[LENGTH + 16];
    char name[NODELIST_NAME_MAX + 1] = "";
    struct seen seen;
    uint32_t count = 2;
    size_t length = (size_t)sprintf(nodes, "a");
    for (; length < LENGTH; count++)
        length += (size_t)sprintf(nodes + length, ",a%u", count);
    strcat(nodes, ",last");
    for (int i = 0; i < JOBS; i++) {
        char job[16];
        snprintf(job, sizeof job, "j%d", i);
        reserve(d, job, nodes, count);
    }
    struct core_filter filter = {.uid = -1, .limit = 1000};
    walk(d, filter, &seen);
    assert_int_equal(seen.count, JOBS);
    assert_int_equal(seen.pages, 1);
    filter.node = "last";
    walk(d, filter, &seen);
    assert_int_equal(seen.count, JOBS);
    assert_in_range(seen.pages, 2, JOBS);
    memset(name, 'b', sizeof name - 1);
    filter.node = name;
    walk(d, filter, &seen);
    assert_int_equal(seen.count, 0);
    assert_in_range(seen.pages, JOBS, JOBS + 1);
}

/* F9: whom to drain first. */
UP(lingering__names_the_oldest_job_s_first_node)
{
    struct driver *d = *state;
    assert_null(core_lingering_node(d->core));
    reserve(d, "a", "n[1-3]", 3);
    reserve(d, "b", "n[4-9]", 6);
    report(d, "a", 1, "n1", NODE_CREATED);
    assert_null(core_lingering_node(d->core));
    report(d, "b", 2, "n7", NODE_LINGERING);
    report(d, "b", 2, "n5", NODE_LINGERING);
    assert_string_equal(core_lingering_node(d->core), "n5");
    report(d, "a", 1, "n3", NODE_LINGERING);
    assert_string_equal(core_lingering_node(d->core), "n3");
    report(d, "a", 1, "n3", NODE_DESTROYED);
    report(d, "b", 2, "n5", NODE_DESTROYED);
    assert_string_equal(core_lingering_node(d->core), "n7");
}

/* Whichever node it is, and wherever its report is kept. */
UNIT(lingering__names_any_node)
{
    for (int i = 0; i < 64; i++) {
        struct driver d;
        char node[16];
        (void)snprintf(node, sizeof node, "n%d", i);
        driver_init(&d);
        driver_up(&d);
        reserve(&d, "a", node, 1);
        assert_null(core_lingering_node(d.core));
        report(&d, "a", 1, node, NODE_LINGERING);
        assert_string_equal(core_lingering_node(d.core), node);
        report(&d, "a", 1, node, NODE_DESTROYED);
        assert_null(core_lingering_node(d.core));
        driver_end(&d);
    }
}

/* Of more than can be named the first of each kind, as people count; and all are counted. */
UP(waiting__names_the_first_of_each_kind)
{
    struct driver *d = *state;
    enum { EACH = 30, SILENT = 7, NODES = 3 * EACH + SILENT };
    struct core_waiting waiting;
    char node[16];
    reserve(d, "a", "n[1-97]", NODES);
    for (int i = EACH; i > 0; i--) {
        static const enum node_state states[] = {NODE_LINGERING, NODE_CREATED, NODE_DESTROYED};
        for (int kind = 0; kind < 3; kind++) {
            (void)snprintf(node, sizeof node, "n%d", kind * EACH + i);
            report(d, "a", 1, node, states[kind]);
        }
    }
    core_waiting(driver_job(d, "a"), &waiting);
    assert_int_equal(waiting.count, 0); /* the job is active */
    driver_release(d, "a");
    core_waiting(driver_job(d, "a"), &waiting);
    assert_int_equal(waiting.count, NODES - EACH);
    assert_int_equal(waiting.unheard, SILENT);
    assert_int_equal(waiting.lingering, EACH);
    assert_int_equal(waiting.created, EACH);
    assert_int_equal(waiting.named_lingering, WAITING_EACH_MAX);
    assert_int_equal(waiting.named, 2 * WAITING_EACH_MAX);
    for (int i = 0; i < 2 * WAITING_EACH_MAX; i++) {
        int kind = i / WAITING_EACH_MAX;
        (void)snprintf(node, sizeof node, "n%d", kind * EACH + i % WAITING_EACH_MAX + 1);
        assert_string_equal(waiting.names[i], node);
        assert_null(waiting.services[i]);
    }
}

/* B8: what status and metrics show, of all and of each cluster. */
FRESH(status__counts_jobs_and_addresses)
{
    struct driver *d = *state;
    struct core_cluster_status own, other;
    d->config.clusters[0].budget = 100;
    driver_up(d);
    driver_reserved_job(d, "a");
    driver_reserved_job(d, "b");
    driver_reserve(d, driver_request("c", 2));
    driver_reserve(d, driver_request("d", 128));
    const uint32_t each = driver_status(d).addresses_per_job;
    assert_int_equal(each, 23);
    assert_int_equal(driver_status(d).link, LINK_UP);
    assert_int_equal(driver_status(d).link_since_ms, d->now);
    assert_int_equal(driver_status(d).link_listed_ms, d->now);
    assert_int_equal(driver_status(d).link_losses, 0);
    assert_string_equal(driver_status(d).link_url, "http://fm");
    assert_string_equal(driver_status(d).link_error, "");
    assert_int_equal(driver_status(d).vnis_live, 4);
    assert_int_equal(driver_held(d), 0);
    assert_int_equal(driver_status(d).vnis_free + driver_status(d).vnis_live,
                     driver_status(d).vnis_pool);
    assert_int_equal(driver_status(d).addresses_total, 4086);
    assert_int_equal(driver_status(d).use.addresses, 3 * each);
    assert_int_equal(driver_status(d).use.jobs_active, 4);
    assert_int_equal(driver_status(d).use.jobs_reserved, 2);
    assert_int_equal(driver_status(d).calls_in_flight, 1);
    driver_release(d, "a");
    driver_release(d, "c");
    assert_int_equal(driver_status(d).use.jobs_active, 2);
    assert_int_equal(driver_status(d).use.jobs_releasing, 2);
    assert_int_equal(driver_status(d).use.jobs_reserved, 1);
    assert_int_equal(driver_held(d), 2);
    assert_int_equal(driver_status(d).use.releases, 1);
    assert_int_equal(driver_status(d).use.addresses,
                     3 * each); /* until the fabric manager says so */
    assert_int_equal(driver_status(d).calls_in_flight, 2);
    assert_int_equal(driver_status(d).last_number, 4);
    assert_true(core_cluster_status(d->core, 0, &own));
    assert_true(core_cluster_status(d->core, 1, &other));
    assert_int_equal(own.budget, 100);
    assert_int_equal(own.use.addresses, 3 * each);
    assert_int_equal(own.use.releases, 1);
    assert_int_equal(own.use.jobs_active, 2);
    assert_int_equal(own.use.jobs_releasing, 2);
    assert_int_equal(own.use.jobs_reserved, 1);
    assert_int_equal(own.use.vnis_live, 2);
    assert_int_equal(own.use.vnis_held, 2);
    assert_int_equal(other.use.vnis_live + other.use.vnis_held, 0);
    assert_int_equal(other.budget + other.use.addresses + other.use.jobs_active, 0);
}

/* A page looks at 2000 and says where the next one begins, also when nothing matched. */
UP(list__a_page_looks_at_so_many)
{
    struct driver *d = *state;
    enum { JOBS = 2001 };
    struct seen seen;
    for (int i = 0; i < JOBS; i++) {
        char job[16];
        (void)snprintf(job, sizeof job, "j%d", i);
        reserve(d, job, NULL, 2);
    }
    struct core_filter filter = {.uid = 1, .limit = 1};
    walk(d, filter, &seen);
    assert_int_equal(seen.count, 0);
    assert_int_equal(seen.pages, 2);
    filter.after = 1;
    walk(d, filter, &seen);
    assert_int_equal(seen.pages, 1);
}

/* I1: nodes with a launch document say nothing when they begin. */
UP(launch__needs_nodes_that_have_not_reported)
{
    struct driver *d = *state;
    reserve(d, "named", "n[1-2]", 2);
    reserve(d, "counted", NULL, 2);
    const struct reservation *named = core_find(d->core, "elcap", "named");
    driver_set_hold(d, 600000);
    assert_int_equal(core_judge_launch(d->core, NULL), LAUNCH_NEVER);
    assert_int_equal(core_judge_launch(d->core, named), LAUNCH_NEVER);
    DRIVER_ASK(d, CORE_LAUNCH, launch, .cluster = "elcap", .job = "named");
    driver_set_hold(d, HOLD_UNTIL_REPORTED); /* while that request waits, perhaps */
    assert_int_equal(core_judge_launch(d->core, NULL), LAUNCH_ALLOWED);
    assert_int_equal(core_judge_launch(d->core, named), LAUNCH_UNSAVED);
    DRIVER_ASK(d, CORE_LAUNCH, launch, .cluster = "elcap", .job = "named");
    assert_true(named->launched);
    assert_int_equal(core_judge_launch(d->core, named), LAUNCH_ALLOWED);
    assert_int_equal(core_judge_launch(d->core, core_find(d->core, "elcap", "counted")),
                     LAUNCH_UNBOUND);
    report(d, "named", named->number, "n1", NODE_DESTROYED);
    assert_int_equal(core_judge_launch(d->core, named), LAUNCH_EARLIER_START);
}

UNIT_RUN(NULL, NULL)
