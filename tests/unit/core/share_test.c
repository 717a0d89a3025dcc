/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/driver.h"

/* Shared VNIs: who gets one, who keeps it, and when its VNI is free again (B1). */

enum { OWNER = 1000, OTHER = 5588 };

static struct share_request wish(const char *name)
{
    return (struct share_request){.name = name, .users = "", .clusters = "", .uid = OWNER};
}

static void share(struct driver *d, struct share_request q)
{
    driver_step(d, (struct core_event){.kind = CORE_SHARE, .ticket = ++d->ticket, .u.share = q});
}

static void share_daos(struct driver *d)
{
    struct share_request q = wish("daos");
    q.users = "5588,77";
    share(d, q);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
}

static void unshare(struct driver *d, bool when_unused)
{
    DRIVER_ASK(d, CORE_UNSHARE, unshare, .name = "daos", .when_unused = when_unused);
}

static struct reserve_request joins(const char *job, const char *name)
{
    struct reserve_request q = driver_request(job, 1);
    q.wish = WISH_OFF;
    q.shared[0] = name;
    q.shared_count = 1;
    return q;
}

static void join(struct driver *d, const char *job)
{
    driver_reserve(d, joins(job, "daos"));
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
}

static void report(struct driver *d, const char *job, enum node_state node_state)
{
    DRIVER_ASK(d, CORE_NODE_REPORT, report, .cluster = "elcap", .job = job, .node = "n1",
               .number = driver_job(d, job)->number, .state = node_state);
    assert_int_equal(driver_answered(d), ANSWER_REPORTED);
}

static uint16_t vni_of(const struct driver *d)
{
    return core_find_shared(d->core, "daos")->record.vni;
}

/* Its own first, then the shared one: in the same places for all who read them. */
UP(share__is_had_beside_own_vnis)
{
    struct driver *d = *state;
    share_daos(d);
    const uint16_t vni = vni_of(d);
    join(d, "a");
    join(d, "b");
    const struct reservation *a = driver_job(d, "a"), *b = driver_job(d, "b");
    assert_int_equal(a->vni_count, 2);
    assert_int_equal(a->shared_count, 1);
    assert_int_equal(a->vnis[1], vni);
    assert_int_equal(b->vnis[1], vni);
    assert_true(a->vnis[0] != b->vnis[0] && a->vnis[0] != vni && b->vnis[0] != vni);
    driver_reserve(d, joins("a", "daos"));
    assert_int_equal(driver_answered(d), ANSWER_SAME);
    driver_reserve(d, driver_request("a", 1));
    assert_int_equal(driver_answered(d), ANSWER_CONFLICT);
    assert_string_equal(driver_answer(d)->field, "shared_vnis");
    assert_int_equal(core_find_shared(d->core, "daos")->active, 2);
}

/* Who may not have it is told what he would be told if there were none. */
UP(share__is_for_those_on_its_list)
{
    struct driver *d = *state;
    char unknown[256];
    struct share_request w = wish("daos");
    w.clusters = "elcap2";
    share(d, w);
    struct reserve_request q = joins("a", "none");
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_NO_SHARED);
    (void)snprintf(unknown, sizeof unknown, "%s", driver_answer(d)->detail);
    driver_reserve(d, joins("a", "daos"));
    assert_int_equal(driver_answered(d), ANSWER_NO_SHARED);
    memcpy(strstr(unknown, "none"), "daos", 4);
    assert_string_equal(driver_answer(d)->detail, unknown);
    q = joins("a", "daos");
    q.uid = OWNER;
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_SHARED_REFUSED);
    assert_string_equal(driver_answer(d)->detail,
                        "shared VNI daos is not for jobs of cluster elcap: have its owner put the "
                        "cluster on its list");
    q.cluster = "elcap2";
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    w.users = "*";
    w.clusters = "elcap,elcap2";
    share(d, w);
    assert_int_equal(driver_answered(d), ANSWER_CHANGED);
    join(d, "a");
    w.users = ""; /* who has it keeps it */
    share(d, w);
    assert_int_equal(driver_job(d, "a")->shared_count, 1);
    driver_reserve(d, joins("a", "daos"));
    assert_int_equal(driver_answered(d), ANSWER_SAME);
    driver_reserve(d, joins("b", "daos"));
    assert_int_equal(driver_answered(d), ANSWER_NO_SHARED);
}

