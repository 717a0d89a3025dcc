/* SPDX-License-Identifier: Apache-2.0 */
#include "secured.h"
#include "tests/unit/unit.h"

#include "tests/system/rig/await.h"
#include "tests/system/rig/plainhttp.h"

#include <sys/stat.h>
#include <unistd.h>

enum { DAY_S = 86400, CONFIG_SIZE = 2048, LINE_SIZE = 1024 };

const char *secured_file(const struct secured *secured, const char *name)
{
    static char paths[4][SECURED_PATH_SIZE];
    static unsigned next;
    return folder_path(paths[next++ % 4], SECURED_PATH_SIZE, secured->folder, name);
}

static bool munged_listens(void *arg)
{
    const struct secured *secured = arg;
    return !process_alive(secured->munged) || access(secured->munge, F_OK) == 0;
}

/* Its own key, socket and files: the machine's munged, if there is one, is left alone. */
static void start_munged(struct secured *secured)
{
    char key[SECURED_PATH_SIZE + 16], socket[SECURED_PATH_SIZE + 16], pid[SECURED_PATH_SIZE + 16];
    char seed[SECURED_PATH_SIZE + 16], log[SECURED_PATH_SIZE + 16];
    static const char secret[] = "a key of at least thirty-two bytes, for this test alone";
    assert_int_equal(folder_write(secured->folder, "munge.key", 0400, secret), 0);
    snprintf(key, sizeof key, "--key-file=%s", secured_file(secured, "munge.key"));
    snprintf(socket, sizeof socket, "--socket=%s", secured->munge);
    snprintf(pid, sizeof pid, "--pid-file=%s", secured_file(secured, "munge.pid"));
    snprintf(seed, sizeof seed, "--seed-file=%s", secured_file(secured, "munge.seed"));
    snprintf(log, sizeof log, "--log-file=%s", secured_file(secured, "munge.log"));
    const char *argv[] = {MUNGED, "--foreground", "--force", key, socket, pid, seed, log, NULL};
    secured->munged = process_start(argv, secured_file(secured, "munged.out"));
    assert_non_null(secured->munged);
    assert_true(await(munged_listens, secured, AWAIT_DEADLINE_MS));
    assert_true(process_alive(secured->munged));
}

/* The line of the log that says where it listens. */
static bool read_url(void *arg)
{
    struct secured *secured = arg;
    char line[LINE_SIZE];
    FILE *log = fopen(secured_file(secured, "mcastd.log"), "re");
    while (log && !secured->url[0] && fgets(line, sizeof line, log)) {
        const char *at = strstr(line, " READY ");
        at = at && strchr(at, '\n') ? strstr(at, "listen=127.0.0.1:") : NULL;
        if (at)
            snprintf(secured->url, sizeof secured->url, "https://127.0.0.1:%d",
                     atoi(at + strlen("listen=127.0.0.1:")));
    }
    if (log)
        fclose(log);
    return secured->url[0] || !process_alive(secured->broker);
}

static void start_broker(struct secured *secured, const char *mcastd)
{
    char text[CONFIG_SIZE], munge[SECURED_PATH_SIZE + 32] = "";
    const char *f = secured->folder;
    if (secured->munged)
        snprintf(munge, sizeof munge, "munge_socket = %s\n", secured->munge);
    snprintf(text, sizeof text,
             "[broker]\nsocket = %s\nlisten = 127.0.0.1:0\nadmins = %u cert:admin\n"
             "tls_cert = %s/server.pem\ntls_key = %s/server.key\ntls_client_ca = %s/ca.pem\n%s"
             "[state]\nstore = memory\nkey_file = %s/state.key\n"
             "[cluster \"elcap\"]\nusers = cert:rm\n",
             secured->socket, (unsigned)getuid(), f, f, f, munge, f);
    assert_int_equal(folder_write(secured->folder, "mcastd.conf", 0600, text), 0);
    const char *argv[] = {mcastd, "--config", secured->config, NULL};
    secured->broker = process_start(argv, secured_file(secured, "mcastd.log"));
    assert_non_null(secured->broker);
    bool ready = await(read_url, secured, AWAIT_DEADLINE_MS);
    if (!ready || !secured->url[0])
        process_print_log(secured->broker);
    assert_true(secured->url[0]);
}

void secured_open(struct secured *secured, const char *mcastd, time_t end, bool munged)
{
    *secured = (struct secured){0};
    assert_int_equal(folder_create(secured->folder), 0);
    /* munged wants a folder that others can look into, and cannot write to. */
    assert_int_equal(chmod(secured->folder, 0755), 0);
    folder_path(secured->config, sizeof secured->config, secured->folder, "mcastd.conf");
    folder_path(secured->socket, sizeof secured->socket, secured->folder, "s");
    folder_path(secured->munge, sizeof secured->munge, secured->folder, "m");
    authority_create(&secured->authority, secured->folder, "ca");
    authority_issue(&secured->authority, secured->folder, "server", end);
    authority_issue(&secured->authority, secured->folder, "admin", time(NULL) + DAY_S);
    if (munged)
        start_munged(secured);
    start_broker(secured, mcastd);
}

void secured_close(struct secured *secured)
{
    assert_int_equal(process_stop(secured->broker), 0);
    process_kill(secured->munged);
    authority_destroy(&secured->authority);
    folder_destroy(secured->folder);
}
