/* SPDX-License-Identifier: Apache-2.0 */
/* libmcast over TLS, with the real broker and a real munged: whom it believes, and how it says who
 * it is. */

#include "client/mcast.h"
#include "secured.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <jansson.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DAY_S = 86400 };

static struct secured stand;

static int open_stand(void **state)
{
    unsetenv("MCAST_CACERT");
    unsetenv("MCAST_CERT");
    unsetenv("MCAST_KEY");
    unsetenv("MCAST_MUNGE_SOCKET");
    secured_open(&stand, MCASTD, time(NULL) + 2 * DAY_S, true);
    return 0;
}

static int close_stand(void **state)
{
    secured_close(&stand);
    return 0;
}

static struct mcast *open_broker(const char *url)
{
    struct mcast *handle = NULL;
    assert_int_equal(mcast_open(&handle, url, NULL), 0);
    return handle;
}

static struct mcast *open_trusting(void)
{
    struct mcast *handle = open_broker(stand.url);
    assert_int_equal(mcast_set_cacert(handle, secured_file(&stand, "ca.pem"), NULL), 0);
    return handle;
}

/* Asks for the status and tells what came of it. */
static int ask(struct mcast *handle, struct mcast_error *error)
{
    char *json = NULL;
    memset(error, 0, sizeof *error);
    int rc = mcast_status(handle, &json, error);
    free(json);
    return rc;
}

static void assert_proof(struct mcast *handle, const char *proof, const char *identity)
{
    char *text = NULL;
    struct mcast_error error;
    if (mcast_whoami(handle, &text, &error) < 0)
        fail_msg("%s", error.text);
    json_t *answer = json_loads(text, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(answer, "proof")), proof);
    assert_words(json_string_value(json_object_get(answer, "identity")), identity);
    json_decref(answer);
    free(text);
}

static void tls__who_is_not_trusted_is_not_believed(void **state)
{
    struct mcast_error error;
    struct mcast *handle = open_broker(stand.url);
    assert_int_equal(ask(handle, &error), MCAST_UNREACHABLE);
    assert_string_equal(error.word, "tls");
    assert_words(error.text, "is not trusted");
    assert_words(error.text, "MCAST_CACERT");
    mcast_close(handle);
}

/* The certificate is for 127.0.0.1: another name of this machine is not it. */
static void tls__another_name_is_not_believed(void **state)
{
    char url[64];
    struct mcast_error error;
    snprintf(url, sizeof url, "https://localhost:%s", strrchr(stand.url, ':') + 1);
    struct mcast *handle = open_broker(url);
    assert_int_equal(mcast_set_cacert(handle, secured_file(&stand, "ca.pem"), NULL), 0);
    assert_int_equal(ask(handle, &error), MCAST_UNREACHABLE);
    assert_string_equal(error.word, "tls");
    assert_words(error.text, "another name");
    mcast_close(handle);
}

static void tls__a_client_certificate_says_who_asks(void **state)
{
    struct mcast_error error;
    int64_t ahead = 0;
    struct mcast *handle = open_trusting();
    assert_int_equal(mcast_clock_ahead(handle, &ahead, &error), MCAST_UNCLEAR);
    assert_int_equal(mcast_set_certificate(handle, secured_file(&stand, "admin.pem"),
                                           secured_file(&stand, "admin.key"), NULL),
                     0);
    assert_int_equal(ask(handle, &error), 0);
    assert_proof(handle, "certificate", "admin");
    assert_int_equal(mcast_clock_ahead(handle, &ahead, &error), 0);
    assert_in_range(ahead + 60000, 0, 120000); /* one machine, one clock; a busy one, perhaps */
    mcast_close(handle);
}

