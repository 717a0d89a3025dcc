/* SPDX-License-Identifier: Apache-2.0 */
/* From a reservation to a process's environment, and what a host answers (P7). */

#include "job.h"

#include <pmix.h>

static const char *value_of(char **env, const char *name)
{
    const size_t length = strlen(name);
    for (; *env; env++) {
        if (strncmp(*env, name, length) == 0 && (*env)[length] == '=')
            return *env + length + 1;
    }
    return NULL;
}

/* The environment of a process that had these; for free_env. */
static char **fork_env(struct mcast_pmix *pmix, const char *const *had)
{
    char **env = NULL;
    pmix_proc_t proc;
    pmix_status_t rc = PMIX_SUCCESS;
    PMIX_LOAD_PROCID(&proc, "job.0", 0);
    for (; had && *had; had++)
        PMIX_ARGV_APPEND(rc, env, *had);
    assert_int_equal(rc, PMIX_SUCCESS);
    assert_int_equal(mcast_pmix_setup_fork(pmix, &proc, &env), PMIX_SUCCESS);
    return env;
}

#define EXPECT_ENV(name, value) assert_string_equal(value_of(env, name), value)

UNIT(environment__is_the_steps)
{
    static const char *const had[] = {"PATH=/bin", "FI_OPX_UUID=outer", "FI_CXI_COLL_JOB_ID=outer",
                                      "FI_OPX_UUIDS=kept", NULL};
    struct mcast_reservation reservation = job_reservation();
    reservation.env = job_env;
    reservation.env_count = sizeof job_env / sizeof *job_env;
    struct mcast_pmix *pmix = job_host(&reservation, "3");
    char **env = fork_env(pmix, had);
    EXPECT_ENV("PATH", "/bin");
    EXPECT_ENV("FI_CXI_COLL_JOB_ID", "elcap-f1");
    EXPECT_ENV("FI_CXI_COLL_JOB_STEP_ID", "3");
    EXPECT_ENV("FI_CXI_COLL_MCAST_TOKEN", "t0ken");
    EXPECT_ENV("FI_CXI_COLL_FABRIC_MGR_CACERT", "yes"); /* there is no such file here */
    EXPECT_ENV("FI_OPX_UUIDS", "kept");
    assert_null(value_of(env, "FI_OPX_UUID"));
    PMIX_ARGV_FREE(env);
    env = fork_env(pmix, NULL); /* a host may give none */
    EXPECT_ENV("FI_CXI_COLL_JOB_STEP_ID", "3");
    PMIX_ARGV_FREE(env);
    mcast_pmix_destroy(pmix);
}

/* The path of the CA is the node's to judge, not the launching host's. */
UNIT(array__has_the_ca_as_it_is)
{
    struct mcast_reservation reservation = job_reservation();
    size_t count, found = 0;
    reservation.env = job_env;
    reservation.env_count = sizeof job_env / sizeof *job_env;
    pmix_info_t *info = job_array(&reservation, "3", &count);
    for (size_t i = 0; i < count; i++) {
        if (info[i].value.type == PMIX_ENVAR)
            found += strcmp(info[i].value.data.envar.value, "/nowhere/ca.pem") == 0;
    }
    assert_int_equal(found, 1);
    mcast_pmix_free(info, count);
}

UNIT(node__adds_its_own_variables)
{
    static const char json[] = "{\"SLINGSHOT_DEVICES\": \"cxi0\", \"SLINGSHOT_TCS\": null}";
    static const char *const had[] = {"SLINGSHOT_TCS=15", "FI_CXI_COLL_MCAST_TOKEN=outer", NULL};
    struct mcast_reservation reservation = job_reservation();
    struct mcast_error error;
    struct mcast_pmix *pmix = job_host(&reservation, "3");
    char **env = fork_env(pmix, had);
    EXPECT_ENV("FI_CXI_COLL_MCAST_TOKEN", "outer"); /* a document alone says nothing of it */
    PMIX_ARGV_FREE(env);
    assert_string_equal(mcast_pmix_launch(pmix, "job.0"), "D0CUMENT");
    assert_int_equal(mcast_pmix_node_env(pmix, "job.0", json, strlen(json), NULL), 0);
    env = fork_env(pmix, had);
    EXPECT_ENV("SLINGSHOT_DEVICES", "cxi0");
    assert_null(value_of(env, "SLINGSHOT_TCS"));
    assert_null(value_of(env, "FI_CXI_COLL_MCAST_TOKEN"));
    PMIX_ARGV_FREE(env);
    assert_int_equal(mcast_pmix_node_env(pmix, "other", json, strlen(json), &error),
                     MCAST_NOT_FOUND);
    mcast_pmix_destroy(pmix);
}

