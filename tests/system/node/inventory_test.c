/* SPDX-License-Identifier: Apache-2.0 */
/* A node tells its NICs to the real broker: when they differ from what it has confirmed, and no
 * more often; a NIC that was replaced reaches who follows the events (P2, P5). */

#include "tests/system/node/realbroker.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_SIZE = 200 };

/* The driver's file of a NIC. */
static void set_file(struct fixture *fixture, const char *device, const char *folder,
                     const char *name, const char *text)
{
    char path[PATH_SIZE];
    const char *const parts[] = {"sysfs", device, "device", folder};
    size_t used = (size_t)snprintf(path, sizeof path, "%s", fixture->folder);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        used += (size_t)snprintf(path + used, sizeof path - used, "/%s", parts[i]);
        (void)mkdir(path, 0755);
    }
    assert_int_equal(folder_write(path, name, 0644, text), 0);
}

static void configure(struct fixture *fixture, const char *more)
{
    char text[512];
    snprintf(text, sizeof text, "sysfs = %s/sysfs\ninventory_spread = 0s\nmissed_every = 0s\n%s",
             fixture->folder, more);
    fixture_set_config(fixture, text);
}

/* What the broker has of n1 has the words. */
static void expect_known(struct testbed *testbed, const char *words)
{
    struct plainhttp_reply reply;
    assert_int_equal(
        plainhttp_call(testbed_http(testbed), "GET", "/v1/nodes/n1/inventory", NULL, &reply), 200);
    char *text = json_dumps(reply.json, JSON_COMPACT);
    if (!strstr(text, words))
        fail_msg("%s is not in %s", words, text);
    free(text);
    plainhttp_reply_release(&reply);
}

static unsigned int events(struct fixture *fixture, const char *words)
{
    char command[PATH_SIZE + 64], line[1024];
    unsigned int count = 0;
    snprintf(command, sizeof command, "%s events 2>%s/events.err", MCASTCTL, fixture->folder);
    FILE *out = popen(command, "re");
    assert_non_null(out);
    while (fgets(line, sizeof line, out))
        count += strstr(line, words) != NULL;
    assert_int_equal(pclose(out), 0);
    return count;
}

static void replaced__reaches_who_follows_events(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed = realbroker_start(&(struct testbed_options){.mcastd = MCASTD});
    configure(fixture, "");
    fixture_set_cxi(fixture, "nics = 2\n[nic]\n[cxi1]\nnid = 4609\n");
    set_file(fixture, "cxi0", "fru", "serial_number", "GR21A\n");
    set_file(fixture, "cxi0", "uc", "qspi_blob_version", "1.5 \"41\"\n");
    EXPECT_RUN(0, "tend");
    expect_known(testbed, "{\"device\":\"cxi0\",\"address\":1,\"speed\":200000,\"link\":\"up\","
                          "\"serial\":\"GR21A\",\"firmware\":\"1.5__41_\"},{\"device\":\"cxi1\","
                          "\"address\":4609,\"speed\":200000,\"link\":\"up\"}");
    assert_int_equal(events(fixture, "nic"), 0);

    set_file(fixture, "cxi0", "fru", "serial_number", "GR99Z\n");
    EXPECT_RUN(0, "tend");
    assert_int_equal(events(fixture, "nic-replaced"), 1);
    assert_int_equal(events(fixture, "cxi0 was replaced (serial number GR99Z, before GR21A)"), 1);

    fixture_set_cxi(fixture, "nics = 2\n[cxi1]\nnid = 4609\nlink = down\n");
    EXPECT_RUN(0, "inventory --report");
    fixture_expect_out(fixture, "0x1201");
    assert_int_equal(events(fixture, "nic-link"), 1);
    expect_known(testbed, "\"speed\":0,\"link\":\"down\"");

    /* A spool that was lost, and a clock that was set back: the broker says what it has. */
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/spool", fixture->folder);
    assert_int_equal(folder_write(path, "inventory", 0600,
                                  "{\"order\":9000000000000000,\"at\":0,\"refused\":false,"
                                  "\"nics\":[]}"),
                     0);
    fixture_set_cxi(fixture, "nics = 2\n[cxi1]\nnid = 4609\n");
    EXPECT_RUN(0, "tend");
    expect_known(testbed, "\"order\":9000000000000001");
    strcat(path, "/inventory");
    assert_int_equal(remove(path), 0);
    fixture_set_cxi(fixture, "nics = 1\n");
    EXPECT_RUN(0, "tend");
    assert_int_equal(events(fixture, "cxi1 is gone"), 1);
    testbed_destroy(testbed);
}

