/* SPDX-License-Identifier: Apache-2.0 */
/* node.conf: strict, with every fault named by file and line. */

#include "core/reservation/record.h"
#include "node/settings.h"
#include "tests/unit/unit.h"

static struct settings settings;

/* The faults as one text, for free(). */
static char *parse(const char *text, unsigned int *count)
{
    char *faults = NULL, *copy = strdup(text);
    size_t size = 0;
    FILE *out = open_memstream(&faults, &size);
    settings_init(&settings);
    *count = settings_parse(&settings, copy, "node.conf", out);
    fclose(out);
    free(copy);
    return faults;
}

UNIT(settings__have_defaults)
{
    settings_init(&settings);
    assert_string_equal(settings.url, "");
    assert_string_equal(settings.spool, "/var/lib/mcast-node");
    assert_string_equal(settings.libcxi, "libcxi.so.1");
    assert_int_equal(settings.timeout_ms, 30000);
    assert_int_equal(settings.epilog_ms, 5000);
    assert_int_equal(settings.housekeeping_ms, 300000);
    assert_int_equal(settings.missed_ms, 30 * 60000);
    assert_true(settings.report);
    assert_true(settings.inventory);
    assert_int_equal(settings.inventory_ms, 10 * 60000);
    assert_string_equal(settings.sysfs, "/sys/class/cxi");
    assert_true(settings.traffic);
    assert_string_equal(settings.counters[TRAFFIC_TX_PACKETS], "hni_pkts_sent_by_tc_[0-7]");
    assert_true(settings.single_node);
    assert_true(settings.adjust_limits);
    assert_false(settings.housekeeping);
    assert_int_equal(settings.min_nics, 1);
    assert_int_equal(settings.traffic_classes, TC_BEST_EFFORT | TC_LOW_LATENCY);
    assert_int_equal(settings.traffic_classes, 0x0a);
    assert_int_equal(settings.pool.count, 0);
    assert_int_equal(settings.vnis.count, 65535 - 1024 + 1);
    assert_false(idset_has(&settings.vnis, 1023));
    assert_int_equal(settings.limits.of[CXI_RSRC_TYPE_PTE].def, 6);
    assert_int_equal(settings.limits.of[CXI_RSRC_TYPE_LE].max, 16384);
}

UNIT(settings__read_every_kind)
{
    unsigned int count;
    char *faults = parse("# a comment\n; another\n\n"
                         "url = https://mgmt1:7470\n"
                         " cluster=elcap \n"
                         "cacert = /etc/mcastd/ca.pem\n"
                         "epilog_retry = 500ms\n"
                         "busy_retry = 0s\n"
                         "housekeeping_retry = 1h\r\n"
                         "report = no\n"
                         "min_nics = 4\n"
                         "traffic_classes = dedicated_access, best_effort\n"
                         "pool = 1024-2047,4096\n"
                         "def_tles = 4\nres_acs = 10\nmax_les = 100",
                         &count);
    assert_int_equal(count, 0);
    assert_string_equal(faults, "");
    assert_string_equal(settings.url, "https://mgmt1:7470");
    assert_string_equal(settings.cluster, "elcap");
    assert_string_equal(settings.cacert, "/etc/mcastd/ca.pem");
    assert_int_equal(settings.epilog_ms, 500);
    assert_int_equal(settings.busy_ms, 0);
    assert_int_equal(settings.housekeeping_ms, 3600000);
    assert_false(settings.report);
    assert_int_equal(settings.min_nics, 4);
    assert_int_equal(settings.traffic_classes, 0x09);
    assert_true(idset_has(&settings.pool, 4096));
    assert_int_equal(settings.pool.count, 1025);
    assert_int_equal(settings.limits.of[CXI_RSRC_TYPE_TLE].def, 4);
    assert_int_equal(settings.limits.of[CXI_RSRC_TYPE_AC].res, 10);
    assert_int_equal(settings.limits.of[CXI_RSRC_TYPE_LE].max, 100);
    free(faults);
}

UNIT(settings__name_every_fault)
{
    unsigned int count;
    char *faults = parse("urll = x\nreport = maybe\ncluster = El-Cap\n\nspool = relative\n"
                         "min_nics = 17\ntimeout = 5\ntraffic_classes = fast\nreport\n"
                         "pool = 7-3\nreport = yes\ndef_txqs = -1\ncert = /a\n",
                         &count);
    assert_string_equal(
        faults,
        "node.conf:1: there is no key 'urll'; mcast-node --help-config lists them\n"
        "node.conf:2: report must be yes or no\n"
        "node.conf:3: cluster must be 1 to 32 of a-z, 0-9 and _\n"
        "node.conf:5: spool must be an absolute path\n"
        "node.conf:6: min_nics must be a number from 0 to 16\n"
        "node.conf:7: timeout must be a duration such as 500ms, 5s or 10m, up to 24h\n"
        "node.conf:8: traffic_classes must be one or more of best_effort, low_latency, bulk_data, "
        "dedicated_access\n"
        "node.conf:9: 'report' is not key = value\n"
        "node.conf:10: pool must be ids and ranges such as 1024-2047,4096\n"
        "node.conf:11: report is set in line 2 already\n"
        "node.conf:12: def_txqs must be a number from 0 to 65535\n"
        "node.conf: cert and key go together\n");
    assert_int_equal(count, 12);
    free(faults);
}

UNIT(settings__durations_are_bounded)
{
    int64_t ms = -1;
    assert_true(settings_duration("0s", 0, &ms));
    assert_int_equal(ms, 0);
    assert_true(settings_duration("24h", 0, &ms));
    assert_int_equal(ms, 86400000);
    static const char *const wrong[] = {"",    "s",   "5",     "5d",  "-1s",
                                        "5 s", "25h", "1e3ms", "+5s", "99999999999999999999ms"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(settings_duration(wrong[i], 0, &ms));
}

/* The sample, its comments taken off, is all of the defaults. */
UNIT(settings__the_sample_is_what_it_says)
{
    char *sample = NULL, *bare = NULL;
    size_t size = 0, bare_size = 0;
    FILE *out = open_memstream(&sample, &size);
    settings_print_sample(out);
    fclose(out);
    FILE *kept = open_memstream(&bare, &bare_size);
    unsigned int keys = 0;
    for (char *rest = sample, *line; (line = strsep(&rest, "\n"));) {
        if (line[0] == '#' && line[1] != ' ') {
            fprintf(kept, "%s\n", line + 1);
            keys++;
        }
    }
    fclose(kept);
    unsigned int count;
    char *faults = parse(bare, &count);
    assert_string_equal(faults, "");
    assert_int_equal(count, 0);
    assert_int_equal(keys, 34 + 3 * CXI_RSRC_TYPE_MAX);
    struct settings read = settings;
    settings_init(&settings);
    assert_memory_equal(&read, &settings, sizeof read);
    free(faults);
    free(sample);
    free(bare);
}

UNIT_RUN(NULL, NULL)