UNIT(node__that_says_nonsense_is_not_believed)
{
    static const char *const texts[] = {
        "", "{", "[]", "{\"A\":1}", "{\"\":\"x\"}", "7", "{\"A\":\"b\",\"A\":\"c\"}"};
    struct mcast_reservation reservation = job_reservation();
    struct mcast_pmix *pmix = job_host(&reservation, NULL);
    struct mcast_error error;
    char many[2048] = "{\"A0\":\"\"";
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(mcast_pmix_node_env(pmix, "job.0", texts[i], strlen(texts[i]), &error),
                         MCAST_USAGE);
        assert_true(error.text[0]);
    }
    for (int i = 1; i < 100; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), ",\"A%d\":\"\"", i);
    strcat(many, "}");
    assert_int_equal(mcast_pmix_node_env(pmix, "job.0", many, strlen(many), NULL), MCAST_USAGE);
    /* And what is right can come any number of times. */
    for (int i = 0; i < 100; i++)
        assert_int_equal(mcast_pmix_node_env(pmix, "job.0", "{\"A\":\"b\"}", 9, NULL), 0);
    mcast_pmix_destroy(pmix);
}

/* A daemon does not end by what comes over its connection. */
UNIT(array__without_texts_is_as_without_entries)
{
    pmix_info_t info[3];
    struct mcast_pmix *pmix = mcast_pmix_create();
    char **env = NULL;
    for (size_t i = 0; i < 3; i++)
        PMIX_INFO_CONSTRUCT(&info[i]);
    PMIX_LOAD_KEY(info[0].key, MCAST_PMIX_LAUNCH);
    PMIX_LOAD_KEY(info[1].key, PMIX_UNSET_ENVAR);
    PMIX_LOAD_KEY(info[2].key, MCAST_PMIX_VNIS);
    for (size_t i = 0; i < 3; i++)
        info[i].value.type = PMIX_STRING;
    assert_int_equal(mcast_pmix_local_support(pmix, "job.0", info, 3, NULL), 0);
    assert_null(mcast_pmix_launch(pmix, "job.0"));
    env = fork_env(pmix, NULL);
    assert_null(env[0]);
    free(env);
    mcast_pmix_destroy(pmix);
}

UNIT(application__needs_something)
{
    struct mcast_pmix_application application = MCAST_PMIX_APPLICATION_INIT;
    struct mcast_reservation reservation = job_reservation();
    struct mcast_error error;
    pmix_info_t *info;
    size_t count;
    assert_int_equal(mcast_pmix_setup_application(&application, &info, &count, &error),
                     MCAST_USAGE);
    application.launch = "D0CUMENT"; /* all that some hosts have */
    assert_int_equal(mcast_pmix_setup_application(&application, &info, &count, &error), 0);
    assert_int_equal(count, 1);
    assert_string_equal(info->key, MCAST_PMIX_LAUNCH);
    mcast_pmix_free(info, count);
    reservation.env = job_env;
    reservation.env_count = sizeof job_env / sizeof *job_env;
    application.reservation = &reservation;
    application.step = "no step\"";
    assert_int_equal(mcast_pmix_setup_application(&application, &info, &count, &error),
                     MCAST_USAGE);
    assert_null(info);
    /* Of a program that was compiled before `step`; and of one that knows more. */
    application.size = offsetof(struct mcast_pmix_application, step);
    assert_int_equal(mcast_pmix_setup_application(&application, &info, &count, &error), 0);
    mcast_pmix_free(info, count);
    application.step = NULL;
    struct {
        struct mcast_pmix_application known;
        const char *more;
    } newer = {application, NULL};
    newer.known.size = sizeof newer;
    assert_int_equal(mcast_pmix_setup_application(&newer.known, &info, &count, &error), 0);
    mcast_pmix_free(info, count);
    newer.more = "?";
    assert_int_equal(mcast_pmix_setup_application(&newer.known, &info, &count, &error),
                     MCAST_USAGE);
    assert_non_null(strstr(error.text, "update libmcast"));
    application.size = 1;
    assert_int_equal(mcast_pmix_setup_application(&application, &info, &count, &error),
                     MCAST_USAGE);
}

