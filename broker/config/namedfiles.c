#include "broker/config/namedfiles.h"

#include <assert.h>
#include <string.h>
#include <sys/stat.h>

static void look(struct namedfiles *out, const char *section, const char *key, const char *value,
                 const char *name)
{
    char path[CONFIG_PATH_SIZE + 32];
    struct stat found;
    assert(out->count < NAMEDFILES_MAX);
    struct namedfile *file = &out->files[out->count++];
    *file = (struct namedfile){.section = section, .key = key, .name = name};
    (void)snprintf(path, sizeof path, "%s%s%s", value, name != NULL ? "/" : "",
                   name != NULL ? name : "");
    if (value[0] == '\0' || stat(path, &found) < 0)
        return;
    file->there = true;
    file->device = found.st_dev;
    file->inode = found.st_ino;
    file->size = found.st_size;
    file->changed = found.st_ctim;
}

void namedfiles_look(struct namedfiles *out, const struct config *config)
{
    out->count = 0;
    look(out, "broker", "tls_cert", config->tls_cert, NULL);
    look(out, "broker", "tls_key", config->tls_key, NULL);
    look(out, "broker", "tls_client_ca", config->tls_client_ca, NULL);
    look(out, "broker", "root_key_file", config->root_key_file, NULL);
    /* A hashed folder of authorities changes when one is added or taken away. */
    look(out, "fm", "ca", config->fm_ca, NULL);
    look(out, "fm", "mtls_cert", config->fm_mtls_cert, NULL);
    look(out, "fm", "mtls_key", config->fm_mtls_key, NULL);
    if (config->fm_auth == CONFIG_AUTH_BASIC)
        look(out, "fm", "authdir", config->fm_authdir, "passwd");
    if (config->fm_auth == CONFIG_AUTH_OAUTH) {
        look(out, "fm", "authdir", config->fm_authdir, "endpoint");
        look(out, "fm", "authdir", config->fm_authdir, "client-id");
        look(out, "fm", "authdir", config->fm_authdir, "client-secret");
    }
}

static bool same_place(const struct namedfile *a, const struct namedfile *b)
{
    return strcmp(a->section, b->section) == 0 && strcmp(a->key, b->key) == 0 &&
           strcmp(a->name != NULL ? a->name : "", b->name != NULL ? b->name : "") == 0;
}

static bool same_file(const struct namedfile *a, const struct namedfile *b)
{
    return a->there == b->there && a->device == b->device && a->inode == b->inode &&
           a->size == b->size && a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

const struct namedfile *namedfiles_next_changed(const struct namedfiles *before,
                                                const struct namedfiles *after, size_t *at)
{
    while (*at < after->count) {
        const struct namedfile *file = &after->files[(*at)++];
        for (size_t i = 0; i < before->count; i++) {
            if (same_place(&before->files[i], file) && !same_file(&before->files[i], file))
                return file;
        }
    }
    return NULL;
}