static void tls__the_environment_does_as_well(void **state)
{
    struct mcast_error error;
    setenv("MCAST_URL", stand.url, 1);
    setenv("MCAST_CACERT", secured_file(&stand, "ca.pem"), 1);
    setenv("MCAST_CERT", secured_file(&stand, "admin.pem"), 1);
    struct mcast *handle = open_broker(NULL);
    assert_int_equal(ask(handle, &error), MCAST_USAGE); /* a certificate without its key */
    assert_words(error.text, "MCAST_KEY");
    setenv("MCAST_KEY", secured_file(&stand, "admin.key"), 1);
    assert_int_equal(ask(handle, &error), 0);
    assert_proof(handle, "certificate", "admin");
    mcast_close(handle);
    unsetenv("MCAST_URL");
    unsetenv("MCAST_CACERT");
    unsetenv("MCAST_CERT");
    unsetenv("MCAST_KEY");
}

static void tls__a_key_that_others_can_read_is_not_used(void **state)
{
    struct mcast_error error;
    const char *key = secured_file(&stand, "admin.key");
    struct mcast *handle = open_trusting();
    assert_int_equal(mcast_set_certificate(handle, secured_file(&stand, "admin.pem"), key, NULL),
                     0);
    assert_int_equal(chmod(key, 0640), 0);
    assert_int_equal(ask(handle, &error), MCAST_USAGE);
    assert_words(error.text, "chmod 0600");
    assert_words(error.text, "0640");
    assert_int_equal(chmod(key, 0600), 0);
    assert_int_equal(ask(handle, &error), 0);
    mcast_close(handle);
}

/* No trusted authority signed it: the broker says no, and it is no mystery why. */
static void tls__a_foreign_client_certificate_is_refused_with_its_name(void **state)
{
    struct mcast_error error;
    struct authority foreign;
    authority_create(&foreign, stand.folder, "foreign");
    authority_issue(&foreign, stand.folder, "guest", time(NULL) + DAY_S);
    struct mcast *handle = open_trusting();
    assert_int_equal(mcast_set_certificate(handle, secured_file(&stand, "guest.pem"),
                                           secured_file(&stand, "guest.key"), NULL),
                     0);
    int rc = ask(handle, &error);
    assert_true(rc == MCAST_REFUSED || rc == MCAST_UNREACHABLE);
    assert_words(error.text, "certificate");
    mcast_close(handle);
    authority_destroy(&foreign);
}

static void tls__files_that_will_not_do_are_named(void **state)
{
    struct mcast_error error;
    assert_int_equal(folder_write(stand.folder, "odd.pem", 0600, "no certificate\n"), 0);
    struct mcast *handle = open_broker(stand.url);
    assert_int_equal(mcast_set_cacert(handle, "/nonexistent/ca.pem", NULL), 0);
    assert_int_equal(ask(handle, &error), MCAST_USAGE);
    assert_words(error.text, "/nonexistent/ca.pem cannot be read: No such file or directory");
    assert_int_equal(mcast_set_cacert(handle, secured_file(&stand, "odd.pem"), NULL), 0);
    assert_int_equal(ask(handle, &error), MCAST_USAGE);
    assert_words(error.text, "odd.pem holds no CA certificate");
    assert_int_equal(mcast_set_cacert(handle, secured_file(&stand, "ca.pem"), NULL), 0);
    assert_int_equal(mcast_set_certificate(handle, secured_file(&stand, "admin.pem"),
                                           secured_file(&stand, "server.key"), NULL),
                     0);
    assert_int_equal(ask(handle, &error), MCAST_USAGE);
    assert_words(error.text, "belong together");
    assert_int_equal(mcast_set_certificate(handle, "x", NULL, &error), MCAST_USAGE);
    mcast_close(handle);
}

static void tls__plain_http_to_a_tls_port_says_so(void **state)
{
    char url[64];
    struct mcast_error error;
    snprintf(url, sizeof url, "http://127.0.0.1:%s", strrchr(stand.url, ':') + 1);
    struct mcast *handle = open_broker(url);
    int rc = ask(handle, &error);
    assert_true(rc == MCAST_UNREACHABLE || rc == MCAST_UNCLEAR);
    assert_true(error.text[0]);
    mcast_close(handle);
}

