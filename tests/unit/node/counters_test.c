/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver's files say of a NIC: counters, and words (P2, P6). */

#include "node/services/counters.h"
#include "node/services/sysfs.h"
#include "tests/unit/unit.h"

#include <sys/stat.h>

static struct settings settings;

static int set_up(void **state)
{
    char path[SETTINGS_TEXT_SIZE + 64];
    settings_init(&settings);
    strcpy(settings.sysfs, "/tmp/node_counters_XXXXXX");
    if (!mkdtemp(settings.sysfs))
        return -1;
    static const char *const folders[] = {"cxi0", "cxi0/device", "cxi0/device/telemetry",
                                          "cxi0/device/fru"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", settings.sysfs, folders[i]);
        if (mkdir(path, 0700) < 0)
            return -1;
    }
    return 0;
}

static int tear_down(void **state)
{
    char command[SETTINGS_TEXT_SIZE + 16];
    snprintf(command, sizeof command, "rm -rf %s", settings.sysfs);
    return system(command);
}

static void put(const char *name, const char *text)
{
    char path[SETTINGS_TEXT_SIZE + 64];
    snprintf(path, sizeof path, "%s/cxi0/device/%s", settings.sysfs, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

#define TEST(name) UNIT_WITH(name, set_up, tear_down)

TEST(counter__is_read_strictly)
{
    uint64_t value = 0;
    assert_true(counter_parse("0", &value));
    assert_true(counter_parse("123@1764300000.000000001", &value));
    assert_int_equal(value, 123);
    assert_true(counter_parse("9223372036854775807", &value));
    static const char *const wrong[] = {"",
                                        "@1",
                                        "-1",
                                        " 1",
                                        "1 ",
                                        "0x1",
                                        "1.5",
                                        "12a@1",
                                        "9223372036854775808",
                                        "000000000000000000000001"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(counter_parse(wrong[i], &value));
    assert_int_equal(value, INT64_MAX);
}

TEST(counters__of_a_kind_are_summed)
{
    struct counters counters;
    strcpy(settings.counters[TRAFFIC_TX_PACKETS], "sent_[0-2],other");
    strcpy(settings.counters[TRAFFIC_RX_PACKETS], "");
    strcpy(settings.counters[TRAFFIC_PAUSED], "paused_[0-1]");
    put("telemetry/hni_sts_tx_ok_octets", "7@1.0\n");
    put("telemetry/sent_0", "1@1.0\n");
    put("telemetry/sent_1", "2@1.0\n");
    put("telemetry/sent_2", "4@1.0\n");
    put("telemetry/other", "8\n");
    put("telemetry/paused_0", "1@1.0\n"); /* its second one is missing */
    put("telemetry/hni_sts_rx_ok_octets", "what?\n");
    counters_read(&settings, "cxi0", &counters);
    assert_int_equal(counters.known, 1 << TRAFFIC_TX_OCTETS | 1 << TRAFFIC_TX_PACKETS);
    assert_int_equal(counters.of[TRAFFIC_TX_OCTETS], 7);
    assert_int_equal(counters.of[TRAFFIC_TX_PACKETS], 15);
    put("telemetry/other", "9223372036854775807\n"); /* the sum is no counter */
    counters_read(&settings, "cxi0", &counters);
    assert_int_equal(counters.known, 1 << TRAFFIC_TX_OCTETS);
    counters_read(&settings, "cxi7", &counters);
    assert_int_equal(counters.known, 0);
}

TEST(word__is_one_line)
{
    char word[SYSFS_TEXT_SIZE], longest[200];
    put("fru/serial_number", "  GR21 A \nmore\n");
    assert_true(sysfs_read(settings.sysfs, "cxi0", "fru/serial_number", word));
    assert_string_equal(word, "GR21 A");
    put("fru/serial_number", "\n");
    assert_false(sysfs_read(settings.sysfs, "cxi0", "fru/serial_number", word));
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    put("fru/serial_number", longest);
    assert_false(sysfs_read(settings.sysfs, "cxi0", "fru/serial_number", word));
    assert_string_equal(word, "");
    assert_false(sysfs_read(settings.sysfs, "cxi0", "fru", word)); /* a folder */
    assert_false(sysfs_read(settings.sysfs, "cxi0", "fru/none", word));
}

UNIT_RUN(NULL, NULL)
