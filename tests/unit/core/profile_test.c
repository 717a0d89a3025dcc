/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/driver.h"

/* P3: what a job may ask for, and the profiles that the site has made of it. */

static struct profile_config *add_profile(struct driver *d, const char *name)
{
    struct profile_config *profile = &d->config.profiles[d->config.profile_count++];
    *profile = (struct profile_config){.clusters = UINT64_MAX, .vni_count = -1, .interconnect = -1};
    strcpy(profile->name, name);
    return profile;
}

static void configure_large(struct driver *d)
{
    struct profile_config *large = add_profile(d, "large");
    d->config.classes_allowed = TC_ALL;
    large->vni_count = 2;
    large->classes = TC_BULK_DATA;
    large->wish = WISH_OFF;
    add_profile(d, "own")->clusters = 1; /* of elcap alone */
}

static struct reserve_request request_with(const char *job, const char *profile)
{
    struct reserve_request q = driver_request(job, 2);
    q.profile = profile;
    return q;
}

FRESH(profile__fills_in_what_the_job_does_not_say)
{
    struct driver *d = *state;
    configure_large(d);
    driver_up(d);
    driver_reserve(d, request_with("a", "large"));
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    const struct reservation *r = driver_answer(d)->reservation;
    assert_int_equal(r->vni_count, 2);
    assert_int_equal(r->traffic_classes, TC_BULK_DATA);
    assert_int_equal(r->hwcoll, HWCOLL_OFF);
    assert_string_equal(reservation_profile(r), "large");

    struct reserve_request own = request_with("b", "large");
    own.vni_count = 1;
    own.traffic_classes = TC_BEST_EFFORT;
    driver_reserve(d, own);
    r = driver_answer(d)->reservation;
    assert_int_equal(r->vni_count, 1);
    assert_int_equal(r->traffic_classes, TC_BEST_EFFORT);
    assert_int_equal(r->wish, WISH_OFF);
}

/* I7: the same request has the same answer, whatever became of its profile. */
FRESH(profile__changed_or_removed_leaves_a_repeat_the_same)
{
    struct driver *d = *state;
    configure_large(d);
    driver_up(d);
    driver_reserve(d, request_with("a", "large"));
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    d->config.profiles[0].vni_count = 4;
    d->config.profiles[0].classes = TC_LOW_LATENCY;
    d->config.profiles[0].wish = WISH_REQUIRED;
    driver_configure(d);
    driver_reserve(d, request_with("a", "large"));
    assert_int_equal(driver_answered(d), ANSWER_SAME);
    assert_int_equal(driver_answer(d)->reservation->vni_count, 2);
    d->config.profiles[0].clusters = 0;
    driver_configure(d);
    driver_reserve(d, request_with("a", "large"));
    assert_int_equal(driver_answered(d), ANSWER_SAME);
    d->config.profile_count = 0;
    driver_configure(d);
    driver_reserve(d, request_with("a", "large"));
    assert_int_equal(driver_answered(d), ANSWER_SAME);
    driver_reserve(d, request_with("b", "large"));
    assert_int_equal(driver_answered(d), ANSWER_INVALID);
}

static void assert_conflict(struct driver *d, struct reserve_request q, const char *field)
{
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_CONFLICT);
    assert_string_equal(driver_answer(d)->field, field);
}

FRESH(profile__another_one_or_another_field_is_a_conflict)
{
    struct driver *d = *state;
    configure_large(d);
    driver_up(d);
    driver_reserve(d, request_with("a", "large"));
    driver_reserve(d, request_with("b", NULL));
    assert_conflict(d, request_with("a", "own"), "profile");
    assert_conflict(d, request_with("a", "no_such"), "profile");
    assert_conflict(d, request_with("b", "large"), "profile");
    struct reserve_request q = request_with("a", "large");
    q.wish = WISH_ON;
    assert_conflict(d, q, "hwcoll");
    q.wish = WISH_OFF; /* what it got by the profile it may say itself */
    q.vni_count = 2;
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_SAME);
    q.vni_count = 3;
    assert_conflict(d, q, "vni_count");
}

/* A job of another cluster is told the names of its own. */
FRESH(profile__that_is_not_there_for_it_is_refused)
{
    struct driver *d = *state;
    configure_large(d);
    driver_up(d);
    struct reserve_request q = request_with("a", "own");
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    q.cluster = "elcap2";
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_INVALID);
    assert_string_equal(driver_answer(d)->field, "profile");
    assert_string_equal(driver_answer(d)->detail,
                        "there is no profile 'own' for jobs of elcap2; there is: large");
    q.cluster = "elcap";
    q.job = "b";
    q.profile = "Large";
    driver_reserve(d, q);
    assert_string_equal(driver_answer(d)->detail,
                        "there is no profile 'Large' for jobs of elcap; there is: large, own");
    assert_null(driver_job(d, "b"));
}