UP(share__a_job_has_four_vnis_at_most)
{
    struct driver *d = *state;
    share_daos(d);
    struct reserve_request q = joins("a", "daos");
    q.vni_count = 4;
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_INVALID);
    q.vni_count = 2;
    q.shared[1] = "daos";
    q.shared_count = 2;
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_INVALID);
    assert_string_equal(driver_answer(d)->detail, "shared VNI daos is named twice");
    q.vni_count = 0;
    q.shared_count = 1;
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_INVALID);
    assert_string_equal(driver_answer(d)->field, "vni_count");
    d->config.vni_single_node = false; /* of its own it has one all the same */
    driver_configure(d);
    q.vni_count = -1;
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    assert_int_equal(driver_job(d, "a")->vni_count, 2);
    q.interconnect = INTERCONNECT_NONE;
    q.vni_count = -1;
    q.job = "b";
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_INVALID);
    assert_string_equal(driver_answer(d)->field, "shared_vnis");
}

FRESH(share__has_bounds)
{
    struct driver *d = *state;
    d->config.shared_per_user = 1;
    d->config.shared_max = 2;
    driver_up(d);
    share_daos(d);
    struct share_request w = wish("mochi");
    share(d, w);
    assert_int_equal(driver_answered(d), ANSWER_TOO_MANY_SHARED);
    w.admin = true;
    share(d, w);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    w.name = "third";
    share(d, w);
    assert_int_equal(driver_answered(d), ANSWER_TOO_MANY_SHARED);
    w = wish("daos");
    w.uid = OTHER;
    share(d, w);
    assert_int_equal(driver_answered(d), ANSWER_CONFLICT);
    w.uid = OWNER;
    w.users = "5588,77";
    share(d, w);
    assert_int_equal(driver_answered(d), ANSWER_SAME);
}

/* Each change is an event: no user fills what others follow. What changes nothing is not counted,
 * and an admin is not (B1, P5). */
UP(share__changes_of_a_user_have_a_pace)
{
    static const char *const users[] = {"77", "78"};
    struct driver *d = *state;
    struct share_request w = wish("daos"), others = wish("mochi");
    for (int i = 0; i < SHARED_CHANGES_AT_ONCE; i++) {
        w.users = users[i % 2];
        share(d, w);
        assert_int_equal(driver_answered(d), i == 0 ? ANSWER_CREATED : ANSWER_CHANGED);
    }
    share(d, w);
    assert_int_equal(driver_answered(d), ANSWER_SAME);
    w.users = "77";
    share(d, w);
    assert_int_equal(driver_answered(d), ANSWER_TOO_OFTEN);
    unshare(d, false);
    share(d, w);
    assert_int_equal(driver_answered(d), ANSWER_TOO_OFTEN);
    others.uid = OTHER;
    share(d, others);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    driver_tick(d, SHARED_CHANGE_EVERY_MS);
    share(d, w);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    w.users = "78";
    share(d, w);
    assert_int_equal(driver_answered(d), ANSWER_TOO_OFTEN);
    w.admin = true;
    share(d, w);
    assert_int_equal(driver_answered(d), ANSWER_CHANGED);
}

/* Not while a job runs that has it; and its VNI is free when the nodes of all such jobs are clean.
 */