/* What listens and accepts nothing: its queue has room for one connection. */
static int listen_only(char url[64])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(fd, 0), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    snprintf(url, 64, "https://127.0.0.1:%d", ntohs(address.sin_port));
    return fd;
}

/* A connection that is open is waited for as long as for an answer: the broker may have thousands
 * before it. One that does not open has five seconds at most (G23). */
static void connection__that_is_open_is_waited_for(void **state)
{
    enum { MORE_THAN_FIVE_S = 15000 };
    static const char *const words[] = {"timeout", "no-connection"};
    char url[64];
    struct mcast_error error;
    int fd = listen_only(url);
    struct mcast *handles[2];
    for (int i = 0; i < 2; i++) { /* the first one's connection, left open, fills the queue */
        handles[i] = open_broker(url);
        assert_int_equal(mcast_set_timeout(handles[i], MORE_THAN_FIVE_S, NULL), 0);
        assert_int_equal(ask(handles[i], &error), MCAST_UNREACHABLE);
        assert_string_equal(error.word, words[i]);
        assert_true(mcast_later(&error, NULL));
    }
    mcast_close(handles[0]);
    mcast_close(handles[1]);
    close(fd);
}

/* Each request has a credential of its own: a second use of one would be refused as a replay. */
static void munge__says_who_asks_each_time(void **state)
{
    char uid[32];
    struct mcast_error error;
    struct mcast *handle = open_trusting();
    assert_int_equal(mcast_set_munge(handle, MCAST_MUNGE_AUTO, stand.munge, NULL), 0);
    snprintf(uid, sizeof uid, "uid %u", (unsigned)getuid());
    for (int i = 0; i < 3; i++)
        assert_proof(handle, "munge", uid);
    if (ask(handle, &error) < 0)
        fail_msg("%s", error.text);
    mcast_close(handle);
}

static void munge__comes_from_the_environment_too(void **state)
{
    setenv("MCAST_MUNGE_SOCKET", stand.munge, 1);
    struct mcast *handle = open_trusting();
    assert_proof(handle, "munge", "uid ");
    mcast_close(handle);
    unsetenv("MCAST_MUNGE_SOCKET");
}

static void munge__never_means_never(void **state)
{
    struct mcast_error error;
    struct mcast *handle = open_trusting();
    assert_int_equal(mcast_set_munge(handle, MCAST_MUNGE_NEVER, NULL, NULL), 0);
    assert_proof(handle, "none", "");
    assert_int_equal(ask(handle, &error), MCAST_REFUSED);
    assert_int_equal(error.status, 401);
    mcast_close(handle);
}

/* Without one that must be there nothing is sent; where it need not be, the refusal says why none
 * was shown. */
static void munge__that_is_away_is_named(void **state)
{
    struct mcast_error error;
    struct mcast *handle = open_trusting();
    assert_int_equal(mcast_set_munge(handle, MCAST_MUNGE_ALWAYS, "/nonexistent/munge", NULL), 0);
    assert_int_equal(ask(handle, &error), MCAST_UNREACHABLE);
    assert_string_equal(error.word, "munge");
    assert_words(error.text, "/nonexistent/munge");
    assert_int_equal(mcast_set_munge(handle, MCAST_MUNGE_AUTO, "/nonexistent/munge", NULL), 0);
    assert_int_equal(ask(handle, &error), MCAST_REFUSED);
    assert_int_equal(error.status, 401);
    assert_words(error.text, "no MUNGE credential from /nonexistent/munge");
    assert_int_equal(mcast_set_munge(handle, (enum mcast_munge)7, NULL, &error), MCAST_USAGE);
    mcast_close(handle);
}

/* B7, B8: the first is not there, the second has a certificate for another name and is told
 * nothing; each that is asked is shown a credential of its own. One of another kind is a broker as
 * well. */
