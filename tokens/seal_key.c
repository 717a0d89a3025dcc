#include "tokens/seal_key.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_SIZE = 2 * SEAL_KEY_SIZE + 1 }; /* the digits and the line's end */

static const char digits[] = "0123456789abcdef";

void seal_key_wipe(struct seal_key *key)
{
    explicit_bzero(key, sizeof *key);
}

/* -- making one -- */

static int draw(struct seal_key *key)
{
    size_t got = 0;
    while (got < sizeof key->bytes) {
        ssize_t more = getrandom(key->bytes + got, sizeof key->bytes - got, 0);
        if (more < 0 && errno != EINTR)
            return -1;
        if (more > 0)
            got += (size_t)more;
    }
    return 0;
}

static void format(const struct seal_key *key, char text[TEXT_SIZE])
{
    for (size_t i = 0; i < SEAL_KEY_SIZE; i++) {
        text[2 * i] = digits[key->bytes[i] >> 4];
        text[2 * i + 1] = digits[key->bytes[i] & 15];
    }
    text[TEXT_SIZE - 1] = '\n';
}

/* A disk that fills up takes the beginning, and says why only when asked to take the rest. */
static int write_all(int file, const char *text, size_t size)
{
    size_t written = 0;
    while (written < size) {
        ssize_t more = write(file, text + written, size - written);
        if (more < 0 && errno != EINTR)
            return -1;
        if (more > 0)
            written += (size_t)more;
    }
    return 0;
}

static int fill(int file, uid_t owner, gid_t group)
{
    struct seal_key key;
    char text[TEXT_SIZE];
    int code = draw(&key);
    format(&key, text);
    if (code == 0)
        code = fchown(file, owner, group);
    if (code == 0)
        code = write_all(file, text, sizeof text);
    if (code == 0)
        code = fsync(file);
    explicit_bzero(text, sizeof text);
    seal_key_wipe(&key);
    return code;
}

static int sync_folder_of(const char *path)
{
    char *copy = strdup(path);
    int folder = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    int code = folder < 0 ? -1 : fsync(folder);
    if (folder >= 0)
        close(folder);
    free(copy);
    return code;
}

/* Under a name of its own first, which then becomes a second one: unlike rename, link replaces
 * nothing, whoever else is making this file. */
static int make(const char *path, char *draft, uid_t owner, gid_t group)
{
    int file = mkostemp(draft, O_CLOEXEC);
    if (file < 0)
        return -1;
    int code = fill(file, owner, group);
    if (code == 0)
        code = link(draft, path);
    int number = errno;
    close(file);
    unlink(draft);
    errno = number;
    return code < 0 ? -1 : sync_folder_of(path);
}

int seal_key_create(const char *path, uid_t owner, gid_t group, struct error *err)
{
    char *draft;
    if (asprintf(&draft, "%s.XXXXXX", path) < 0)
        return error_set(err, ERROR_NOMEM, "out of memory while making %s", path);
    int code = make(path, draft, owner, group);
    int number = errno;
    free(draft);
    if (code == 0)
        return 0;
    if (number == EEXIST)
        return error_set(err, ERROR_REFUSED,
                         "%s is there already and stays: it may be what opens a ledger; move it "
                         "away to make another",
                         path);
    if (number == ENOSPC || number == EDQUOT || number == EFBIG)
        return error_set(err, ERROR_FULL, "cannot make the key file %s: %s: make room on its disk",
                         path, strerror(number));
    return error_set(
        err, ERROR_IO,
        "cannot make the key file %s: %s: make it as root, with mcastd --make-key=USER, or "
        "set [state] key_file to a place that the user of mcastd may write to",
        path, strerror(number));
}

/* -- reading one -- */

static int check_guarded(int file, const char *path, struct error *err)
{
    struct stat status;
    if (fstat(file, &status) < 0)
        return error_set(err, ERROR_IO, "cannot read the key file %s: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return error_set(err, ERROR_INVALID,
                         "the key file %s is not a regular file: check [state] key_file", path);
    if (status.st_mode & (S_IRWXG | S_IRWXO))
        return error_set(err, ERROR_REFUSED,
                         "the key file %s is open to others (mode %04o): chmod 0600 %s", path,
                         (unsigned)(status.st_mode & 07777), path);
    if (status.st_uid != geteuid() && status.st_uid != 0)
        return error_set(err, ERROR_REFUSED,
                         "the key file %s belongs to user %u: chown it to user %u, or to root",
                         path, (unsigned)status.st_uid, (unsigned)geteuid());
    return 0;
}

static int digit_value(char digit)
{
    if (digit >= 'A' && digit <= 'F')
        digit = (char)(digit - 'A' + 'a');
    const char *at = digit ? strchr(digits, digit) : NULL;
    return at ? (int)(at - digits) : -1;
}

static int parse(const char *text, size_t length, struct seal_key *key)
{
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
        length--;
    if (length != 2 * sizeof key->bytes)
        return -1;
    for (size_t i = 0; i < sizeof key->bytes; i++) {
        int high = digit_value(text[2 * i]), low = digit_value(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return -1;
        key->bytes[i] = (unsigned char)(high << 4 | low);
    }
    return 0;
}

int seal_key_read(const char *path, struct seal_key *key, struct error *err)
{
    char text[TEXT_SIZE + 2]; /* one more than a line may have: too long shows */
    seal_key_wipe(key);
    /* Not blocking: should the name be a pipe, opening it must not wait for a writer. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return error_set(err, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO,
                         "cannot read the key file %s: %s%s", path, strerror(errno),
                         errno == EACCES ? ": chown it to the user of mcastd, mode 0600" : "");
    int code = check_guarded(file, path, err);
    ssize_t length = code == 0 ? read(file, text, sizeof text) : 0;
    if (length < 0)
        code = error_set(err, ERROR_IO, "cannot read the key file %s: %s", path, strerror(errno));
    else if (code == 0 && ((size_t)length == sizeof text || parse(text, (size_t)length, key) < 0))
        code =
            error_set(err, ERROR_CORRUPT,
                      "the key file %s holds no key (%d hexadecimal digits on one line): restore "
                      "it from its backup",
                      path, 2 * SEAL_KEY_SIZE);
    explicit_bzero(text, sizeof text);
    close(file);
    if (code < 0)
        seal_key_wipe(key); /* half of it may have been read */
    return code;
}
