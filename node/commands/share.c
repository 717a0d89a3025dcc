/* SPDX-License-Identifier: Apache-2.0 */
#include "node/commands/command.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Lets the user read the file besides its owner. 0, or -1 with errno. */
static int set_access_list(int file, uint32_t user)
{
    const struct {
        uint16_t tag, permission;
        uint32_t id;
    } rows[] = {
        {ACL_USER_OBJ, ACL_READ | ACL_WRITE, UINT32_MAX},
        {ACL_USER, ACL_READ, user},
        {ACL_GROUP_OBJ, 0, UINT32_MAX},
        {ACL_MASK, ACL_READ, UINT32_MAX},
        {ACL_OTHER, 0, UINT32_MAX},
    };
    enum { ROWS = sizeof rows / sizeof rows[0] };
    struct {
        struct posix_acl_xattr_header header;
        struct posix_acl_xattr_entry entries[ROWS];
    } list = {.header.a_version = htole32(POSIX_ACL_XATTR_VERSION)};
    for (int i = 0; i < ROWS; i++)
        list.entries[i] = (struct posix_acl_xattr_entry){
            htole16(rows[i].tag), htole16(rows[i].permission), htole32(rows[i].id)};
    return fsetxattr(file, "system.posix_acl_access", &list, sizeof list, 0);
}

static int share_open_file(int file, const struct command_options *options)
{
    struct stat status;
    if (fstat(file, &status) < 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid()) {
        say("%s is not a regular file of uid %u; nothing is shared", options->file,
            (unsigned)geteuid());
        return COMMAND_REFUSED;
    }
    if (fchmod(file, S_IRUSR | S_IWUSR) == 0 &&
        (options->user == status.st_uid || set_access_list(file, options->user) == 0))
        return COMMAND_DONE;
    say("%s cannot be shared with uid %u: %s%s", options->file, options->user, strerror(errno),
        errno == ENOTSUP ? "; its file system has no access control lists: use another folder"
                         : "");
    return COMMAND_REFUSED;
}

static int run_share(struct node *node, const struct command_options *options)
{
    (void)node;
    int file = open(options->file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        say("%s cannot be shared: %s", options->file, strerror(errno));
        return COMMAND_REFUSED;
    }
    int rc = share_open_file(file, options);
    close(file);
    return rc;
}

const struct command command_share = {"share", "let one user read a file of root's", "u!F!",
                                      SPOOL_IGNORED, run_share};
