/* SPDX-License-Identifier: Apache-2.0 */
/* Launch documents as MUNGE credentials (S5), made and opened by real munged. */
#include "launch/credential.h"
#include "tests/unit/unit.h"

#include "tests/system/http/testmunged.h"
#include "tests/system/rig/folder.h"

#include <munge.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { USER = 4444 };

static const char document[] = "{\"v\":1,\"tasks\":{\"FI_CXI_COLL_MCAST_TOKEN\":\"sess-secret\"}}";

struct realm {
    char folder[FOLDER_PATH_SIZE];
    struct testmunged *ours, *foreign; /* two keys */
};

static int open_realm(void **state)
{
    struct realm *realm = calloc(1, sizeof *realm);
    assert_non_null(realm);
    assert_int_equal(folder_create(realm->folder), 0);
    assert_int_equal(chmod(realm->folder, 0711), 0); /* others reach the sockets */
    realm->ours = testmunged_start(realm->folder, "ours", 'a');
    realm->foreign = testmunged_start(realm->folder, "foreign", 'b');
    *state = realm;
    return 0;
}

static int close_realm(void **state)
{
    struct realm *realm = *state;
    testmunged_stop(realm->ours);
    testmunged_stop(realm->foreign);
    folder_destroy(realm->folder);
    free(realm);
    return 0;
}

static const char *socket_of(void *state)
{
    return testmunged_socket(((struct realm *)state)->ours);
}

static void opens_to(const char *socket, const char *envelope, const char *text)
{
    struct error err = {.text = ""};
    char *opened = credential_open(socket, envelope, geteuid(), &err);
    if (!opened)
        fail_msg("%s", err.text);
    assert_string_equal(opened, text);
    free(opened);
}

static void is_refused(const char *socket, const char *envelope, uid_t maker, int code,
                       const char *why)
{
    struct error err = {.text = ""};
    char *opened = credential_open(socket, envelope, maker, &err);
    assert_null(opened);
    assert_int_equal(err.code, code);
    assert_words(err.text, why);
}

/* A hook may run again on the node. */
static void credential__opens_again_and_again(void **state)
{
    struct error err = {.text = ""};
    char *envelope = credential_close(socket_of(*state), document, &err);
    assert_non_null(envelope);
    assert_int_equal(strncmp(envelope, CREDENTIAL_PREFIX, strlen(CREDENTIAL_PREFIX)), 0);
    for (int i = 0; i < 3; i++)
        opens_to(socket_of(*state), envelope, document);
    free(envelope);
}

static void credential__of_another_key_is_refused(void **state)
{
    struct realm *realm = *state;
    struct error err = {.text = ""};
    char *envelope = credential_close(testmunged_socket(realm->foreign), document, &err);
    assert_non_null(envelope);
    is_refused(socket_of(*state), envelope, geteuid(), ERROR_REFUSED, "another MUNGE key");
    free(envelope);
}

static void credential__changed_is_refused(void **state)
{
    struct error err = {.text = ""};
    char *envelope = credential_close(socket_of(*state), document, &err);
    assert_non_null(envelope);
    size_t length = strlen(envelope);
    for (size_t i = 0; i < length; i += 5) {
        char before = envelope[i], *opened;
        envelope[i] = before == 'A' ? 'B' : 'A';
        opened = credential_open(socket_of(*state), envelope, geteuid(), &err);
        assert_null(opened);
        envelope[i] = before;
    }
    envelope[length / 2] = '\0';
    is_refused(socket_of(*state), envelope, geteuid(), ERROR_INVALID, "cut short, or changed");
    is_refused(socket_of(*state), "", geteuid(), ERROR_INVALID, "no launch document");
    free(envelope);
}

/* As another user; munged sees the difference. Returns the exit status of act. */
static int as_user(int (*act)(const char *socket, int out), const char *socket, char *text,
                   size_t size)
{
    int ends[2], status = -1;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (setgid(USER) < 0 || setuid(USER) < 0)
            _exit(99);
        _exit(act(socket, ends[1]));
    }
    close(ends[1]);
    ssize_t got = read(ends[0], text, size - 1);
    text[got > 0 ? got : 0] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Any user can call munge. */
static int make_one(const char *socket, int out)
{
    struct error err;
    char *envelope = credential_close(socket, document, &err);
    if (!envelope)
        return 1;
    size_t length = strlen(envelope);
    return write(out, envelope, length) == (ssize_t)length ? 0 : 2;
}

static void credential__made_by_a_user_is_refused(void **state)
{
    char envelope[4096];
    if (geteuid() != 0)
        skip();
    assert_int_equal(as_user(make_one, socket_of(*state), envelope, sizeof envelope), 0);
    is_refused(socket_of(*state), envelope, 0, ERROR_REFUSED, "made by uid 4444");
}

static char *secret_envelope; /* for the child */

static int read_one(const char *socket, int out)
{
    struct error err = {.text = ""};
    char *opened = credential_open(socket, secret_envelope, 0, &err);
    dprintf(out, "%s", err.text);
    return opened ? 1 : 0;
}

/* It may travel where users can read it. */
static void credential__is_nothing_to_users(void **state)
{
    char words[512];
    struct error err = {.text = ""};
    if (geteuid() != 0)
        skip();
    secret_envelope = credential_close(socket_of(*state), document, &err);
    assert_non_null(secret_envelope);
    assert_int_equal(as_user(read_one, socket_of(*state), words, sizeof words), 0);
    assert_non_null(strstr(words, "read by root only"));
    free(secret_envelope);
}

static void credential__says_when_munged_is_away(void **state)
{
    struct error err = {.text = ""};
    assert_null(credential_close("/nonexistent/socket", document, &err));
    assert_int_equal(err.code, ERROR_IO);
    assert_non_null(strstr(err.text, "/nonexistent/socket"));
    is_refused("/nonexistent/socket", "MUNGE:AAAA:", 0, ERROR_IO, "systemctl status munge");
}

UNIT_GROUP(open_realm, close_realm, cmocka_unit_test(credential__opens_again_and_again),
           cmocka_unit_test(credential__of_another_key_is_refused),
           cmocka_unit_test(credential__changed_is_refused),
           cmocka_unit_test(credential__made_by_a_user_is_refused),
           cmocka_unit_test(credential__is_nothing_to_users),
           cmocka_unit_test(credential__says_when_munged_is_away))
