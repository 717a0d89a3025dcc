/* SPDX-License-Identifier: Apache-2.0 */
/* B8: what others than root and the service's user could change is neither read nor used: the start
 * is refused, --check and the doctor name it, a reload changes nothing. */

#include "tests/system/operation/certificate.h"
#include "tests/system/operation/service.h"
#include "tests/unit/unit.h"

#include <sys/stat.h>
#include <unistd.h>

enum { OTHER_UID = 65533, TEXT_SIZE = 1024 };

/* Refused, with one sentence that names the key (or the file), who, and the command. */
static void refused(const char *key, const char *words)
{
    service_checked(1, words);
    if (!strstr(service_said, key))
        fail_msg("\"%s\" is not named: %s", key, service_said);
    service_refused(key, words);
}

/* Everything that the service reads or writes is there. */
static int open_service(void **state)
{
    char text[TEXT_SIZE], cert[128], key[128], other[128];
    service_open(state);
    (void)snprintf(cert, sizeof cert, "%s", service_path("tls.crt"));
    (void)snprintf(key, sizeof key, "%s", service_path("tls.key"));
    (void)snprintf(other, sizeof other, "%s", service_path("fm.crt"));
    certificate_write(cert, key, 400);
    certificate_write(other, service_path("fm.key"), 400);
    service_give("tls.key");
    service_give("fm.key");
    (void)snprintf(text, sizeof text,
                   "[broker]\nlisten = localhost:0\ntls_cert = %s\ntls_key = %s\n"
                   "tls_client_ca = %s\n[fm]\nca = %s\nmtls_cert = %s\nmtls_key = %s\n",
                   cert, key, cert, cert, other, service_path("fm.key"));
    service_put("conf.d/20-tls.conf", 0644, text);
    assert_int_equal(service_run(NULL), 0); /* which makes the ledger and the root keys */
    assert_int_equal(service_run("--check"), 0);
    return 0;
}

static const struct {
    const char *name, *key;
} places[] = {
    {"mcastd.conf", "mcastd.conf: "},
    {"conf.d", "/conf.d"},
    {"conf.d/20-tls.conf", "20-tls.conf: "},
    {"run", "[broker] socket: "},
    {"state", "[state] path: "},
    {"state/state.db", "[state] path: "},
    {"state/state.db.lock", "[state] path: "},
    {"state/root.keys", "[broker] root_key_file: "},
    {"state.key", "[state] key_file: "},
    {"tls.crt", "[broker] tls_cert: "},
    {"tls.key", "[broker] tls_key: "},
    {"fm.crt", "[fm] mtls_cert: "},
    {"fm.key", "[fm] mtls_key: "},
    {"login", "[fm] authdir: "},
    {"login/passwd", "[fm] authdir: "},
};

enum { PLACES = sizeof places / sizeof places[0] };

static void place__that_others_can_write(void **state)
{
    for (size_t i = 0; i < PLACES; i++) {
        struct stat found;
        char command[192];
        assert_int_equal(stat(service_path(places[i].name), &found), 0);
        (void)snprintf(command, sizeof command, "chmod go-w %s", service_path(places[i].name));
        assert_int_equal(chmod(service_path(places[i].name), found.st_mode | S_IWOTH), 0);
        refused(places[i].key, command);
        assert_int_equal(chmod(service_path(places[i].name), found.st_mode), 0);
    }
    assert_int_equal(service_run("--check"), 0);
}

/* A file of his in conf.d made a user an admin. */
static void place__that_is_another_users(void **state)
{
    if (geteuid() != 0)
        skip();
    for (size_t i = 0; i < PLACES; i++) {
        struct stat found;
        char path[128];
        (void)snprintf(path, sizeof path, "%s", service_path(places[i].name));
        assert_int_equal(stat(path, &found), 0);
        /* That he may read it is another fault. */
        assert_int_equal(chown(path, OTHER_UID, found.st_gid), 0);
        assert_int_equal(chmod(path, found.st_mode | (found.st_mode & S_IRUSR ? 0044 : 0)), 0);
        refused(places[i].key, " belongs to user 65533, who can change ");
        assert_non_null(strstr(service_said, ": chown "));
        assert_int_equal(chown(path, found.st_uid, found.st_gid), 0);
        assert_int_equal(chmod(path, found.st_mode), 0);
    }
    service_put("conf.d/99-admin.conf", 0644, "[broker]\nadmins = 65533\n");
    assert_int_equal(chown(service_path("conf.d/99-admin.conf"), OTHER_UID, 0), 0);
    refused("99-admin.conf: ", "the configuration and its admins: chown root ");
    assert_int_equal(unlink(service_path("conf.d/99-admin.conf")), 0);
    assert_int_equal(service_run("--check"), 0);
}

