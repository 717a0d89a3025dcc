/* SPDX-License-Identifier: Apache-2.0 */
/* When much is missing at once the broker stops and says so wherever one looks; an administrator
 * decides (F22, B11). */

#include "tests/system/misbehaviour/scene.h"
#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"

static const char metric[] = "\nmcastd_alarm{alarm=\"mass-loss\",cluster=\"\"} ";

static bool shows(const char *path, const char *text)
{
    struct plainhttp_reply reply;
    plainhttp_call(testbed_http(scene_stage()), "GET", path, NULL, &reply);
    bool found = reply.text && strstr(reply.text, text);
    plainhttp_reply_release(&reply);
    return found;
}

static bool status_has_an_alarm(void *arg)
{
    return shows("/v1/status", "\"alarms\":[{\"kind\":\"mass-loss\",\"since\":\"2") &&
           shows("/v1/status", " 4 of 4 reservations"); /* each was asked for */
}

static bool status_has_none(void *arg)
{
    return shows("/v1/status", "\"alarms\":[]");
}

static bool all_are_lost(void *arg)
{
    char told[SCENE_TEXT];
    for (int i = 0; i < 4; i++) {
        scene_job_state((const char[]){(char)('a' + i), '\0'}, told);
        if (strcmp(told, "lost") != 0)
            return false;
    }
    return true;
}

static void assert_metric(char value)
{
    char line[sizeof metric + 1];
    (void)snprintf(line, sizeof line, "%s%c", metric, value);
    assert_true(shows("/metrics", line));
}

static void mass_loss__is_said_everywhere_and_decided(void **state)
{
    char told[SCENE_TEXT], reason[SCENE_TEXT];
    struct plainhttp_reply reply;
    for (int i = 0; i < 4; i++)
        scene_reserve((const char[]){(char)('a' + i), '\0'}, told, reason);
    assert_metric('0');
    assert_true(shows("/v1/doctor", "\"finding\":\"no alarm is on\""));
    scene_tell_fm("POST", "/mock/forget", NULL);
    testbed_kill_broker(scene_stage()); /* the next comparison is after a start */
    assert_int_equal(testbed_start_broker(scene_stage()), 0);
    assert_true(await(status_has_an_alarm, NULL, AWAIT_DEADLINE_MS));
    assert_true(shows("/v1/status", "mcastctl accept-loss"));
    assert_metric('1');
    assert_true(
        shows("/v1/doctor", "{\"check\":\"alarm\",\"level\":\"problem\",\"finding\":\"mass-loss"));
    assert_true(shows("/v1/events?after=0&follow=0", "\nevent: alarm\n"));
    assert_false(shows("/v1/events?after=0&follow=0", "\nevent: lost\n"));
    scene_await_logged("ALARM mass-loss: ");

    plainhttp_call(testbed_http(scene_stage()), "POST", "/v1/accept-loss", NULL, &reply);
    assert_string_equal(reply.text, "{\"reservations\":4}");
    plainhttp_reply_release(&reply);
    assert_true(await(all_are_lost, NULL, AWAIT_DEADLINE_MS));
    assert_true(await(status_has_none, NULL, AWAIT_DEADLINE_MS));
    assert_metric('0');
    assert_true(shows("/v1/events?after=0&follow=0", "\nevent: alarm-over\n"));
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(mass_loss__is_said_everywhere_and_decided,
                                          scene_start_quick, scene_stop))
