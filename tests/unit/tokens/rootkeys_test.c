/* SPDX-License-Identifier: Apache-2.0 */
/* The root keys' file (B3): made and rotated whole or not at all, refused when others could have it
 * or a line of it is damaged. */

#include "tests/unit/unit.h"
#include "tokens/rootkeys.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ID "b516f57e047224ed"
#define KEY "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

static const uid_t same_user = (uid_t)-1;
static const gid_t same_group = (gid_t)-1;

struct desk {
    char folder[64], path[96];
};

static int setup(void **state)
{
    struct desk *desk = calloc(1, sizeof *desk);
    strcpy(desk->folder, "/tmp/mcast-root-XXXXXX");
    assert_non_null(mkdtemp(desk->folder));
    snprintf(desk->path, sizeof desk->path, "%s/root.key", desk->folder);
    *state = desk;
    return 0;
}

static int teardown(void **state)
{
    struct desk *desk = *state;
    unlink(desk->path);
    (void)rmdir(desk->path);
    assert_int_equal(rmdir(desk->folder), 0); /* and no draft was left in it */
    free(desk);
    return 0;
}

static void write_bytes(const struct desk *desk, const char *text, size_t size, mode_t mode)
{
    int file = open(desk->path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, size), (ssize_t)size);
    assert_int_equal(fchmod(file, mode), 0);
    close(file);
}

static void write_keys(const struct desk *desk, const char *text, mode_t mode)
{
    write_bytes(desk, text, strlen(text), mode);
}

static size_t read_text(const struct desk *desk, char *text, size_t size)
{
    int file = open(desk->path, O_RDONLY);
    assert_true(file >= 0);
    ssize_t length = read(file, text, size - 1);
    assert_true(length >= 0);
    text[length] = '\0';
    close(file);
    return (size_t)length;
}

static struct rootkeys read_keys(const struct desk *desk)
{
    struct rootkeys keys;
    struct error err = {0};
    if (rootkeys_read(desk->path, &keys, &err) < 0)
        fail_msg("%s", err.text);
    return keys;
}

static void assert_refused(const struct desk *desk, int code, const char *words)
{
    static const struct rootkeys none;
    struct rootkeys keys;
    struct error err = {0};
    memset(&keys, 'x', sizeof keys);
    assert_int_equal(rootkeys_read(desk->path, &keys, &err), code);
    if (!strstr(err.text, words) || !strstr(err.text, desk->path))
        fail_msg("expected \"%s\" in: %s", words, err.text);
    assert_null(strstr(err.text, "0102030405"));
    assert_memory_equal(&keys, &none, sizeof keys);
    memset(&err, 0, sizeof err);
    assert_int_equal(rootkeys_rotate(desk->path, 1, NULL, NULL, &err), code); /* nor replaced */
}

static void make(const struct desk *desk, int64_t now)
{
    struct error err = {0};
    if (rootkeys_create(desk->path, now, same_user, same_group, &err) < 0)
        fail_msg("%s", err.text);
}

static void rotate(const struct desk *desk, int64_t now, rootkeys_needed_fn *needed, void *arg)
{
    struct error err = {0};
    if (rootkeys_rotate(desk->path, now, needed, arg, &err) < 0)
        fail_msg("%s", err.text);
}

/* -- making -- */

#define AT_DESK(test) UNIT_WITH(test, setup, teardown)

