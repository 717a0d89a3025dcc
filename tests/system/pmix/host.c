/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/pmix/host.h"
#include "tests/system/rig/await.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct mcast_pmix *answers;

/* ---- the module: what is not libmcast_pmix's is answered with "host" ---- */

static pmix_status_t own_answer(pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    static pmix_info_t info; /* the host's, as long as it runs */
    PMIX_INFO_LOAD(&info, "host.own", "yes", PMIX_STRING);
    cbfunc(PMIX_SUCCESS, &info, 1, cbdata, NULL, NULL);
    return PMIX_SUCCESS;
}

static pmix_status_t query(pmix_proc_t *requestor, pmix_query_t *queries, size_t nqueries,
                           pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    const pmix_status_t rc = mcast_pmix_query(answers, queries, nqueries, cbfunc, cbdata);
    return rc == PMIX_ERR_NOT_SUPPORTED ? own_answer(cbfunc, cbdata) : rc;
}

static pmix_status_t fabric(const pmix_proc_t *requestor, pmix_fabric_operation_t operation,
                            const pmix_info_t directives[], size_t ndirs, pmix_info_cbfunc_t cbfunc,
                            void *cbdata)
{
    const pmix_status_t rc =
        mcast_pmix_fabric(answers, requestor, operation, directives, ndirs, cbfunc, cbdata);
    return rc == PMIX_ERR_NOT_SUPPORTED ? own_answer(cbfunc, cbdata) : rc;
}

static pmix_status_t allocate(const pmix_proc_t *client, pmix_alloc_directive_t directive,
                              const pmix_info_t data[], size_t ndata, pmix_info_cbfunc_t cbfunc,
                              void *cbdata)
{
    const pmix_status_t rc =
        mcast_pmix_allocate(answers, client, directive, data, ndata, cbfunc, cbdata);
    return rc == PMIX_ERR_NOT_SUPPORTED ? own_answer(cbfunc, cbdata) : rc;
}

static pmix_status_t over(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t cbfunc,
                          void *cbdata)
{
    return PMIX_OPERATION_SUCCEEDED;
}

static void admit_tool(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t cbfunc,
                       void *cbdata)
{
    static unsigned count;
    pmix_proc_t proc;
    char name[32];
    snprintf(name, sizeof name, "tool%u", count++);
    PMIX_LOAD_PROCID(&proc, name, 0);
    cbfunc(PMIX_SUCCESS, &proc, cbdata);
}

static pmix_server_module_t module = {.client_connected = over,
                                      .client_finalized = over,
                                      .query = query,
                                      .fabric = fabric,
                                      .allocate = allocate,
                                      .tool_connected = admit_tool};

/* ---- the server ---- */

static char server_uri[256];

static void find_uri(void)
{
    pmix_proc_t server;
    pmix_value_t *value = NULL;
    PMIX_LOAD_PROCID(&server, "host", 0);
    assert_int_equal(PMIx_Get(&server, PMIX_SERVER_URI, NULL, 0, &value), PMIX_SUCCESS);
    snprintf(server_uri, sizeof server_uri, "%s", value->data.string);
    PMIX_VALUE_RELEASE(value);
}

void host_start(struct mcast_pmix *pmix, const char *folder)
{
    pmix_info_t *info;
    const pmix_rank_t rank = 0;
    const bool yes = true;
    char own[256]; /* libpmix deletes it at the end, whoever made it */
    snprintf(own, sizeof own, "%s/pmix", folder);
    assert_int_equal(mkdir(own, 0700), 0);
    answers = pmix;
    PMIX_INFO_CREATE(info, 5);
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_TMPDIR, own, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_SYSTEM_TMPDIR, own, PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_SERVER_TOOL_SUPPORT, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[3], PMIX_SERVER_NSPACE, "host", PMIX_STRING);
    PMIX_INFO_LOAD(&info[4], PMIX_SERVER_RANK, &rank, PMIX_PROC_RANK);
    assert_int_equal(PMIx_server_init(&module, info, 5), PMIX_SUCCESS);
    PMIX_INFO_FREE(info, 5);
    find_uri();
}

void host_stop(void)
{
    assert_int_equal(PMIx_server_finalize(), PMIX_SUCCESS);
}