FRESH(share__ends_when_nodes_of_all_jobs_are_clean)
{
    struct driver *d = *state;
    d->config.vni_hold_ms = HOLD_UNTIL_REPORTED;
    driver_up(d);
    share_daos(d);
    const uint16_t vni = vni_of(d);
    join(d, "a");
    join(d, "b");
    driver_release(d, "a");
    unshare(d, false);
    assert_int_equal(driver_answered(d), ANSWER_IN_USE);
    assert_non_null(strstr(driver_answer(d)->detail, "in use by 1 job:"));
    driver_release(d, "b");
    unshare(d, false);
    assert_int_equal(driver_answered(d), ANSWER_REMOVED);
    assert_int_equal(driver_answer(d)->shared->record.state, SHARED_QUARANTINED);
    assert_int_equal(driver_events(d, EVENT_VNI_REMOVED), 1);
    assert_null(core_find_shared(d->core, "daos"));
    share_daos(d); /* the name can be made anew, with another VNI */
    assert_int_not_equal(vni_of(d), vni);
    assert_int_equal(driver_status(d).vnis_shared, 2);
    assert_int_equal(driver_held(d), 3);
    report(d, "a", NODE_DESTROYED);
    assert_int_equal(driver_held(d), 2);
    report(d, "b", NODE_DESTROYED);
    assert_int_equal(driver_held(d), 0);
    assert_int_equal(driver_status(d).vnis_shared, 1);
    /* The report, where the round of VNIs goes on, a reservation and a shared VNI gone. */
    assert_int_equal(driver_count(d, EFFECT_SAVE), 4);
}

UP(share__without_jobs_is_gone_at_once)
{
    struct driver *d = *state;
    const uint32_t free = driver_status(d).vnis_free;
    share_daos(d);
    unshare(d, false);
    assert_int_equal(driver_answered(d), ANSWER_REMOVED);
    assert_int_equal(driver_status(d).vnis_free, free);
    assert_null(core_shared(d->core));
    unshare(d, false);
    assert_int_equal(driver_answered(d), ANSWER_NOT_FOUND);
}

UP(share__closed_takes_no_new_jobs)
{
    struct driver *d = *state;
    share_daos(d);
    join(d, "a");
    unshare(d, true);
    assert_int_equal(driver_answered(d), ANSWER_CLOSING);
    driver_reserve(d, joins("b", "daos"));
    assert_int_equal(driver_answered(d), ANSWER_SHARED_REFUSED);
    driver_reserve(d, joins("a", "daos"));
    assert_int_equal(driver_answered(d), ANSWER_SAME);
    share(d, wish("daos"));
    assert_int_equal(driver_answered(d), ANSWER_CONFLICT);
    driver_release(d, "a");
    assert_int_equal(driver_events(d, EVENT_VNI_REMOVED), 1);
}

UP(share__time_takes_it_from_no_job)
{
    struct driver *d = *state;
    struct share_request w = wish("daos");
    w.users = "*";
    w.expires_ms = d->now;
    share(d, w);
    assert_int_equal(driver_answered(d), ANSWER_INVALID);
    w.expires_ms = d->now + 5000;
    share(d, w);
    join(d, "a");
    assert_true(core_next_deadline(d->core) <= d->now + 5000);
    driver_tick(d, 5000);
    assert_int_equal(core_find_shared(d->core, "daos")->record.state, SHARED_CLOSED);
    assert_int_equal(driver_job(d, "a")->vni_count, 2);
    driver_reserve(d, joins("b", "daos"));
    assert_int_equal(driver_answered(d), ANSWER_SHARED_REFUSED);
    driver_release(d, "a");
    assert_null(core_find_shared(d->core, "daos"));
    driver_tick(d, d->config.vni_hold_ms);
    assert_null(core_shared(d->core));
}

/* One event, which has its list of clusters. */
UP(share__events_name_clusters)
{
    struct driver *d = *state;
    struct share_request w = wish("daos");
    w.clusters = "elcap,elcap2";
    share(d, w);
    assert_int_equal(driver_events(d, EVENT_VNI_SHARED), 1);
    const struct event_record *event = core_event_at(d->core, core_last_seq(d->core));
    assert_string_equal(event->clusters, "elcap,elcap2");
    assert_null(event->cluster);
    assert_int_equal(event->uid, OWNER);
    w.name = "mochi";
    w.clusters = "";
    share(d, w);
    assert_string_equal(core_event_at(d->core, core_last_seq(d->core))->clusters, "");
}

