/* SPDX-License-Identifier: Apache-2.0 */
/* Who may serve the broker's Unix socket (B8). For the kernel that is who listens. */

#include "client/transport/peer.h"
#include "tests/unit/unit.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { SERVICE = 65533, OTHER = 65532, UNKNOWN = 65534 };

static char folder[32];
static struct sockaddr_un address;

static int open_folder(void **state)
{
    strcpy(folder, "/tmp/mcast-served-XXXXXX");
    assert_non_null(mkdtemp(folder));
    address.sun_family = AF_UNIX;
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s/s", folder);
    return 0;
}

static int close_folder(void **state)
{
    unlink(address.sun_path);
    return rmdir(folder);
}

static bool trusted(uid_t server, const char *configured, char *words, size_t size)
{
    unlink(address.sun_path);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(listener >= 0 && client >= 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    uid_t self = geteuid();
    assert_int_equal(seteuid(server), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(seteuid(self), 0);
    assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof address), 0);
    bool yes = serveruser_trusted(client, address.sun_path, configured, words, size);
    close(client);
    close(listener);
    return yes;
}

static void expect(uid_t server, const char *configured, bool yes, const char *said)
{
    char words[256] = "";
    if (trusted(server, configured, words, sizeof words) != yes || !strstr(words, said))
        fail_msg("user %u: \"%s\"", (unsigned)server, words);
}

static void folder_is(uid_t owner, mode_t mode)
{
    assert_int_equal(chown(folder, owner, 0), 0);
    assert_int_equal(chmod(folder, mode), 0);
}

#define FOLDER_TEST(name) UNIT_WITH(name, open_folder, close_folder)

FOLDER_TEST(server__of_this_user)
{
    expect(geteuid(), NULL, true, "");
    expect(geteuid(), "no_such_user", geteuid() == 0, "");
}

/* As RuntimeDirectory= makes it. */
FOLDER_TEST(server__that_owns_the_folder)
{
    if (geteuid() != 0)
        skip();
    folder_is(SERVICE, 0755);
    expect(SERVICE, NULL, true, "");
    expect(0, NULL, true, "");
    expect(OTHER, NULL, false,
           "user 65532 serves it, who is neither root nor user 65533, its folder's");
    folder_is(0, 0755);
    expect(SERVICE, NULL, false, "neither root nor user 0, its folder's");
}

/* Any user who can write there may have put it there. */
FOLDER_TEST(server__in_a_folder_of_others)
{
    if (geteuid() != 0)
        skip();
    folder_is(SERVICE, 01777);
    expect(SERVICE, NULL, false,
           "user 65533 serves it, who is not root, and others can make files");
    folder_is(SERVICE, 0775);
    expect(SERVICE, NULL, false, "and others than its owner can write to /tmp/mcast-served-");
    expect(0, NULL, true, "");
}

FOLDER_TEST(server__that_was_named)
{
    if (geteuid() != 0)
        skip();
    folder_is(0, 01777);
    expect(SERVICE, "65533", true, "");
    expect(1, "daemon", true, "");
    expect(SERVICE, "daemon", false, "user 65533 serves it");
    expect(SERVICE, "65532", false, "user 65533 serves it");
    expect(SERVICE, "no_such_user", false,
           "user 65533 serves it, and the user that should, 'no_such_user', is not known");
    expect(SERVICE, "4295032829", false, "is not known"); /* 2^32 more, which is not the same */
    expect(SERVICE, "", false, "is not known");
    expect(0, "65533", true, "");
}

/* In a user namespace all that is outside looks alike, the folder's owner, too. */
FOLDER_TEST(server__that_the_kernel_cannot_name)
{
    if (geteuid() != 0)
        skip();
    folder_is(UNKNOWN, 0755);
    expect(UNKNOWN, NULL, false, "user 65534 serves it, as which every unknown user appears here");
    expect(UNKNOWN, "65534", true, "");
}

UNIT_RUN(NULL, NULL)
