/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/http/testmunged.h"
#include "tests/unit/unit.h"

#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/system/rig/process.h"

#include <munge.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 128, KEY_SIZE = 64, CREDENTIAL_SIZE = 1024 };

struct testmunged {
    struct process *process;
    char socket[PATH_SIZE];
};

static munge_ctx_t context_of(const struct testmunged *testmunged, int ttl)
{
    munge_ctx_t context = munge_ctx_create();
    assert_non_null(context);
    assert_int_equal(munge_ctx_set(context, MUNGE_OPT_SOCKET, testmunged->socket), EMUNGE_SUCCESS);
    assert_int_equal(munge_ctx_set(context, MUNGE_OPT_TTL, ttl), EMUNGE_SUCCESS);
    return context;
}

static bool answers(void *arg)
{
    struct testmunged *testmunged = arg;
    char *credential = NULL;
    munge_ctx_t context = context_of(testmunged, 0);
    munge_err_t rc = munge_encode(&credential, context, NULL, 0);
    munge_ctx_destroy(context);
    free(credential);
    return rc == EMUNGE_SUCCESS || !process_alive(testmunged->process);
}

struct testmunged *testmunged_start(const char *folder, const char *name, char key)
{
    return testmunged_start_at(folder, name, key, NULL);
}

struct testmunged *testmunged_start_at(const char *folder, const char *name, char key,
                                       const char *origin)
{
    char stamp[PATH_SIZE], file[PATH_SIZE], options[5][PATH_SIZE + 32], log[PATH_SIZE],
        secret[KEY_SIZE + 1];
    static const char *const kinds[] = {"key-file", "socket", "pid-file", "log-file", "seed-file"};
    const char *argv[] = {MUNGED,     "--foreground", "--force",  options[0], options[1],
                          options[2], options[3],     options[4], NULL,       NULL};
    struct testmunged *testmunged = calloc(1, sizeof *testmunged);
    assert_non_null(testmunged);
    snprintf(stamp, sizeof stamp, "--origin=%s", origin ? origin : "");
    if (origin)
        argv[8] = stamp;
    memset(secret, key, KEY_SIZE);
    secret[KEY_SIZE] = '\0';
    for (int i = 0; i < 5; i++) {
        snprintf(file, sizeof file, "%s.%s", name, kinds[i]);
        if (i == 0)
            assert_int_equal(folder_write(folder, file, 0400, secret), 0);
        snprintf(options[i], sizeof options[i], "--%s=%s/%s", kinds[i], folder, file);
    }
    snprintf(testmunged->socket, sizeof testmunged->socket, "%s/%s.socket", folder, name);
    snprintf(log, sizeof log, "%s/%s.out", folder, name);
    testmunged->process = process_start(argv, log);
    assert_non_null(testmunged->process);
    bool ready =
        await(answers, testmunged, AWAIT_DEADLINE_MS) && process_alive(testmunged->process);
    if (!ready)
        process_print_log(testmunged->process);
    assert_true(ready);
    return testmunged;
}

void testmunged_stop(struct testmunged *testmunged)
{
    if (!testmunged)
        return;
    process_kill(testmunged->process);
    free(testmunged);
}

const char *testmunged_socket(const struct testmunged *testmunged)
{
    return testmunged->socket;
}

void testmunged_hold(struct testmunged *testmunged)
{
    process_signal(testmunged->process, SIGSTOP);
}

void testmunged_go_on(struct testmunged *testmunged)
{
    process_signal(testmunged->process, SIGCONT);
}

/* munged looks at who asks, so somebody else has to: a child. */
static void encode_in_child(const struct testmunged *testmunged, uid_t uid, int ttl,
                            const char *payload, int out)
{
    char *credential = NULL;
    if (setgid(uid) < 0 || setuid(uid) < 0)
        _exit(1);
    munge_ctx_t context = context_of(testmunged, ttl);
    if (munge_encode(&credential, context, payload, (int)strlen(payload)) != EMUNGE_SUCCESS)
        _exit(2);
    ssize_t length = (ssize_t)strlen(credential);
    _exit(write(out, credential, (size_t)length) == length ? 0 : 3);
}

void testmunged_header(const struct testmunged *testmunged, uid_t uid, int ttl, const char *method,
                       const char *target, char *out, size_t size)
{
    char payload[512], credential[CREDENTIAL_SIZE] = "";
    int ends[2], status = -1;
    snprintf(payload, sizeof payload, "mcastd1 %s %s", method, target);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        encode_in_child(testmunged, uid, ttl, payload, ends[1]);
    close(ends[1]);
    ssize_t got = read(ends[0], credential, sizeof credential - 1);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(got > 0);
    assert_true((size_t)snprintf(out, size, "Authorization: Munge %s\r\n", credential) < size);
}
