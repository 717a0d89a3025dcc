/* SPDX-License-Identifier: Apache-2.0 */
#include "node/commands/command.h"
#include "node/say.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char usage[] =
    "Usage: mcast-node share --user UID --file FILE\n"
    "Lets only one user read a file of root's, by an access control list: the variables of a\n"
    "job's tasks. If the file were the user's own, the user could write to it, and fill the\n"
    "memory of /run.\n\n"
    "  --user UID       who is to read it\n"
    "  --file FILE      a regular file that belongs to the user who runs this\n\n"
    "Example:\n"
    "  mcast-node share --user 1000 --file /run/mcast-slurm/n1.17\n";

struct wanted {
    const char *file;
    uint32_t user;
    bool user_given;
};

enum { ENTRIES = 5, NO_ID = -1 };

struct access_list {
    struct posix_acl_xattr_header header;
    struct posix_acl_xattr_entry entries[ENTRIES];
};

static int read_share_option(int option, const char *value, void *data)
{
    struct wanted *wanted = data;
    char *end;
    if (option == 'f') {
        wanted->file = value;
        return COMMAND_GO_ON;
    }
    errno = 0;
    unsigned long long user = strtoull(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end || errno || user >= UINT32_MAX)
        return command_misused(&command_share, "--user %.40s: a user id such as 1000", value);
    wanted->user = (uint32_t)user;
    wanted->user_given = true;
    return COMMAND_GO_ON;
}

static void write_list(struct access_list *list, uint32_t user)
{
    const struct {
        uint16_t tag, permission;
        uint32_t id;
    } rows[ENTRIES] = {
        {ACL_USER_OBJ, ACL_READ | ACL_WRITE, (uint32_t)NO_ID},
        {ACL_USER, ACL_READ, user},
        {ACL_GROUP_OBJ, 0, (uint32_t)NO_ID},
        {ACL_MASK, ACL_READ, (uint32_t)NO_ID},
        {ACL_OTHER, 0, (uint32_t)NO_ID},
    };
    list->header.a_version = htole32(POSIX_ACL_XATTR_VERSION);
    for (int i = 0; i < ENTRIES; i++) {
        list->entries[i].e_tag = htole16(rows[i].tag);
        list->entries[i].e_perm = htole16(rows[i].permission);
        list->entries[i].e_id = htole32(rows[i].id);
    }
}

static int share_open(int file, const struct wanted *wanted)
{
    struct access_list list;
    struct stat status;
    if (fstat(file, &status) < 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid()) {
        say("%s is not a regular file of uid %u; nothing is shared", wanted->file,
            (unsigned)geteuid());
        return COMMAND_REFUSED;
    }
    write_list(&list, wanted->user);
    if (fchmod(file, S_IRUSR | S_IWUSR) == 0 &&
        (wanted->user == status.st_uid ||
         fsetxattr(file, "system.posix_acl_access", &list, sizeof list, 0) == 0))
        return COMMAND_DONE;
    say("%s cannot be shared with uid %u: %s%s", wanted->file, wanted->user, strerror(errno),
        errno == ENOTSUP ? "; its file system has no access control lists: use another folder"
                         : "");
    return COMMAND_REFUSED;
}

static int share(const struct wanted *wanted)
{
    if (!wanted->file || !wanted->user_given)
        return command_misused(&command_share, "--file and --user are required");
    int file = open(wanted->file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        say("%s cannot be shared: %s", wanted->file, strerror(errno));
        return COMMAND_REFUSED;
    }
    int rc = share_open(file, wanted);
    close(file);
    return rc;
}

static int run_share(const struct command *command, struct node *node, int argc, char **argv)
{
    static const struct option options[] = {
        {"user", required_argument, NULL, 'u'}, {"file", required_argument, NULL, 'f'}, {0}};
    struct wanted wanted = {0};
    int rc = command_options(command, node, argc, argv, options, read_share_option, &wanted);
    return command_end(node, rc == COMMAND_GO_ON ? share(&wanted) : rc);
}

const struct command command_share = {"share", "let one user read a file of root's", usage,
                                      run_share};
