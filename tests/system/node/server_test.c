/* SPDX-License-Identifier: Apache-2.0 */
/* What listens in mcastd's place, while that is away, is told nothing and believed nothing (B8). */

#include "tests/system/node/stand.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { OTHER_UID = 65533, NO_BROKER = 4 };

/* For the kernel, who listens is who serves. */
static int listen_as_other(const struct stand *stand, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path, sizeof address->sun_path, "%s/other", stand->folder);
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
    struct stand *stand = *state;
    struct sockaddr_un address;
    char byte;
    if (geteuid() != 0)
        skip();
    int listener = listen_as_other(stand, &address);
    assert_int_equal(stand_run(stand, "prolog --url %s --job f17", address.sun_path), NO_BROKER);
    stand_expect_err(stand, "/other is not taken for mcastd (user 65533 serves it, ");
    int client = accept(listener, NULL, NULL);
    assert_int_equal(recv(client, &byte, 1, 0), 0);
    close(client);
    assert_int_equal(stand_services(stand, NULL), 0);
    /* The user that node.conf names is asked for. */
    stand_set_config(stand, "server_user = no_such_user\n");
    assert_int_equal(stand_run(stand, "prolog --url %s --job f17", address.sun_path), NO_BROKER);
    stand_expect_err(stand, "and the user that should, 'no_such_user', is not known");
    close(listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(server__of_another_user, stand_create, stand_destroy),
    };
    return cmocka_run_group_tests_name("node_server", tests, NULL, NULL);
}