/* B11: a ledger that may lack what came last has perhaps given its VNI to another job since. */
FRESH(share__of_an_old_ledger_takes_no_jobs)
{
    struct driver *d = *state;
    const struct record records[] = {{.kind = RECORD_FACTS, .u.facts = {.boot = "", .suspect = 1}},
                                     {.kind = RECORD_SHARED_VNI,
                                      .u.shared_vni = {.uid = OTHER,
                                                       .vni = 2000,
                                                       .state = SHARED_OPEN,
                                                       .name = "daos",
                                                       .users = "",
                                                       .clusters = ""}}};
    d->core = core_create(&d->config);
    for (int i = 0; i < 2; i++)
        assert_int_equal(core_load(d->core, &records[i], NULL), 0);
    core_start(d->core, d->now);
    d->config.vni_required = false;
    driver_configure(d);
    driver_reserve(d, joins("a", "daos"));
    assert_int_equal(driver_answered(d), ANSWER_NO_VNIS);
    unshare(d, false);
    assert_int_equal(driver_status(d).vnis_free, 0); /* its VNI is suspect, too */
    driver_tick(d, d->config.vni_hold_ms);
    assert_true(driver_status(d).vnis_free > 0);
}

/* B2: a ledger that is older than a partition may give a VNI of it by its name, until the fabric
 * manager has told; then the job is told, keeps it, and no other gets it. */
FRESH(share__of_a_partition_not_yet_known_is_told_to_its_jobs)
{
    struct driver *d = *state;
    const struct record record = {.kind = RECORD_SHARED_VNI,
                                  .u.shared_vni = {.uid = OTHER,
                                                   .vni = 2000,
                                                   .state = SHARED_OPEN,
                                                   .name = "daos",
                                                   .users = "",
                                                   .clusters = ""}};
    struct idset theirs;
    d->core = core_create(&d->config);
    assert_int_equal(core_load(d->core, &record, NULL), 0);
    core_start(d->core, d->now);
    join(d, "a");
    assert_int_equal(idset_parse(&theirs, "2000-2009", NULL), 0);
    const struct partition beta = {"beta", &theirs};
    DRIVER_STEP(d, CORE_PARTITIONS, partitions, .all = &beta, .count = 1);
    assert_int_equal(driver_events(d, EVENT_VNI_FOREIGN),
                     2); /* of the shared VNI, and of the job */
    const struct event_record *event = core_event_at(d->core, core_last_seq(d->core));
    assert_int_equal(event->number, driver_job(d, "a")->number);
    assert_string_equal(event->detail,
                        "shared VNI 2000 belongs to partition beta now; the job keeps it");
    assert_string_equal(core_foreign_user(d->core)->job, "a");
    assert_int_equal(driver_job(d, "a")->vni_count, 2);
    driver_reserve(d, joins("b", "daos"));
    assert_int_equal(driver_answered(d), ANSWER_SHARED_REFUSED);
}

/* I1: services of a job that is forgotten keep the shared VNI from becoming free, too. */
UP(share__lingering_services_keep_it)
{
    struct driver *d = *state;
    share_daos(d);
    const uint16_t vni = vni_of(d);
    join(d, "a");
    const uint64_t number = driver_job(d, "a")->number;
    const uint16_t vnis[] = {driver_job(d, "a")->vnis[0], vni};
    driver_release(d, "a");
    driver_tick(d, d->config.vni_hold_ms);
    assert_null(driver_job(d, "a"));
    DRIVER_ASK(d, CORE_NODE_REPORT, report, .cluster = "elcap", .job = "a", .node = "n1",
               .number = number, .state = NODE_LINGERING, .vnis = vnis, .vni_count = 2);
    assert_int_equal(driver_answered(d), ANSWER_REPORTED);
    unshare(d, false);
    assert_int_equal(driver_answered(d), ANSWER_REMOVED);
    assert_int_equal(driver_held(d), 2);
    DRIVER_ASK(d, CORE_FENCE, fence, .node = "n1");
    assert_int_equal(driver_held(d), 0);
    assert_int_equal(driver_status(d).vnis_shared, 0);
}