static void load_maps(pmix_info_t *info, unsigned ranks)
{
    char host[256], list[256] = "";
    char *regex = NULL;
    assert_int_equal(gethostname(host, sizeof host), 0);
    assert_int_equal(PMIx_generate_regex(host, &regex), PMIX_SUCCESS);
    PMIX_INFO_LOAD(&info[0], PMIX_NODE_MAP, regex, PMIX_REGEX);
    free(regex);
    for (unsigned i = 0; i < ranks; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%u", i ? "," : "", i);
    assert_int_equal(PMIx_generate_ppn(list, &regex), PMIX_SUCCESS);
    PMIX_INFO_LOAD(&info[1], PMIX_PROC_MAP, regex, PMIX_REGEX);
    free(regex);
    PMIX_INFO_LOAD(&info[2], PMIX_LOCAL_PEERS, list, PMIX_STRING);
}

void host_register(const char *nspace, unsigned ranks)
{
    enum { OWN = 6 };
    pmix_info_t *facts = NULL, *info;
    size_t count = 0;
    const pmix_status_t found = mcast_pmix_job_info(answers, nspace, &facts, &count);
    assert_true(found == PMIX_SUCCESS || found == PMIX_ERR_NOT_FOUND);
    PMIX_INFO_CREATE(info, OWN + count);
    load_maps(info, ranks);
    PMIX_INFO_LOAD(&info[3], PMIX_UNIV_SIZE, &ranks, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[4], PMIX_JOB_SIZE, &ranks, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[5], PMIX_LOCAL_SIZE, &ranks, PMIX_UINT32);
    for (size_t i = 0; i < count; i++)
        PMIX_INFO_XFER(&info[OWN + i], &facts[i]);
    /* Without a callback it waits. */
    assert_int_equal(PMIx_server_register_nspace(nspace, (int)ranks, info, OWN + count, NULL, NULL),
                     PMIX_OPERATION_SUCCEEDED);
    PMIX_INFO_FREE(info, OWN + count);
    mcast_pmix_free(facts, count);
    for (unsigned rank = 0; rank < ranks; rank++) {
        pmix_proc_t proc;
        PMIX_LOAD_PROCID(&proc, nspace, rank);
        assert_int_equal(PMIx_server_register_client(&proc, geteuid(), getegid(), NULL, NULL, NULL),
                         PMIX_OPERATION_SUCCEEDED);
    }
}

char **host_environment(const char *nspace, unsigned rank)
{
    pmix_proc_t proc;
    char **environment = NULL;
    PMIX_LOAD_PROCID(&proc, nspace, rank);
    PMIX_ARGV_COPY(environment, environ);
    assert_int_equal(PMIx_server_setup_fork(&proc, &environment), PMIX_SUCCESS);
    const pmix_status_t rc = mcast_pmix_setup_fork(answers, &proc, &environment);
    assert_true(rc == PMIX_SUCCESS || rc == PMIX_ERR_NOT_FOUND);
    return environment;
}

/* ---- ranks and tools ---- */

static const char *read_answer(struct peer *peer)
{
    const int64_t deadline = await_now_ns() + AWAIT_DEADLINE_MS * INT64_C(1000000);
    size_t used = 0;
    while (used == 0 || peer->answer[used - 1] != '\n') {
        struct pollfd fd = {.fd = peer->fd, .events = POLLIN};
        const int64_t left_ms = (deadline - await_now_ns()) / 1000000;
        assert_true(used < sizeof peer->answer - 1);
        if (left_ms <= 0 || poll(&fd, 1, (int)left_ms) <= 0)
            fail_msg("no answer from a peer in time");
        const ssize_t got = read(peer->fd, peer->answer + used, sizeof peer->answer - 1 - used);
        if (got <= 0)
            fail_msg("a peer has ended");
        used += (size_t)got;
    }
    peer->answer[used - 1] = '\0';
    return peer->answer;
}

static void start(struct peer *peer, char **environment, const char *argument)
{
    char *argv[] = {(char *)PEER, (char *)(uintptr_t)argument, NULL};
    int ends[2];
    const pid_t parent = getpid();
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    peer->pid = fork();
    if (peer->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent && dup2(ends[1], 0) == 0 && dup2(ends[1], 1) == 1)
            execve(PEER, argv, environment);
        _exit(127);
    }
    assert_true(peer->pid > 0);
    close(ends[1]);
    peer->fd = ends[0];
    assert_words(read_answer(peer), "0 ");
}

void peer_start_rank(struct peer *peer, const char *nspace, unsigned rank)
{
    char **environment = host_environment(nspace, rank);
    start(peer, environment, NULL);
    PMIX_ARGV_FREE(environment);
}

void peer_start_tool(struct peer *peer)
{
    start(peer, environ, server_uri);
}

const char *peer_ask(struct peer *peer, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    assert_in_range(length, 1, (int)sizeof line - 2);
    line[length++] = '\n';
    assert_int_equal(write(peer->fd, line, (size_t)length), length);
    return read_answer(peer);
}

int peer_end(struct peer *peer)
{
    int status = 0;
    shutdown(peer->fd, SHUT_WR);
    assert_int_equal(waitpid(peer->pid, &status, 0), peer->pid);
    close(peer->fd);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
