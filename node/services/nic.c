/* SPDX-License-Identifier: Apache-2.0 */
#include "node/services/nic.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- libcxi ---- */

static struct cxi_calls libcxi;

/* POSIX lets an object pointer hold a function's address; C wants it copied. */
static bool load_symbol(void *handle, const char *name, void *function, size_t size)
{
    void *symbol = dlsym(handle, name);
    if (symbol)
        memcpy(function, &symbol, size);
    return symbol;
}

/* The name of a function that is missing, or NULL. */
static const char *find_all(void *handle)
{
#define NEED_(name, returns, parameters, version)                                                  \
    if (!load_symbol(handle, "cxil_" #name, &libcxi.name, sizeof libcxi.name))                     \
        return "cxil_" #name;
    CXI_CALLS_NEEDED(NEED_)
#undef NEED_
    return NULL;
}

int library_open(const struct cxi_calls **out, const char *name, struct error *err)
{
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        /* Its message does not distinguish a library that is missing from one that is broken. */
        const char *words = dlerror();
        bool broken = (strchr(name, '/') && access(name, F_OK) == 0) ||
                      (words && !strstr(words, "No such file"));
        if (broken)
            return error_set(err, ERROR_INVALID, "libcxi cannot be used: %.200s", words);
        return error_set(err, ERROR_NOT_FOUND,
                         "%.100s is not installed; it comes with the Slingshot Host Software "
                         "(node.conf: libcxi)",
                         name);
    }
    const char *missing = find_all(handle);
    if (missing)
        return error_set(err, ERROR_INVALID, "%.100s has no %s; is it HPE's libcxi?", name,
                         missing);
    *out = &libcxi;
    return 0;
}

/* ---- NICs ---- */

static const char name_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                   "0123456789_.-";

static int by_device(const void *left, const void *right)
{
    const struct nic *a = left, *b = right;
    return (a->info.dev_id > b->info.dev_id) - (a->info.dev_id < b->info.dev_id);
}

int nic_refresh(const struct nics *nics, struct nic *nic)
{
    nics->calls->free_svc_list(nic->services);
    nic->services = NULL;
    nic->failure = nic->device ? nics->calls->get_svc_list(nic->device, &nic->services) : -ENODEV;
    if (nic->failure < 0)
        nic->services = NULL;
    return nic->failure;
}

static bool is_listed(const struct cxi_calls *calls, unsigned int dev_id)
{
    struct cxil_device_list *list = NULL;
    bool listed = false;
    if (calls->get_device_list(&list) < 0)
        return true; /* not known to be gone */
    for (unsigned int i = 0; i < list->count; i++)
        listed |= list->info[i].dev_id == dev_id;
    calls->free_device_list(list);
    return listed;
}

/* False: it went away since it was listed. */
static bool open_one(const struct nics *nics, struct nic *nic)
{
    nic->failure = nics->calls->open_device(nic->info.dev_id, &nic->device);
    if (nic->failure < 0)
        nic->device = NULL;
    else
        (void)nic_refresh(nics, nic);
    return nic->failure >= 0 || is_listed(nics->calls, nic->info.dev_id);
}

static int open_devices(struct nics *nics, const struct cxil_device_list *list, struct error *err)
{
    if (list->count > NIC_MAX)
        return error_set(err, ERROR_INVALID,
                         "the node has %u NICs, and more than %d are not known of", list->count,
                         NIC_MAX);
    for (unsigned int i = 0; i < list->count; i++) {
        struct nic *nic = &nics->at[nics->count];
        *nic = (struct nic){.info = list->info[i]};
        snprintf(nic->name, sizeof nic->name, "%.*s", (int)sizeof list->info[i].device_name,
                 list->info[i].device_name);
        if (nic->name[0] == '\0' || strspn(nic->name, name_letters) != strlen(nic->name))
            return error_set(err, ERROR_INVALID,
                             "libcxi names NIC %u in a way that no variable can carry",
                             nic->info.dev_id);
        if (open_one(nics, nic))
            nics->count++;
        else
            memcpy(nics->gone, nic->name, sizeof nics->gone);
    }
    return 0;
}

int nics_open(struct nics *nics, const struct cxi_calls *calls, struct error *err)
{
    struct cxil_device_list *list = NULL;
    *nics = (struct nics){.calls = calls};
    int failure = calls->get_device_list(&list);
    if (failure < 0)
        return error_set(err, ERROR_IO,
                         "the node's NICs cannot be listed: %s; is the driver loaded (lsmod | grep "
                         "cxi_ss1)?",
                         strerror(-failure));
    int rc = open_devices(nics, list, err);
    calls->free_device_list(list);
    if (rc < 0)
        nics_close(nics);
    else
        qsort(nics->at, nics->count, sizeof nics->at[0], by_device);
    return rc;
}

void nics_close(struct nics *nics)
{
    for (unsigned int i = 0; i < nics->count; i++) {
        nics->calls->free_svc_list(nics->at[i].services);
        nics->calls->close_device(nics->at[i].device);
    }
    nics->count = 0;
}

struct nic *nics_find(struct nics *nics, const char *name)
{
    for (unsigned int i = 0; i < nics->count; i++) {
        if (strcmp(nics->at[i].name, name) == 0)
            return &nics->at[i];
    }
    return NULL;
}

const struct cxi_svc_desc *nic_service(const struct nic *nic, nic_service_fn *choose, void *arg)
{
    for (unsigned int i = 0; nic->services && i < nic->services->count; i++) {
        if (choose(arg, nic, &nic->services->descs[i]))
            return &nic->services->descs[i];
    }
    return NULL;
}

const struct nic *nics_failed(const struct nics *nics)
{
    for (unsigned int i = 0; i < nics->count; i++) {
        if (nics->at[i].failure < 0)
            return &nics->at[i];
    }
    return NULL;
}