/* B2: jobs that have it keep it, and no new one gets it, as long as it is another partition's. */
UP(share__of_another_partition_takes_no_new_jobs)
{
    struct driver *d = *state;
    share_daos(d);
    struct idset vnis, none;
    const uint16_t vni = vni_of(d);
    join(d, "a");
    idset_init(&vnis);
    idset_init(&none);
    idset_add(&vnis, vni);
    struct partition beta = {"beta", &vnis};
    DRIVER_STEP(d, CORE_PARTITIONS, partitions, .all = &beta, .count = 1);
    driver_reserve(d, joins("b", "daos"));
    assert_int_equal(driver_answered(d), ANSWER_SHARED_REFUSED);
    assert_words(driver_answer(d)->detail, "belongs to partition beta");
    driver_reserve(d, joins("a", "daos"));
    assert_int_equal(driver_answered(d), ANSWER_SAME);
    beta.vnis = &none;
    DRIVER_STEP(d, CORE_PARTITIONS, partitions, .all = &beta, .count = 1);
    d->now += d->config.stray_grace_ms;
    DRIVER_STEP(d, CORE_PARTITIONS, partitions, .all = &beta, .count = 1);
    join(d, "b");
}

/* B1: one that a node reports and the ledger does not know may name no VNIs but shared ones, more
 * than a job may ask for: what is saved of it must be what a store takes. */
UP(share__a_node_may_report_shared_ones_only)
{
    struct driver *d = *state;
    static const char *const names[VNI_PER_JOB_MAX] = {"a", "b", "c", "d"};
    uint16_t vnis[VNI_PER_JOB_MAX];
    for (int i = 0; i < VNI_PER_JOB_MAX; i++) {
        share(d, wish(names[i]));
        assert_int_equal(driver_answered(d), ANSWER_CREATED);
        vnis[i] = driver_answer(d)->shared->record.vni;
    }
    DRIVER_ASK(d, CORE_NODE_REPORT, report, .cluster = "elcap", .job = "a", .node = "n1",
               .number = 70, .state = NODE_LINGERING, .vnis = vnis, .vni_count = VNI_PER_JOB_MAX);
    assert_int_equal(driver_answered(d), ANSWER_REPORTED);
    assert_int_equal(driver_answer(d)->reservation->shared_count, VNI_PER_JOB_MAX);
    for (int i = 0; i < VNI_PER_JOB_MAX; i++)
        DRIVER_ASK(d, CORE_UNSHARE, unshare, .name = names[i]);
    assert_int_equal(driver_status(d).vnis_shared, VNI_PER_JOB_MAX); /* quarantined with it */
    DRIVER_ASK(d, CORE_FENCE, fence, .node = "n1");
    assert_int_equal(driver_status(d).vnis_shared, 0);
}

FRESH(share__ledgers_that_contradict_are_refused)
{
    struct driver *d = *state;
    struct record one = {
        .kind = RECORD_SHARED_VNI,
        .u.shared_vni = {
            .vni = 2000, .state = SHARED_OPEN, .name = "daos", .users = "", .clusters = ""}};
    struct record job = {.kind = RECORD_RESERVATION,
                         .u.reservation = {.number = 1,
                                           .cluster = "elcap",
                                           .job = "a",
                                           .state = JOB_ACTIVE,
                                           .wish = WISH_OFF,
                                           .hwcoll = HWCOLL_OFF,
                                           .vnis = {2001, 2000},
                                           .vni_count = 2,
                                           .vni_asked = 2,
                                           .shared_count = 1}};
    d->core = core_create(&d->config);
    assert_int_equal(core_load(d->core, &one, NULL), 0);
    one.u.shared_vni.vni = 2002;
    assert_int_equal(core_load(d->core, &one, NULL), ERROR_CORRUPT); /* the same name */
    one.u.shared_vni.state = SHARED_QUARANTINED;
    assert_int_equal(core_load(d->core, &one, NULL), 0);
    assert_int_equal(core_load(d->core, &job, NULL), 0);
    job.u.reservation.number = 2;
    job.u.reservation.job = "b";
    job.u.reservation.vnis[0] = 2003;
    job.u.reservation.vnis[1] = 2002; /* removed: no running job has it */
    assert_int_equal(core_load(d->core, &job, NULL), ERROR_CORRUPT);
}

UNIT_RUN(NULL, NULL)