/* F15, I8: more or fewer addresses than others, within budgets. */
FRESH(profile__says_how_many_addresses)
{
    struct driver *d = *state;
    struct profile_config *wide = add_profile(d, "wide");
    wide->addresses = 100;
    wide->wish = WISH_ON;
    d->config.clusters[0].budget = 150;
    driver_up(d);
    struct reserve_request q = request_with("a", "wide");
    q.node_count = 64;
    driver_reserve(d, q);
    assert_int_equal(driver_job(d, "a")->hwcoll, HWCOLL_WANTED);
    assert_int_equal(driver_job(d, "a")->addresses, 100);
    q.job = "b";
    driver_reserve(d, q);
    assert_int_equal(driver_job(d, "b")->hwcoll, HWCOLL_DENIED);
    driver_reserve(d, driver_request("c", 64));
    assert_int_equal(driver_job(d, "c")->addresses, 23);
    driver_reserve(d, request_with("s", "wide"));
    assert_int_equal(driver_job(d, "s")->hwcoll, HWCOLL_INELIGIBLE);
}

static void assert_unfit(struct driver *d, const char *words)
{
    struct error err = {0};
    assert_int_equal(core_config_check(&d->config, &err), ERROR_INVALID);
    assert_non_null(strstr(err.text, words));
}

FRESH(profile__that_no_job_could_have_is_no_configuration)
{
    struct driver *d = *state;
    struct profile_config *p = add_profile(d, "p");
    assert_int_equal(core_config_check(&d->config, NULL), 0);
    p->classes = TC_BULK_DATA;
    assert_unfit(d, "[profile \"p\"] traffic_classes: bulk_data is not in [vni]");
    p->classes = 0;
    p->addresses = 4087;
    assert_unfit(d, "[profile \"p\"] addresses = 4087 is more than");
    p->addresses = 0;
    p->vni_count = 2;
    idset_init(&d->config.vni_pool);
    idset_add(&d->config.vni_pool, 1024);
    assert_unfit(d, "[profile \"p\"] vnis = 2: [vni] pool has 1 usable");
    p->vni_count = 1;
    p->wish = WISH_REQUIRED;
    assert_int_equal(core_config_check(&d->config, NULL), 0);
    d->config.fm_present = false;
    assert_unfit(d, "[profile \"p\"] hwcoll = required, but no job gets");
    p->wish = 0;
    strcpy(p->name, "P-1");
    assert_unfit(d, "profile \"P-1\": names are");
}

/* What is offered is accepted, and one beyond it is refused. */
FRESH(options__are_what_a_reserve_accepts)
{
    struct driver *d = *state;
    struct core_options options;
    idset_init(&d->config.vni_pool);
    for (uint16_t vni = 100; vni < 103; vni++)
        idset_add(&d->config.vni_pool, vni);
    driver_up(d);
    assert_false(core_options(d->core, "no_such", &options));
    assert_true(core_options(d->core, "elcap", &options));
    assert_int_equal(options.vnis_max, 3);
    assert_int_equal(options.addresses, 23);
    assert_int_equal(options.min_nodes, 64);
    assert_true(options.hwcoll);
    for (unsigned bit = 1; bit <= TC_ALL; bit <<= 1) {
        struct reserve_request q = driver_request(traffic_class_word((int)bit), 2);
        q.vni_count = 0;
        q.traffic_classes = (uint8_t)bit;
        driver_reserve(d, q);
        assert_int_equal(driver_answered(d),
                         options.classes_allowed & bit ? ANSWER_CREATED : ANSWER_INVALID);
    }
    struct reserve_request q = driver_request("beyond", 2);
    q.vni_count = (int)options.vnis_max + 1;
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_NO_VNIS);
    q.job = "most";
    q.vni_count = (int)options.vnis_max;
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
}

FRESH(options__without_addresses_say_why)
{
    struct driver *d = *state;
    struct core_options options;
    d->config.min_nodes = 0;
    driver_up(d);
    assert_true(core_options(d->core, "elcap", &options));
    assert_false(options.hwcoll);
    assert_non_null(strstr(options.without.text, "addresses_per_job = auto"));
    d->config.fm_present = false;
    driver_configure(d);
    assert_true(core_options(d->core, "elcap", &options));
    assert_string_equal(options.without.text, "no fabric manager is configured");
}

UNIT_RUN(NULL, NULL)