/* ---- answers ---- */

static size_t answers;

static void count_answer(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                         pmix_release_cbfunc_t release, void *release_data)
{
    answers += ninfo;
    release(release_data);
}

static pmix_status_t ask(struct mcast_pmix *pmix, const char *first, const char *second,
                         const char *nspace)
{
    char *keys[] = {(char *)(uintptr_t)first, (char *)(uintptr_t)second, NULL};
    pmix_query_t query = {.keys = keys};
    pmix_info_t qualifier;
    PMIX_INFO_CONSTRUCT(&qualifier);
    if (nspace) {
        PMIX_INFO_LOAD(&qualifier, PMIX_NSPACE, nspace, PMIX_STRING);
        query.qualifiers = &qualifier;
        query.nqual = 1;
    }
    answers = 0;
    const pmix_status_t rc = mcast_pmix_query(pmix, &query, 1, count_answer, NULL);
    PMIX_INFO_DESTRUCT(&qualifier);
    return rc;
}

UNIT(query__is_answered_or_not_mine)
{
    struct mcast_reservation reservation = job_reservation();
    struct mcast_pmix *pmix = job_host(&reservation, NULL);
    assert_int_equal(ask(pmix, MCAST_PMIX_VNIS, MCAST_PMIX_JOB, "job.0"), PMIX_SUCCESS);
    assert_int_equal(answers, 2);
    assert_int_equal(ask(pmix, MCAST_PMIX_VNIS, "host.key", "job.0"), PMIX_ERR_NOT_SUPPORTED);
    assert_int_equal(ask(pmix, PMIX_QUERY_NAMESPACES, NULL, NULL), PMIX_ERR_NOT_SUPPORTED);
    assert_int_equal(ask(pmix, MCAST_PMIX_VNIS, NULL, NULL), PMIX_ERR_BAD_PARAM);
    assert_int_equal(ask(pmix, MCAST_PMIX_VNIS, NULL, "other"), PMIX_ERR_NOT_FOUND);
    assert_int_equal(ask(pmix, MCAST_PMIX_LAUNCH, NULL, "job.0"), PMIX_ERR_NOT_FOUND);
    assert_int_equal(answers, 0);
    mcast_pmix_forget(pmix, "job.0");
    assert_int_equal(ask(pmix, MCAST_PMIX_VNIS, NULL, "job.0"), PMIX_ERR_NOT_FOUND);
    mcast_pmix_destroy(pmix);
}

static pmix_status_t ask_fabric(struct mcast_pmix *pmix, const char *nspace, const char *vendor)
{
    pmix_info_t directive;
    pmix_proc_t client;
    PMIX_LOAD_PROCID(&client, nspace, 1);
    PMIX_INFO_CONSTRUCT(&directive);
    PMIX_INFO_LOAD(&directive, PMIX_FABRIC_VENDOR, vendor, PMIX_STRING);
    const pmix_status_t rc = mcast_pmix_fabric(pmix, &client, PMIX_FABRIC_REQUEST_INFO, &directive,
                                               1, count_answer, NULL);
    PMIX_INFO_DESTRUCT(&directive);
    return rc;
}

UNIT(fabric__of_another_vendor_is_not_mine)
{
    struct mcast_reservation reservation = job_reservation();
    struct mcast_pmix *pmix = job_host(&reservation, NULL);
    assert_int_equal(ask_fabric(pmix, "job.0", "hpe"), PMIX_SUCCESS);
    assert_int_equal(ask_fabric(pmix, "job.0", "Mellanox"), PMIX_ERR_NOT_SUPPORTED);
    assert_int_equal(ask_fabric(pmix, "other", "hpe"), PMIX_ERR_NOT_SUPPORTED);
    mcast_pmix_destroy(pmix);
    reservation.interconnect = "none";
    pmix = job_host(&reservation, NULL);
    assert_int_equal(ask_fabric(pmix, "job.0", "hpe"), PMIX_ERR_NOT_SUPPORTED);
    mcast_pmix_destroy(pmix);
}

UNIT_RUN(NULL, NULL)
