/* SPDX-License-Identifier: Apache-2.0 */
/* The key file (B8): made whole or not at all, never made over, refused when others could have it.
 */

#include "tests/unit/unit.h"
#include "tokens/seal_key.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const uid_t same_user = (uid_t)-1;
static const gid_t same_group = (gid_t)-1;

struct desk {
    char folder[64], path[96];
};

static int setup(void **state)
{
    struct desk *desk = calloc(1, sizeof *desk);
    strcpy(desk->folder, "/tmp/mcast-key-XXXXXX");
    assert_non_null(mkdtemp(desk->folder));
    snprintf(desk->path, sizeof desk->path, "%s/state.key", desk->folder);
    *state = desk;
    return 0;
}

static int teardown(void **state)
{
    struct desk *desk = *state;
    unlink(desk->path);
    (void)rmdir(desk->path);
    assert_int_equal(rmdir(desk->folder), 0); /* and nothing else was left in it */
    free(desk);
    return 0;
}

static void write_key(const struct desk *desk, const char *text, mode_t mode)
{
    int file = open(desk->path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(fchmod(file, mode), 0);
    close(file);
}

static void assert_refused(const struct desk *desk, int code, const char *words)
{
    struct seal_key key = {{1}};
    const struct seal_key none = {{0}};
    struct error err = {0};
    assert_int_equal(seal_key_read(desk->path, &key, &err), code);
    if (!strstr(err.text, words) || !strstr(err.text, desk->path))
        fail_msg("expected \"%s\" in: %s", words, err.text);
    assert_memory_equal(&key, &none, sizeof key);
}

#define DIGITS "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

/* -- making -- */

#define AT_DESK(test) UNIT_WITH(test, setup, teardown)

AT_DESK(key__made_is_read_back)
{
    const struct desk *desk = *state;
    struct seal_key key, again;
    struct stat status;
    mode_t before = umask(0);
    assert_int_equal(seal_key_create(desk->path, same_user, same_group, NULL), 0);
    umask(before);
    assert_int_equal(stat(desk->path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(status.st_nlink, 1);
    assert_int_equal(seal_key_read(desk->path, &key, NULL), 0);
    assert_int_equal(seal_key_read(desk->path, &again, NULL), 0);
    assert_memory_equal(&key, &again, sizeof key);

    /* No two are the same. */
    assert_int_equal(unlink(desk->path), 0);
    assert_int_equal(seal_key_create(desk->path, same_user, same_group, NULL), 0);
    assert_int_equal(seal_key_read(desk->path, &again, NULL), 0);
    assert_memory_not_equal(&key, &again, sizeof key);
}

AT_DESK(key__is_never_made_over)
{
    const struct desk *desk = *state;
    struct error err = {0};
    char text[8] = "";
    write_key(desk, "precious", 0600);
    assert_int_equal(seal_key_create(desk->path, same_user, same_group, &err), ERROR_REFUSED);
    assert_non_null(strstr(err.text, "is there already and stays"));
    int file = open(desk->path, O_RDONLY);
    assert_int_equal(read(file, text, sizeof text), (ssize_t)sizeof text);
    assert_memory_equal(text, "precious", sizeof text);
    close(file);
}

AT_DESK(key__is_made_for_its_user)
{
    const struct desk *desk = *state;
    struct stat status;
    if (geteuid() != 0)
        skip();
    assert_int_equal(seal_key_create(desk->path, 4711, 4712, NULL), 0);
    assert_int_equal(stat(desk->path, &status), 0);
    assert_int_equal(status.st_uid, 4711);
    assert_int_equal(status.st_gid, 4712);
}

AT_DESK(key__without_a_folder_is_refused)
{
    const struct desk *desk = *state;
    struct error err = {0};
    char path[128];
    snprintf(path, sizeof path, "%s/missing/state.key", desk->folder);
    assert_int_equal(seal_key_create(path, same_user, same_group, &err), ERROR_IO);
    assert_non_null(strstr(err.text, path));
    assert_non_null(strstr(err.text, "No such file or directory"));
    assert_non_null(strstr(err.text, "--make-key"));
}

AT_DESK(key__on_a_full_disk_leaves_nothing)
{
    const struct desk *desk = *state;
    struct error err = {0};
    struct rlimit before, limit;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 16;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    int code = seal_key_create(desk->path, same_user, same_group, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(code, ERROR_FULL);
    assert_non_null(strstr(err.text, "make room on its disk"));
    assert_int_equal(access(desk->path, F_OK), -1);
}

/* -- reading -- */

AT_DESK(key__of_an_administrator_is_read)
{
    static const char *const texts[] = {
        DIGITS, DIGITS "\n", DIGITS "\r\n",
        "000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F\n"};
    const struct desk *desk = *state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct seal_key key;
        struct error err = {0};
        write_key(desk, texts[i], 0400);
        if (seal_key_read(desk->path, &key, &err) < 0)
            fail_msg("%s", err.text);
        for (size_t k = 0; k < sizeof key.bytes; k++)
            assert_int_equal(key.bytes[k], k);
        assert_int_equal(unlink(desk->path), 0);
    }
}

AT_DESK(key__that_is_none_is_refused)
{
    static const char *const texts[] = {"",
                                        "\n",
                                        "0001",
                                        DIGITS "0",
                                        DIGITS "00",
                                        DIGITS "\n" DIGITS,
                                        " " DIGITS,
                                        "g" DIGITS,
                                        "0x" DIGITS,
                                        "00010203040506070809g"
                                        "a0b0c0d0e0f101112131415161718191a1b1c1d1e1"};
    const struct desk *desk = *state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_key(desk, texts[i], 0600);
        assert_refused(desk, ERROR_CORRUPT, "holds no key (64 hexadecimal digits on one line)");
    }
}

/* The rest of it: tests/unit/trust/keyfile_test.c. */
AT_DESK(key__open_to_others_is_refused)
{
    const struct desk *desk = *state;
    write_key(desk, DIGITS "\n", 0601);
    assert_refused(desk, ERROR_REFUSED, "by others: chmod 0600");
    assert_int_equal(unlink(desk->path), 0);
    assert_refused(desk, ERROR_NOT_FOUND, "No such file");
}

UNIT_RUN(NULL, NULL)
