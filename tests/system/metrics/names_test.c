/* SPDX-License-Identifier: Apache-2.0 */
/* Alert rules, dashboard and documentation name what the broker really shows, and all of it is
 * documented: names cannot drift apart. */
#include "tests/system/fmapi/authority.h"
#include "tests/system/metrics/scrape.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/system/rig/testbed.h"
#include "tests/unit/unit.h"

#include <time.h>

#define RULES TOP "/deploy/prometheus/mcastd.rules.yml"
#define RULES_TEST TOP "/tests/system/metrics/rules_test.yml"
#define SCRAPE_CONFIG TOP "/deploy/prometheus/scrape.yml"
#define NAMES TOP "/tests/system/metrics/names.py"

enum { HOUR = 3600 };

static struct scrape scrape;
static struct authority site, own; /* own: what the broker shows the fabric manager */
static struct testbed *testbed;

static bool all_is_there(void *arg)
{
    struct scrape seen;
    scrape_take(&seen, testbed_http(testbed));
    bool there = scrape_has(&seen, "mcastd_cluster_listed_timestamp_seconds{cluster=\"tuo\"}") &&
                 scrape_has(&seen, "mcastd_inventory_checked_timestamp_seconds");
    scrape_release(&seen);
    return there;
}

/* With all that there can be, so that every family has a sample: TLS on either side, a login that
 * ends, a resource manager that has synced, and one that was asked; an inventory. */
static int take_scrape(void **state)
{
    char broker[512], fm[512];
    struct plainhttp_reply reply;
    authority_init(&site, "IP:127.0.0.1");
    authority_issue(&own, "DNS:mcastd", &site, -HOUR, HOUR);
    (void)snprintf(broker, sizeof broker, "listen = 127.0.0.1:0\ntls_cert = %s\ntls_key = %s",
                   site.cert, site.key);
    (void)snprintf(fm, sizeof fm, "mtls_cert = %s\nmtls_key = %s", own.cert, own.key);
    const struct testbed_options options = {
        .mcastd = MCASTD,
        .mock_fm = MOCK_FM,
        .oauth = true,
        .fm_cert = site.cert,
        .fm_key = site.key,
        .broker = broker,
        .fm = fm,
        .inventory = "poll = 1s",
        .hwcoll = "min_nodes = 64\naddresses_per_job = 20\ntotal_addresses = 4086",
        .clusters = "[cluster \"tuo\"]\nusers = root\nlist_command = /bin/true\n"};
    testbed = testbed_create(&options);
    if (!testbed || testbed_start_fm(testbed) < 0 || testbed_start_broker(testbed) < 0 ||
        testbed_await_link(testbed) < 0)
        return -1;
    plainhttp_call(testbed_http(testbed), "POST", "/v1/clusters/elcap/sync", "{\"active\":[]}",
                   &reply);
    plainhttp_reply_release(&reply);
    if (!await(all_is_there, NULL, AWAIT_DEADLINE_MS))
        return -1;
    scrape_take(&scrape, testbed_http(testbed));
    return 0;
}

static int drop_scrape(void **state)
{
    scrape_release(&scrape);
    testbed_destroy(testbed);
    authority_release(&site);
    authority_release(&own);
    return 0;
}

/* names.py compares; then promtool, if it is there. */
static void names__are_what_the_broker_shows(void **state)
{
    char text[128], recorded[128];
    folder_path(text, sizeof text, testbed_folder(testbed), "scrape.txt");
    folder_path(recorded, sizeof recorded, testbed_folder(testbed), "dashboard.yml");
    const char *const compare[] = {NAMES, TOP, text, recorded, NULL};
    const char *const checks[][5] = {
        {"check", "rules", RULES},
        {"test", "rules", RULES_TEST},
        {"check", "config", "--syntax-only", SCRAPE_CONFIG},
        {"check", "rules", recorded},
    };
    assert_int_equal(folder_write(testbed_folder(testbed), "scrape.txt", 0600, scrape.text + 1), 0);
    assert_true(tool_passes("python3", compare, NULL));
    if (!promtool_there())
        skip();
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        assert_true(tool_passes(PROMTOOL, checks[i], NULL));
}

/* What ends some day is told, in seconds, before it does. */
static void ends__are_told(void **state)
{
    static const char *const names[] = {
        "mcastd_certificate_expires_timestamp_seconds{use=\"fabric-manager\"}",
        "mcastd_fabric_manager_login_expires_timestamp_seconds"};
    double now = (double)time(NULL); /* without the part of a second that has passed */
    for (size_t i = 0; i < 2; i++) {
        double ends = scrape_value(&scrape, names[i]);
        if (ends <= now || ends > now + 1 + HOUR)
            fail_msg("%s is %f, and now is %f", names[i], ends, now);
    }
    assert_true(scrape_value(&scrape,
                             "mcastd_certificate_expires_timestamp_seconds{use=\"server\"}") > now);
}

UNIT_GROUP(take_scrape, drop_scrape, cmocka_unit_test(names__are_what_the_broker_shows),
           cmocka_unit_test(ends__are_told))
