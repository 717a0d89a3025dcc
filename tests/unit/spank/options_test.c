/* SPDX-License-Identifier: Apache-2.0 */
/* The words of --mcast: what is taken, what is refused and how (F2, F12, F14). */

#include "deploy/slurm/spank/options.h"
#include "tests/unit/unit.h"

static void takes(const char *text, enum options_hwcoll hwcoll, bool of_job)
{
    struct options options;
    struct error err = {0};
    if (options_read(&options, text, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    assert_int_equal(options.hwcoll, hwcoll);
    assert_int_equal(options.of_job, of_job);
}

static void refuses(const char *text, const char *word)
{
    struct options options;
    struct error err = {0};
    assert_int_equal(options_read(&options, text, &err), ERROR_INVALID);
    assert_words(err.text, word);
}

UNIT(options__words)
{
    takes("hwcoll=on", OPTIONS_HWCOLL_ON, false);
    takes("hwcoll=off", OPTIONS_HWCOLL_OFF, false);
    takes("hwcoll=auto", OPTIONS_HWCOLL_AUTO, false);
    takes("vni=4", OPTIONS_HWCOLL_UNSAID, false);
    takes("vni=1,hwcoll=off", OPTIONS_HWCOLL_OFF, false);
    takes("vni=1,vnis=2", OPTIONS_HWCOLL_UNSAID, true);
    takes("vnis=0", OPTIONS_HWCOLL_UNSAID, true);
    takes("vnis=4,hwcoll=required", OPTIONS_HWCOLL_REQUIRED, true);
    takes("tc=best_effort:bulk_data", OPTIONS_HWCOLL_UNSAID, true);
    takes("shared=daos", OPTIONS_HWCOLL_UNSAID, true);
    takes("vnis=1,shared=daos:a.b-1:c_d", OPTIONS_HWCOLL_UNSAID, true);
    takes("single-node=off", OPTIONS_HWCOLL_UNSAID, true);
    takes("profile=large_2,hwcoll=on", OPTIONS_HWCOLL_ON, true);
    takes("res_txqs=64,max_les=65535,def_tles=0", OPTIONS_HWCOLL_UNSAID, true);
}

UNIT(options__wrong_values)
{
    refuses("vnis=5", "vnis=5: a job can have 0 to 4");
    refuses("vnis=", "0 to 4");
    refuses("vnis", "0 to 4");
    refuses("vnis=11", "0 to 4");
    refuses("vni=0", "1 to 4");
    refuses("vni=5", "1 to 4");
    refuses("vni=", "1 to 4");
    refuses("vni=12", "1 to 4");
    refuses("hwcoll=yes", "auto, on, off or required");
    refuses("hwcoll=o", "auto, on, off or required");
    refuses("hwcoll=", "auto, on, off or required");
    refuses("tc=best_effort:", "best_effort, low_latency");
    refuses("shared=", "names of at most 3 shared VNIs");
    refuses("shared=a:", "names of at most 3 shared VNIs");
    refuses("shared=a:b:c:d", "names of at most 3 shared VNIs");
    refuses("shared=a2345678901234567890123456789012x", "names of at most 3 shared VNIs");
    refuses("tc=best_effor", "best_effort, low_latency");
    refuses("tc=", "best_effort, low_latency");
    refuses("single-node=1", "on or off");
    refuses("profile=", "the name of a profile");
    refuses("profile=a-b", "the name of a profile");
    refuses("profile=a:b", "the name of a profile");
    refuses("profile=a_name_of_33_bytes_012345678901234", "the name of a profile");
    refuses("res_les=65536", "0 to 65535");
    refuses("res_les=", "0 to 65535");
    refuses("res_les=1a", "0 to 65535");
    refuses("res_les=0000001", "0 to 65535");
}

UNIT(options__wrong_words)
{
    refuses("", "nothing is said");
    refuses(",", "''");
    refuses("vnis=1,", "''");
    refuses("vnit=1", "'vnit'");
    refuses("res_=1", "'res_'");
    refuses("les=1", "'les'");
    refuses("no_adjust_limits", "'no_adjust_limits'");
    refuses("vnis=1,hwcoll=on,vnis=2", "vnis is said twice");
}

/* They go on through environments and shells. */
UNIT(options__wrong_letters)
{
    refuses("vnis=1;reboot", "letters");
    refuses("vnis=$(id)", "letters");
    refuses("vnis=1 ", "letters");
    refuses("vnis=1\n", "letters");
    refuses("HWCOLL=on", "letters");
    refuses("hwcoll=\xc3\xb6n", "letters");
}

UNIT(options__lengths)
{
    char text[OPTIONS_TEXT_MAX + 2];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    refuses(text, "longer than 512");
    text[OPTIONS_TEXT_MAX] = '\0';
    refuses(text, "is none of its words");
    /* More words than are compared. */
    size_t used = 0;
    static const char *const kinds[] = {"def", "res", "max"};
    static const char *const resources[] = {"txqs", "tgqs", "eqs", "cts",
                                            "tles", "ptes", "les", "acs"};
    text[0] = '\0';
    for (size_t i = 0; i < 24; i++) {
        const char *word = resources[i % 8];
        memcpy(text + used, kinds[i / 8], 3);
        text[used + 3] = '_';
        memcpy(text + used + 4, word, strlen(word));
        memcpy(text + used + 4 + strlen(word), "=1,", 4);
        used += strlen(word) + 7;
    }
    text[used - 1] = '\0';
    takes(text, OPTIONS_HWCOLL_UNSAID, true);
}

UNIT(options__of_a_step)
{
    assert_true(options_step_fits("hwcoll=off", NULL));
    assert_true(options_step_fits("hwcoll=off", "hwcoll=on,vnis=2"));
    assert_true(options_step_fits("vnis=2,hwcoll=off", "hwcoll=on,vnis=2"));
    assert_false(options_step_fits("vnis=2", NULL));
    assert_false(options_step_fits("vnis=2", ""));
    assert_false(options_step_fits("vnis=2", "vnis=1"));
    assert_false(options_step_fits("vnis=2", "vnis=20"));
    assert_false(options_step_fits("vnis=2,tc=bulk_data", "vnis=2"));
}

UNIT_RUN(NULL, NULL)
