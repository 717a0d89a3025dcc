/* SPDX-License-Identifier: Apache-2.0 */
/* What listens in mcastd's place, while that is away, is told nothing and believed nothing (B8). */

#include "tests/system/node/fixture.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { OTHER_UID = 65533, NO_BROKER = 4 };

/* For the kernel, who listens is who serves. */
static int listen_as_other(const struct fixture *fixture, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path, sizeof address->sun_path, "%s/other", fixture->folder);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)address, sizeof *address), 0);
    assert_int_equal(seteuid(OTHER_UID), 0);
    int rc = listen(listener, 8);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(rc, 0);
    return listener;
}

static void server__of_another_user(void **state)
{
    struct fixture *fixture = *state;
    struct sockaddr_un address;
    char byte;
    if (geteuid() != 0)
        skip();
    int listener = listen_as_other(fixture, &address);
    EXPECT_RUN(NO_BROKER, "prolog --url %s --job f17", address.sun_path);
    fixture_expect_err(fixture, "/other is not taken for mcastd (user 65533 serves it, ");
    int client = accept(listener, NULL, NULL);
    assert_int_equal(recv(client, &byte, 1, 0), 0);
    close(client);
    EXPECT_SERVICES(0);
    /* The user that node.conf names is asked for. */
    fixture_set_config(fixture, "server_user = no_such_user\n");
    EXPECT_RUN(NO_BROKER, "prolog --url %s --job f17", address.sun_path);
    fixture_expect_err(fixture, "and the user that should, 'no_such_user', is not known");
    close(listener);
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(server__of_another_user, fixture_create, fixture_destroy))
