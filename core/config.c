/* SPDX-License-Identifier: Apache-2.0 */
#include "core/config.h"

#include "core/reservation/record.h"
#include "core/reservation/sizing.h"
#include "core/reservation/vnipool.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static int check_clusters(const struct core_config *c, struct error *err)
{
    assert(c->cluster_count <= CLUSTERS_MAX);
    for (uint32_t i = 0; i < c->cluster_count; i++) {
        const char *name = c->clusters[i].name;
        if (!cluster_name_valid(name))
            return error_set(err, ERROR_INVALID,
                             "cluster \"%s\": names are 1-%d of a-z, 0-9 and _, without '-'", name,
                             CLUSTER_NAME_MAX);
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(name, c->clusters[j].name) == 0)
                return error_set(err, ERROR_INVALID, "cluster \"%s\" is there twice", name);
        }
    }
    return 0;
}

static int check_vnis(const struct core_config *c, struct error *err)
{
    assert(vnipool_usable(&c->vni_pool) <= c->vni_pool.count);
    uint32_t usable = vnipool_usable(&c->vni_pool);
    if (c->vni_per_job > usable)
        return error_set(err, ERROR_INVALID,
                         "[vni] pool has %u usable VNIs (1 and 10 never are), a job gets %u: make "
                         "the pool larger",
                         usable, c->vni_per_job);
    return 0;
}

/* 0x7fff is the fabric's own, for its management. */
static int check_pkeys(const struct core_config *c, struct error *err)
{
    const struct idset *keys = &c->omnipath.pkeys;
    if (keys->count == 0 || (!idset_has(keys, 0) && idset_next(keys, 0x7fff) < 0x7fff))
        return 0;
    return error_set(err, ERROR_INVALID,
                     "[omnipath] partition_keys: those that jobs can have are 1-32766 (0x7ffe), "
                     "without the bit of full membership");
}

static int check_classes(const struct core_config *c, struct error *err)
{
    if (c->classes_default == 0 || c->classes_allowed > TC_ALL)
        return error_set(err, ERROR_INVALID, "[vni] traffic_classes: one of them at least");
    for (uint32_t bit = 1; bit <= TC_BEST_EFFORT; bit <<= 1) {
        if (bit & c->classes_default & ~c->classes_allowed)
            return error_set(err, ERROR_INVALID,
                             "[vni] traffic_classes: %s is not in allowed_traffic_classes",
                             traffic_class_word((int)bit));
    }
    return 0;
}

static int check_profile(const struct core_config *c, const struct profile_config *p,
                         struct error *err)
{
    const uint32_t usable = vnipool_usable(&c->vni_pool);
    const int refused = (int)(p->classes & ~c->classes_allowed);
    uint32_t site;
    if (!profile_name_valid(p->name))
        return error_set(err, ERROR_INVALID, "profile \"%s\": names are 1-%d of a-z, 0-9 and _",
                         p->name, PROFILE_NAME_MAX);
    if (p->vni_count > VNI_PER_JOB_MAX || (p->vni_count > 0 && (uint32_t)p->vni_count > usable))
        return error_set(err, ERROR_INVALID,
                         "[profile \"%s\"] vnis = %d: [vni] pool has %u usable VNIs: make the pool "
                         "larger",
                         p->name, p->vni_count, usable);
    if (refused)
        return error_set(err, ERROR_INVALID,
                         "[profile \"%s\"] traffic_classes: %s is not in [vni] "
                         "allowed_traffic_classes",
                         p->name, traffic_class_word(refused & -refused));
    if (c->total_addresses > 0 && p->addresses > c->total_addresses)
        return error_set(
            err, ERROR_INVALID,
            "[profile \"%s\"] addresses = %u is more than [hwcoll] total_addresses = %u", p->name,
            p->addresses, c->total_addresses);
    if (p->wish == WISH_REQUIRED &&
        (!c->fm_present || (p->addresses == 0 && sizing_addresses(c, &site, err) < 0)))
        return error_set(err, ERROR_INVALID,
                         "[profile \"%s\"] hwcoll = required, but no job gets multicast addresses: "
                         "set [fm] url, and [hwcoll] addresses_per_job or min_nodes",
                         p->name);
    return 0;
}

static int check_profiles(const struct core_config *c, struct error *err)
{
    int rc = 0;
    assert(c->profile_count <= PROFILES_MAX);
    for (uint32_t i = 0; rc == 0 && i < c->profile_count; i++)
        rc = check_profile(c, &c->profiles[i], err);
    return rc;
}

/* broker/config/keys.inc has the ranges, and words for each. */
static bool within_ranges(const struct core_config *c)
{
    return c->calls_at_once > 0 && c->call_timeout_ms > 0 &&
           (c->reserve_timeout_ms > 0 || c->reserve_timeout_ms == RESERVE_TIMEOUT_AUTO) &&
           c->link_retry_ms > 0 && c->stray_grace_ms >= 0 && c->mass_loss_percent > 0 &&
           c->mass_loss_percent <= 100 && c->mass_loss_min > 0 && c->sync_lot > 0 &&
           c->events_keep > 0 && c->vni_per_job <= VNI_PER_JOB_MAX &&
           (c->vni_hold_ms >= 0 || c->vni_hold_ms == HOLD_UNTIL_REPORTED);
}

int core_config_check(const struct core_config *c, struct error *err)
{
    assert(c);
    int rc;
    uint32_t addresses;
    if (!within_ranges(c))
        return error_set(err, ERROR_INVALID, "a number or duration is out of its range");
    if ((rc = check_clusters(c, err)) < 0 || (rc = check_vnis(c, err)) < 0 ||
        (rc = check_classes(c, err)) < 0 || (rc = check_pkeys(c, err)) < 0 ||
        (rc = check_profiles(c, err)) < 0)
        return rc;
    /* Sizing is needed as soon as a job could be eligible: with a minimum size every large one is.
     */
    if ((c->min_nodes > 0 || c->addresses_per_job > 0) &&
        (rc = sizing_addresses(c, &addresses, err)) < 0)
        return rc;
    if (c->fm_url_count > FM_URLS_MAX || (c->fm_present && c->fm_url_count == 0))
        return error_set(err, ERROR_INVALID, "[fm] url: 1-%d URLs are allowed", FM_URLS_MAX);
    return 0;
}

const char *core_config_no_cluster(const struct core_config *config, const char *cluster,
                                   char out[NO_CLUSTER_SIZE])
{
    enum { NAMED = 5 };
    const uint32_t count = config->cluster_count, named = count > NAMED ? NAMED : count;
    assert(cluster);
    int used = snprintf(out, NO_CLUSTER_SIZE, "no cluster \"%.40s\" is configured%s", cluster,
                        count == 0   ? ": add [cluster \"...\"] to mcastd.conf"
                        : count == 1 ? "; there is "
                                     : "; there are ");
    for (uint32_t i = 0; i < named; i++)
        used += snprintf(out + used, NO_CLUSTER_SIZE - (size_t)used, "%s%s", i > 0 ? ", " : "",
                         config->clusters[i].name);
    if (count > named)
        (void)snprintf(out + used, NO_CLUSTER_SIZE - (size_t)used, " and %u more", count - named);
    return out;
}