AT_DESK(file__made_has_one_key_of_its_own)
{
    const struct desk *desk = *state;
    struct stat status;
    mode_t before = umask(0);
    make(desk, 1790000000);
    umask(before);
    assert_int_equal(stat(desk->path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    const struct rootkeys keys = read_keys(desk);
    assert_int_equal(keys.count, 1);
    assert_int_equal(keys.keys[0].made, 1790000000);
    assert_ptr_equal(rootkeys_current(&keys), &keys.keys[0]);

    assert_int_equal(unlink(desk->path), 0);
    make(desk, 0);
    const struct rootkeys others = read_keys(desk);
    assert_memory_not_equal(keys.keys[0].bytes, others.keys[0].bytes, ROOTKEY_SIZE);
    assert_memory_not_equal(keys.keys[0].id, others.keys[0].id, ROOTKEY_ID_SIZE);
}

AT_DESK(file__is_never_made_over)
{
    const struct desk *desk = *state;
    struct error err = {0};
    char text[16];
    write_keys(desk, "precious", 0600);
    assert_int_equal(rootkeys_create(desk->path, 1, same_user, same_group, &err), ERROR_REFUSED);
    assert_non_null(strstr(err.text, "is there already and stays"));
    read_text(desk, text, sizeof text);
    assert_string_equal(text, "precious");
}

/* Made with another implementation (Python's hashlib): the id follows from the key. */
AT_DESK(file__is_read_as_documented)
{
    const struct desk *desk = *state;
    write_keys(desk, ID " 1790000000 " KEY "\n", 0400);
    const struct rootkeys keys = read_keys(desk);
    assert_int_equal(keys.count, 1);
    assert_int_equal(keys.keys[0].made, 1790000000);
    for (size_t i = 0; i < ROOTKEY_SIZE; i++)
        assert_int_equal(keys.keys[0].bytes[i], i);
    assert_ptr_equal(
        rootkeys_find(&keys, (const unsigned char *)"\xb5\x16\xf5\x7e\x04\x72\x24\xed"),
        &keys.keys[0]);
    assert_null(rootkeys_find(&keys, (const unsigned char *)"\xb5\x16\xf5\x7e\x04\x72\x24\xee"));
}

/* -- rotating -- */

AT_DESK(rotation__keeps_the_old_and_uses_the_new)
{
    const struct desk *desk = *state;
    make(desk, 100);
    const struct rootkeys before = read_keys(desk);
    for (size_t i = 1; i < ROOTKEYS_MAX; i++)
        rotate(desk, 100 + (int64_t)i * 10, NULL, NULL);
    const struct rootkeys after = read_keys(desk);
    assert_int_equal(after.count, ROOTKEYS_MAX);
    assert_memory_equal(&after.keys[0], &before.keys[0], sizeof(struct rootkey));
    for (size_t i = 0; i < after.count; i++) {
        assert_int_equal(after.keys[i].made, 100 + i * 10);
        assert_ptr_equal(rootkeys_find(&after, after.keys[i].id), &after.keys[i]);
    }
    assert_ptr_equal(rootkeys_current(&after), &after.keys[ROOTKEYS_MAX - 1]);

    /* No more fit while all are needed, and nothing is lost. */
    struct error err = {0};
    assert_int_equal(rootkeys_rotate(desk->path, 999, NULL, NULL, &err), ERROR_FULL);
    assert_non_null(strstr(err.text, "all 16 root keys are still needed"));
    const struct rootkeys still = read_keys(desk);
    assert_memory_equal(&still, &after, sizeof after);
}

struct judge {
    int64_t oldest; /* what lives was made from then on */
    int64_t replaced[ROOTKEYS_MAX];
    size_t asked;
};

static bool still_used(void *arg, const struct rootkey *key, int64_t replaced)
{
    struct judge *judge = arg;
    assert_true(key->made <= replaced);
    judge->replaced[judge->asked++] = replaced;
    return replaced > judge->oldest;
}

AT_DESK(rotation__drops_what_nothing_needs)
{
    const struct desk *desk = *state;
    make(desk, 100);
    rotate(desk, 200, NULL, NULL);
    rotate(desk, 300, NULL, NULL);
    const struct rootkeys before = read_keys(desk);
    struct judge judge = {.oldest = 250};
    rotate(desk, 400, still_used, &judge);
    assert_int_equal(judge.asked, 3);
    assert_int_equal(judge.replaced[0], 200);
    assert_int_equal(judge.replaced[1], 300);
    assert_int_equal(judge.replaced[2], 400);
    const struct rootkeys after = read_keys(desk);
    assert_int_equal(after.count, 3);
    assert_memory_equal(&after.keys[0], &before.keys[1], 2 * sizeof(struct rootkey));
    assert_int_equal(after.keys[2].made, 400);

    judge = (struct judge){.oldest = INT64_MAX}; /* nothing lives */
    rotate(desk, 500, still_used, &judge);
    assert_int_equal(read_keys(desk).count, 1);
}

/* A clock that was set back must not make a new key look older than the one that it replaced. */
AT_DESK(rotation__never_goes_back_in_time)
{
    const struct desk *desk = *state;
    make(desk, 1000);
    rotate(desk, 10, NULL, NULL);
    const struct rootkeys keys = read_keys(desk);
    assert_int_equal(keys.keys[0].made, 1000);
    assert_int_equal(keys.keys[1].made, 1000);
}

AT_DESK(rotation__keeps_user_and_mode)
{
    const struct desk *desk = *state;
    struct stat status;
    if (geteuid() != 0)
        skip();
    make(desk, 1);
    assert_int_equal(chown(desk->path, 0, 4712), 0);
    rotate(desk, 2, NULL, NULL);
    assert_int_equal(stat(desk->path, &status), 0);
    assert_int_equal(status.st_uid, 0);
    assert_int_equal(status.st_gid, 4712);
    assert_int_equal(status.st_mode & 07777, 0600);
}

AT_DESK(rotation__on_a_full_disk_changes_nothing)
{
    const struct desk *desk = *state;
    struct error err = {0};
    struct rlimit before, limit;
    make(desk, 1);
    const struct rootkeys keys = read_keys(desk);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 100;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    int code = rootkeys_rotate(desk->path, 2, NULL, NULL, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(code, ERROR_FULL);
    assert_non_null(strstr(err.text, "make room on its disk"));
    const struct rootkeys after = read_keys(desk);
    assert_memory_equal(&after, &keys, sizeof keys);
}

/* No new key is lost, and a reader always gets a complete file. */
AT_DESK(rotation__of_several_at_once_loses_no_key)
{
    enum { PROCESSES = 5, TIMES = 3 };
    const struct desk *desk = *state;
    pid_t children[PROCESSES];
    make(desk, 1);
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            int failed = 0;
            for (int k = 0; k < TIMES; k++) {
                struct rootkeys keys;
                failed |= rootkeys_rotate(desk->path, 2, NULL, NULL, NULL) < 0;
                failed |= rootkeys_read(desk->path, &keys, NULL) < 0;
            }
            _exit(failed);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    assert_int_equal(read_keys(desk).count, 1 + PROCESSES * TIMES);
}

/* -- what is none -- */

AT_DESK(file__that_is_damaged_is_refused)
{
    static const struct {
        const char *text;
        int line;
    } bad[] = {
        {"", 1},
        {"\n", 1},
        {KEY "\n", 1},
        {ID " 1 " KEY, 1}, /* cut before the line's end */
        {ID " 1 " KEY "\n\n", 2},
        {ID " 1 " KEY "\r\n", 1},
        {" " ID " 1 " KEY "\n", 1},
        {ID " 1 " KEY " \n", 1},
        {ID "  1 " KEY "\n", 1},
        {ID " 1  " KEY "\n", 1},
        {ID " -1 " KEY "\n", 1},
        {ID " +1 " KEY "\n", 1},
        {ID " 01 " KEY "\n", 1},
        {ID " 0x1 " KEY "\n", 1},
        {ID "  " KEY "\n", 1},
        {ID " 9223372036854775808 " KEY "\n", 1},
        {ID "\n", 1},
        {ID " \n", 1},
        {ID " 1\n", 1},
        {ID " 1 \n", 1},
        {ID " 1 " KEY "00\n", 1},
        {ID " 1 00" KEY "\n", 1},
        {"b516f57e047224ee 1 " KEY "\n", 1},      /* not this key's id */
        {ID " 1 " KEY "\n" ID " 2 " KEY "\n", 2}, /* twice */
        {ID " 1 " KEY "\nrubbish\n", 2},
    };
    const struct desk *desk = *state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char words[64];
        write_keys(desk, bad[i].text, 0600);
        snprintf(words, sizeof words, "line %d of the root key file", bad[i].line);
        assert_refused(desk, ERROR_CORRUPT, words);
    }
    write_bytes(desk, ID " 1 \0" KEY "\n", 16 + 3 + 1 + 64 + 1, 0600);
    assert_refused(desk, ERROR_CORRUPT, "line 1 of the root key file");
}

AT_DESK(file__damaged_in_any_bit_is_refused_or_the_same_key)
{
    const struct desk *desk = *state;
    char text[256];
    make(desk, 1790000000);
    const struct rootkeys before = read_keys(desk);
    size_t size = read_text(desk, text, sizeof text);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        struct rootkeys keys;
        text[bit / 8] ^= (char)(1 << bit % 8);
        write_bytes(desk, text, size, 0600);
        int code = rootkeys_read(desk->path, &keys, NULL);
        text[bit / 8] ^= (char)(1 << bit % 8);
        assert_true(code == 0 || code == ERROR_CORRUPT);
        if (code == 0) { /* a digit in capitals, or another time */
            assert_memory_equal(keys.keys[0].bytes, before.keys[0].bytes, ROOTKEY_SIZE);
            assert_memory_equal(keys.keys[0].id, before.keys[0].id, ROOTKEY_ID_SIZE);
        }
    }
}

AT_DESK(file__with_too_many_keys_or_out_of_order_is_refused)
{
    const struct desk *desk = *state;
    char text[4096], lines[ROOTKEYS_MAX][128], turned[512];
    size_t count = 0;
    make(desk, 100);
    for (int64_t i = 1; i < ROOTKEYS_MAX; i++)
        rotate(desk, 100 + i, NULL, NULL);
    size_t size = read_text(desk, text, sizeof text);
    for (char *line = text; count < ROOTKEYS_MAX; count++) {
        size_t length = strcspn(line, "\n") + 1;
        memcpy(lines[count], line, length);
        lines[count][length] = '\0';
        line += length;
    }
    snprintf(text + size, sizeof text - size, "%s", ID " 999 " KEY "\n");
    write_keys(desk, text, 0600);
    assert_refused(desk, ERROR_CORRUPT, "line 17 of the root key file");
    memset(text + size, 'a', sizeof text - size);
    write_bytes(desk, text, sizeof text, 0600);
    assert_refused(desk, ERROR_CORRUPT, "line 17 of the root key file");
    snprintf(turned, sizeof turned, "%s%s", lines[1], lines[0]);
    write_keys(desk, turned, 0600);
    assert_refused(desk, ERROR_CORRUPT, "line 2 of the root key file");
}

/* The rest of it: tests/unit/trust/keyfile_test.c. */
AT_DESK(file__open_to_others_is_refused)
{
    const struct desk *desk = *state;
    write_keys(desk, ID " 1 " KEY "\n", 0601);
    assert_refused(desk, ERROR_REFUSED, "by others: chmod 0600");
    assert_int_equal(unlink(desk->path), 0);
    assert_refused(desk, ERROR_NOT_FOUND, "No such file");
}

UNIT_RUN(NULL, NULL)
