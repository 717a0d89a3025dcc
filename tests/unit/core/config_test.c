/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"
#include "tests/coreconfig.h"

#include "core/config.h"
#include "core/reservation/record.h"

/* One that is valid, with all that can be sized and checked. */
static struct core_config valid(void)
{
    struct core_config c;
    coreconfig_init(&c);
    strcpy(c.clusters[0].name, "elcap");
    strcpy(c.clusters[1].name, "elcap2");
    c.cluster_count = 2;
    c.min_nodes = 64;
    c.total_addresses = 4086;
    c.system_nodes = 11136;
    c.fm_present = true;
    c.fm_url_count = 1;
    strcpy(c.fm_urls[0], "http://fm");
    return c;
}

#define REFUSED(change, words)                                                                     \
    do {                                                                                           \
        struct core_config c = valid();                                                            \
        struct error err = {0};                                                                    \
        change;                                                                                    \
        assert_int_equal(core_config_check(&c, &err), ERROR_INVALID);                              \
        assert_non_null(strstr(err.text, words));                                                  \
    } while (0)
#define ACCEPTED(change)                                                                           \
    do {                                                                                           \
        struct core_config c = valid();                                                            \
        change;                                                                                    \
        assert_int_equal(core_config_check(&c, NULL), 0);                                          \
    } while (0)

/* Each limit by itself, in a configuration that is valid but for it, and the last value before it.
 */
UNIT(config__is_refused_for_each_reason)
{
    ACCEPTED((void)0);
    REFUSED(strcpy(c.clusters[1].name, "el-cap"), "cluster \"el-cap\": names are");
    REFUSED(c.clusters[0].name[0] = '\0', "names are");
    REFUSED(c.clusters[1].name[0] = '\0', "names are");
    REFUSED(strcpy(c.clusters[1].name, "elcap"), "is there twice");
    REFUSED(c.vni_per_job = VNI_PER_JOB_MAX + 1, "out of its range");
    ACCEPTED(c.vni_per_job = VNI_PER_JOB_MAX);
    REFUSED((idset_init(&c.vni_pool), idset_add(&c.vni_pool, 10)), "0 usable VNIs");
    ACCEPTED((idset_init(&c.vni_pool), idset_add(&c.vni_pool, 11)));
    ACCEPTED((idset_init(&c.vni_pool), c.vni_per_job = 0));
    REFUSED(c.classes_default = 0, "one of them at least");
    REFUSED(c.classes_allowed = TC_ALL + 1, "one of them at least");
    ACCEPTED(c.classes_default = c.classes_allowed = TC_ALL);
    REFUSED(c.classes_default |= TC_DEDICATED_ACCESS, "dedicated_access is not in allowed");
    REFUSED(c.classes_default |= TC_BULK_DATA, "bulk_data is not in allowed");
    REFUSED(c.classes_allowed = TC_LOW_LATENCY, "best_effort is not in allowed");
    REFUSED(c.classes_allowed = TC_BEST_EFFORT, "low_latency is not in allowed");
    REFUSED(c.system_nodes = 0, "needs total_addresses, system_nodes");
    REFUSED((c.min_nodes = 1, c.system_nodes = 0), "needs total_addresses, system_nodes");
    REFUSED((c.min_nodes = 0, c.addresses_per_job = 5000), "is more than total_addresses");
    ACCEPTED((c.min_nodes = 0, c.addresses_per_job = 4086));
    ACCEPTED((c.min_nodes = 0, c.addresses_per_job = 5000, c.total_addresses = 0));
    ACCEPTED((c.min_nodes = 0, c.system_nodes = 0));
    REFUSED(c.sync_lot = 0, "out of its range");
    ACCEPTED(c.sync_lot = 1);
    REFUSED(c.calls_at_once = 0, "out of its range");
    ACCEPTED(c.calls_at_once = 1);
    REFUSED(c.call_timeout_ms = 0, "out of its range");
    REFUSED(c.reserve_timeout_ms = 0, "out of its range");
    REFUSED(c.reserve_timeout_ms = -2, "out of its range");
    ACCEPTED(c.reserve_timeout_ms = RESERVE_TIMEOUT_AUTO);
    REFUSED(c.link_retry_ms = 0, "out of its range");
    ACCEPTED(c.call_timeout_ms = c.reserve_timeout_ms = c.link_retry_ms = 1);
    REFUSED(c.fm_url_count = 0, "URLs are allowed");
    REFUSED(c.fm_url_count = FM_URLS_MAX + 1, "URLs are allowed");
    ACCEPTED(c.fm_url_count = FM_URLS_MAX);
    ACCEPTED((c.fm_present = false, c.fm_url_count = 0));
    REFUSED(c.events_keep = 0, "out of its range");
    ACCEPTED(c.events_keep = 1);
    REFUSED(c.vni_hold_ms = HOLD_UNTIL_REPORTED - 1, "out of its range");
    ACCEPTED(c.vni_hold_ms = HOLD_UNTIL_REPORTED);
    ACCEPTED(c.vni_hold_ms = 0);
    REFUSED(c.mass_loss_percent = 101, "out of its range");
    REFUSED(c.mass_loss_percent = 0, "out of its range");
    ACCEPTED(c.mass_loss_percent = 100);
    REFUSED(c.mass_loss_min = 0, "out of its range");
    ACCEPTED(c.mass_loss_min = 1);
    REFUSED(c.stray_grace_ms = -1, "out of its range");
    ACCEPTED(c.stray_grace_ms = 0);
}

/* The names are bounded, however many and long they are. */
UNIT(config__names_its_clusters)
{
    char text[NO_CLUSTER_SIZE];
    struct core_config c = valid();
    assert_string_equal(core_config_no_cluster(&c, "typo", text),
                        "no cluster \"typo\" is configured; there are elcap, elcap2");
    c.cluster_count = 1;
    assert_string_equal(core_config_no_cluster(&c, "typo", text),
                        "no cluster \"typo\" is configured; there is elcap");
    c.cluster_count = 0;
    assert_string_equal(core_config_no_cluster(&c, "typo", text),
                        "no cluster \"typo\" is configured: add [cluster \"...\"] to mcastd.conf");
    c.cluster_count = CLUSTERS_MAX;
    for (uint32_t i = 0; i < CLUSTERS_MAX; i++)
        (void)snprintf(c.clusters[i].name, sizeof c.clusters[i].name, "%032u", i);
    char longest[CLUSTER_NAME_MAX * 3] = "";
    memset(longest, 'x', sizeof longest - 1);
    (void)core_config_no_cluster(&c, longest, text);
    assert_string_equal(text + strlen(text) - strlen("4 and 59 more"), "4 and 59 more");
}

UNIT_RUN(NULL, NULL)
