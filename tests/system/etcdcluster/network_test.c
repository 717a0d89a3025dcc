/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/rig/network.h"

#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HOSTS = 3, PORT = 4000 };

static int udp_at(struct network *network, int host, const char *address)
{
    struct sockaddr_in bound = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    const struct timeval limit = {.tv_sec = AWAIT_DEADLINE_MS / 1000};

    network_enter(network, host);
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    network_enter(network, -1);
    assert_int_equal(inet_pton(AF_INET, address, &bound.sin_addr), 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&bound, sizeof bound), 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
    return fd;
}

static void send_to(int fd, const char *address, char text)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PORT)};

    assert_int_equal(inet_pton(AF_INET, address, &to.sin_addr), 1);
    assert_int_equal(sendto(fd, &text, 1, 0, (struct sockaddr *)&to, sizeof to), 1);
}

/* In order: what was sent before it and has not come is lost. */
static void assert_hears(int fd, char text)
{
    char heard = 0;

    assert_int_equal(recv(fd, &heard, 1, 0), 1);
    assert_int_equal(heard, text);
}

static bool is_heard(void *arg)
{
    const int *fds = arg;
    char heard;

    send_to(fds[0], "10.99.0.2", 'p');
    if (recv(fds[1], &heard, 1, MSG_DONTWAIT) != 1)
        return false;
    assert_int_equal(heard, 'p');
    return true;
}

/* All of it in a namespace of this process, of which nothing is seen outside. */
static void network__loses_what_is_cut_and_nothing_else(void **state)
{
    const char *lacks;
    int fds[HOSTS];
    struct network *network = network_create(HOSTS, &lacks);

    if (!network) {
        printf("skipped: %s\n", lacks);
        skip();
    }
    for (int i = 0; i < HOSTS; i++)
        fds[i] = udp_at(network, i, network_address(network, (unsigned)i));
    const int own = udp_at(network, -1, "10.99.0.254");
    send_to(own, "10.99.0.1", 'a');
    assert_hears(fds[0], 'a');

    network_cut(network, 0, 1, NETWORK_THERE);
    send_to(fds[0], "10.99.0.2", 'b');
    send_to(fds[0], "10.99.0.3", 'c');
    send_to(fds[1], "10.99.0.1", 'd');
    assert_hears(fds[2], 'c');
    assert_hears(fds[0], 'd');
    network_cut(network, 0, 1, NETWORK_BACK);
    send_to(fds[1], "10.99.0.1", 'e');
    send_to(fds[2], "10.99.0.1", 'f');
    assert_hears(fds[0], 'f');
    send_to(fds[0], "10.99.0.2", 'g');
    assert_hears(fds[1], 'g');

    network_unplug(network, 1, true);
    network_cut(network, 0, 1, 0);
    send_to(fds[0], "10.99.0.2", 'h');
    send_to(fds[2], "10.99.0.1", 'i');
    assert_hears(fds[0], 'i');
    network_heal(network);
    assert_true(await(is_heard, fds, AWAIT_DEADLINE_MS)); /* a cable needs a moment */
    for (int i = 0; i < HOSTS; i++)
        close(fds[i]);
    close(own);
    network_destroy(network);
}

UNIT_MAIN(cmocka_unit_test(network__loses_what_is_cut_and_nothing_else))