static void several__go_on_to_the_one_that_is_believed(void **state)
{
    char urls[512];
    struct mcast_error error;
    const char *port = strrchr(stand.url, ':') + 1;
    snprintf(urls, sizeof urls, "https://127.0.0.1:1,https://localhost:%s,%s", port, stand.url);
    struct mcast *handle = open_broker(urls);
    assert_int_equal(mcast_set_cacert(handle, secured_file(&stand, "ca.pem"), NULL), 0);
    assert_int_equal(mcast_set_munge(handle, MCAST_MUNGE_ALWAYS, stand.munge, NULL), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ask(handle, &error), 0);
        assert_proof(handle, "munge", "uid ");
    }
    mcast_close(handle);
    snprintf(urls, sizeof urls, "https://localhost:%s /nonexistent/s", port);
    handle = open_broker(urls);
    assert_int_equal(mcast_set_munge(handle, MCAST_MUNGE_NEVER, NULL, NULL), 0);
    assert_int_equal(mcast_set_cacert(handle, secured_file(&stand, "ca.pem"), NULL), 0);
    assert_int_equal(ask(handle, &error), MCAST_UNREACHABLE);
    assert_string_equal(error.word, "no-connection");
    assert_words(error.text, "/nonexistent/s: No such file or directory");
    mcast_close(handle);
    /* Where nothing will be otherwise soon, the next step is what counts. */
    snprintf(urls, sizeof urls, "https://localhost:%s %s", port, stand.url);
    handle = open_broker(urls);
    assert_int_equal(ask(handle, &error), MCAST_UNREACHABLE);
    assert_string_equal(error.word, "tls");
    assert_words(error.text, "set cacert (or MCAST_CACERT)");
    assert_words(error.text, "; nor https://"); /* either: one that is slow is tried again */
    mcast_close(handle);
    snprintf(urls, sizeof urls, "https://localhost:%s %s", port, stand.socket);
    handle = open_broker(urls);
    assert_int_equal(ask(handle, &error), 0);
    assert_proof(handle, "socket", "uid ");
    mcast_close(handle);
}

/* On the Unix socket the kernel proves the uid; what is set for TCP is not even looked at. */
static void socket__needs_none_of_it(void **state)
{
    struct mcast_error error;
    struct mcast *handle = open_broker(stand.socket);
    assert_int_equal(mcast_set_cacert(handle, "/nonexistent/ca.pem", NULL), 0);
    assert_int_equal(mcast_set_munge(handle, MCAST_MUNGE_ALWAYS, "/nonexistent/munge", NULL), 0);
    assert_int_equal(ask(handle, &error), 0);
    assert_proof(handle, "socket", "uid ");
    mcast_close(handle);
}

UNIT_GROUP(open_stand, close_stand, cmocka_unit_test(tls__who_is_not_trusted_is_not_believed),
           cmocka_unit_test(tls__another_name_is_not_believed),
           cmocka_unit_test(tls__a_client_certificate_says_who_asks),
           cmocka_unit_test(tls__the_environment_does_as_well),
           cmocka_unit_test(tls__a_key_that_others_can_read_is_not_used),
           cmocka_unit_test(tls__a_foreign_client_certificate_is_refused_with_its_name),
           cmocka_unit_test(tls__files_that_will_not_do_are_named),
           cmocka_unit_test(tls__plain_http_to_a_tls_port_says_so),
           cmocka_unit_test(connection__that_is_open_is_waited_for),
           cmocka_unit_test(munge__says_who_asks_each_time),
           cmocka_unit_test(munge__comes_from_the_environment_too),
           cmocka_unit_test(munge__never_means_never),
           cmocka_unit_test(munge__that_is_away_is_named),
           cmocka_unit_test(several__go_on_to_the_one_that_is_believed),
           cmocka_unit_test(socket__needs_none_of_it))