static void same__is_told_once(void **state)
{
    struct fixture *fixture = *state;
    configure(fixture, "");
    EXPECT_RUN(0, "tend");
    const unsigned int asked = fakebroker_requests(fixture->broker);
    assert_int_equal(asked, 1); /* refused: it is a broker of before */
    EXPECT_RUN(0, "tend");
    assert_int_equal(fakebroker_requests(fixture->broker), asked);

    struct testbed *testbed = realbroker_start(&(struct testbed_options){.mcastd = MCASTD});
    EXPECT_RUN(0, "inventory --report"); /* at once */
    expect_known(testbed, "\"cxi3\"");
    testbed_kill_broker(testbed);
    EXPECT_RUN(0, "tend"); /* makes no request */
    fixture_set_cxi(fixture, "nics = 3\n");
    EXPECT_RUN(0, "tend");
    fixture_expect_err(fixture, "the node's NICs are reported later");
    EXPECT_RUN(4, "inventory --report");
    assert_int_equal(testbed_start_broker(testbed), 0);
    EXPECT_RUN(0, "tend");
    assert_int_equal(events(fixture, "cxi3 is gone"), 1);
    testbed_destroy(testbed);
}

/* After a boot each node waits for its own moment. */
static void nodes__do_not_come_together(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed = realbroker_start(&(struct testbed_options){.mcastd = MCASTD});
    struct plainhttp_reply reply;
    unsigned int came = 0;
    char text[256];
    snprintf(text, sizeof text, "sysfs = %s/sysfs\ninventory_spread = 24h\nmissed_every = 0s\n",
             fixture->folder);
    fixture_set_config(fixture, text);
    for (int i = 0; i < 8; i++) {
        char path[64];
        EXPECT_RUN(0, "tend --node spread%d", i);
        snprintf(path, sizeof path, "/v1/nodes/spread%d/inventory", i);
        const int status = plainhttp_call(testbed_http(testbed), "GET", path, NULL, &reply);
        came += status == 200;
        plainhttp_reply_release(&reply);
    }
    assert_in_range(came, 0, 7);
    testbed_destroy(testbed);
}

static void inventory__is_printed(void **state)
{
    struct fixture *fixture = *state;
    configure(fixture, "");
    set_file(fixture, "cxi2", "fru", "serial_number",
             "a-serial-number-that-is-longer-than-sixty-four-characters-01234567890123456789\n");
    EXPECT_RUN(0, "inventory");
    fixture_expect_out(fixture, "cxi3     0x4        up      200000 -");
    EXPECT_RUN(0, "inventory --json");
    fixture_expect_out(fixture, "\"node\": \"n1\"");
    fixture_expect_out(fixture,
                       "\"a-serial-number-that-is-longer-than-sixty-four-characters-012345\"");
    fixture_set_cxi(fixture, "nics = 0\n");
    EXPECT_RUN(0, "inventory --json");
    fixture_expect_out(fixture, "\"nics\": []");
    assert_int_equal(fakebroker_requests(fixture->broker), 0);
    configure(fixture, "inventory = no\n");
    EXPECT_RUN(0, "tend");
    assert_int_equal(fakebroker_requests(fixture->broker), 0);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, fixture_create, fixture_destroy)
UNIT_MAIN(WITH(replaced__reaches_who_follows_events), WITH(same__is_told_once),
          WITH(nodes__do_not_come_together), WITH(inventory__is_printed))
