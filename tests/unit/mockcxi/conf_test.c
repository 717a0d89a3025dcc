/* SPDX-License-Identifier: Apache-2.0 */

#include <errno.h>

#include "mock-cxi/conf.h"
#include "mock-cxi/value.h"
#include "tests/unit/unit.h"

static struct conf *parse(const char *text)
{
    struct error err = {.text = ""};
    char *copy = strdup(text);
    assert_non_null(copy);
    struct conf *conf = conf_parse(copy, &err);
    free(copy);
    if (!conf)
        fail_msg("%s", err.text);
    return conf;
}

UNIT(conf__everything)
{
    struct conf *conf = parse("# a comment\n"
                              "[mock]\r\n"
                              "  nics = 2 ; two\n"
                              "privileged = any\n"
                              "shared_vnis = no\n"
                              "log = yes\n"
                              "\n"
                              "[nic]\n"
                              "txqs = 0x10\n"
                              "[cxi1]\n"
                              "le_pools=3\n"
                              "tle_pools = 2\n"
                              "description = fifteen letters\n"
                              "[fault slow end]\n"
                              "call = destroy_svc\n"
                              "nic = cxi1\n"
                              "service = 7\n"
                              "errno = EBUSY\n"
                              "when = after\n"
                              "each_service = yes\n"
                              "count = 3\n"
                              "for = 5m\n"
                              "until = 1800000000\n"
                              "delay = 20ms\n"
                              "[fault other]\n");
    assert_int_equal(conf->nic_count, 2);
    assert_true(conf->anyone);
    assert_false(conf->shared_vnis);
    assert_true(conf->log);
    assert_int_equal(conf->nics[0].info.num_txqs, 16);
    assert_int_equal(conf->nics[0].le_pools, 16);
    assert_int_equal(conf->nics[1].info.num_txqs, 16);
    assert_int_equal(conf->nics[1].le_pools, 3);
    assert_int_equal(conf->nics[1].tle_pools, 2);
    assert_string_equal(conf->nics[1].info.fru_description, "fifteen letters");
    assert_int_equal(conf->fault_count, 2);
    const struct fault *fault = &conf->faults[0];
    assert_string_equal(fault->name, "slow end");
    assert_string_equal(fault->call, "destroy_svc");
    assert_int_equal(fault->nic, 1);
    assert_int_equal(fault->service, 7);
    assert_int_equal(fault->error, EBUSY);
    assert_true(fault->after);
    assert_true(fault->each_service);
    assert_int_equal(fault->count, 3);
    assert_int_equal(fault->for_ms, 300000);
    assert_int_equal(fault->until, 1800000000);
    assert_int_equal(fault->delay_ms, 20);
    fault = &conf->faults[1];
    assert_string_equal(fault->call, "");
    assert_int_equal(fault->nic, FAULT_NONE);
    assert_int_equal(fault->service, FAULT_NONE);
    assert_false(fault_is_counted(fault));
    free(conf);
}

/* A test that means something else than it says would be worse than none. */
UNIT(conf__refuses_what_it_does_not_know)
{
    static const struct {
        const char *text;
        const char *says;
    } cases[] = {
        {"nics = 4\n", "line 1: 'nics' is in no section"},
        {"[mock]\nnic = 4\n", "line 2: [mock] has no 'nic'"},
        {"[mock]\nnics = 33\n", "'33' is not a number from 0 to 32"},
        {"[mock]\nnics = -1\n", "'-1' is not"},
        {"[mock]\nnics = 4x\n", "'4x' is not"},
        {"[mock]\nnics\n", "neither [section] nor key = value"},
        {"[mock]\nprivileged = nobody\n", "neither any nor root"},
        {"[mock]\nlog = 1\n", "neither yes nor no"},
        {"[cxi0]\n", "there is no NIC 'cxi0'"},
        {"[mock]\nnics = 4\n[cxi4]\n", "there is no NIC 'cxi4'"},
        {"[nic]\nles = 65535\n", "'65535' is not a number from 0 to 65534"},
        {"[nic]\nlink = maybe\n", "neither up nor down"},
        {"[nic]\nfoos = 1\n", "a NIC has no 'foos'"},
        {"[nic]\ndescription = sixteen letters!\n", "more than 15 characters"},
        {"[nics]\n", "there is no section 'nics'"},
        {"[mock\n", "a section is [name]"},
        {"[fault ]\n", "a fault needs a name"},
        {"[fault a]\n[fault a]\n", "line 2: there are two faults 'a'"},
        {"[fault a]\ncall = cxil_destroy_svc\n", "is no call"},
        {"[fault a]\nnic = 1\n", "is no NIC"},
        {"[fault a]\nservice = 0\n", "'0' is not a number"},
        {"[fault a]\nerrno = BUSY\n", "'BUSY' is not the name of an error"},
        {"[fault a]\nfor = 5\n", "'5' is not a time"},
        {"[fault a]\ndelay = 9999999h\n", "is not a time"},
        {"[fault a]\nwhen = now\n", "neither after nor before"},
        {"[fault a]\ncounts = 1\n", "a fault has no 'counts'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {.text = ""};
        char *copy = strdup(cases[i].text);
        assert_non_null(copy);
        assert_null(conf_parse(copy, &err));
        assert_words(err.text, cases[i].says);
        assert_int_equal(err.code, ERROR_INVALID);
        free(copy);
    }
}

UNIT_RUN(NULL, NULL)