/* Who can replace a folder replaces all that is in it. A sticky one keeps what is there. */
static void folder__above_all(void **state)
{
    assert_int_equal(chmod(service_folder, 0777), 0);
    refused("mcastd.conf: ", "others than its owner can write to ");
    static const char *const named[] = {
        "[broker] socket: ",   "[state] path: ", "[state] key_file: ",
        "[broker] tls_cert: ", "[fm] ca: ",      "[fm] authdir: "};
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
        assert_non_null(strstr(service_said, named[i]));
    assert_int_equal(chmod(service_folder, 01777), 0);
    /* But what is to be made there, others could make before. */
    refused("[state] key_file: ", "others can make files in ");
    assert_null(strstr(service_said, "[fm] authdir: "));
    assert_null(strstr(service_said, "[broker] socket: "));
}

/* One run tells it all, with what else is wrong. */
static void places__are_told_with_other_faults(void **state)
{
    service_put("conf.d/30-users.conf", 0644, "[broker]\nadmins = nobody\n");
    assert_int_equal(chmod(service_path("run"), 0777), 0);
    assert_int_equal(chmod(service_path("conf.d"), 0777), 0);
    assert_int_equal(chmod(service_path("login/passwd"), 0644), 0);
    refused("30-users.conf:2: ", "user nobody stands for every user");
    static const char *const named[] = {"[broker] socket: ", "/conf.d, and so change ",
                                        "login/passwd can be read by others"};
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
        assert_non_null(strstr(service_said, named[i]));
}

/* Of a hashed folder each file counts. */
static void folder_of_authorities__is_looked_through(void **state)
{
    char text[TEXT_SIZE];
    assert_int_equal(mkdir(service_path("ca"), 0755), 0);
    (void)snprintf(text, sizeof text, "[fm]\nca = %s\n", service_path("ca"));
    service_put("conf.d/30-ca.conf", 0644, text);
    assert_int_equal(symlink("../tls.crt", service_path("ca/0123abcd.0")), 0);
    assert_int_equal(service_run("--check"), 0);
    assert_int_equal(chmod(service_path("tls.crt"), 0646), 0);
    refused("[fm] ca: ", "tls.crt, and so change who signs for the fabric manager");
    assert_int_equal(chmod(service_path("tls.crt"), 0644), 0);
    assert_int_equal(chmod(service_path("ca"), 01777), 0);
    refused("[fm] ca: ", "others can make files in ");
}

/* What is said there is believed of every client. munged's own user is trusted with it. */
static void socket_of_munge__is_looked_at(void **state)
{
    char text[TEXT_SIZE];
    assert_int_equal(mkdir(service_path("munge"), 0755), 0);
    (void)snprintf(text, sizeof text, "[broker]\nmunge_socket = %s\n",
                   service_path("munge/socket"));
    service_put("conf.d/30-munge.conf", 0644, text);
    assert_int_equal(mknod(service_path("munge/socket"), S_IFSOCK | 0777, 0), 0);
    service_checked(0, "");
    if (geteuid() == 0) {
        assert_int_equal(chown(service_path("munge"), OTHER_UID, 0), 0);
        service_checked(0, "");
        assert_int_equal(chown(service_path("munge/socket"), 65532, 0), 0);
        refused("[broker] munge_socket: ", "belongs to user 65532");
        assert_int_equal(chown(service_path("munge/socket"), 0, 0), 0);
    }
    assert_int_equal(chmod(service_path("munge"), 01777), 0);
    refused("[broker] munge_socket: ", "others can make files in ");
}

/* F13: it would be refused when it is used, which took the link down. */
static void login__that_others_can_read(void **state)
{
    assert_int_equal(chmod(service_path("login/passwd"), 0644), 0);
    refused("mcastd.conf:8: ", "login/passwd can be read by others: chmod 0600 ");
    assert_int_equal(chmod(service_path("login/passwd"), 0600), 0);
    assert_int_equal(chmod(service_path("fm.key"), 0640), 0);
    refused("20-tls.conf:8: ", "fm.key can be read by others: chmod 0600 ");
}

/* Root makes it where the configuration says. */
static void key__is_made_for_no_ones_configuration_but_the_services(void **state)
{
    if (geteuid() != 0)
        skip();
    assert_int_equal(unlink(service_path("state.key")), 0);
    assert_int_equal(chown(service_path("conf.d/20-tls.conf"), OTHER_UID, 0), 0);
    assert_int_equal(service_run_as(0, "--make-key"), 1);
    assert_non_null(strstr(service_said, "20-tls.conf belongs to user 65533"));
    assert_int_equal(access(service_path("state.key"), F_OK), -1);
    service_give("conf.d/20-tls.conf");
    assert_int_equal(service_run_as(0, "--make-key"), 0);
}

#define SERVICE_TEST(name) cmocka_unit_test_setup_teardown(name, open_service, service_close)

UNIT_MAIN(SERVICE_TEST(place__that_others_can_write), SERVICE_TEST(place__that_is_another_users),
          SERVICE_TEST(folder__above_all), SERVICE_TEST(places__are_told_with_other_faults),
          SERVICE_TEST(folder_of_authorities__is_looked_through),
          SERVICE_TEST(socket_of_munge__is_looked_at), SERVICE_TEST(login__that_others_can_read),
          SERVICE_TEST(key__is_made_for_no_ones_configuration_but_the_services))
