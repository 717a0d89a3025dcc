/* SPDX-License-Identifier: Apache-2.0 */
/* The library as a file, and the blocks of memory that it gives. */

#include "tests/unit/mockcxi/machine.h"

#include <elf.h>
#include <link.h>

/* The library's dynamic section, as the loader sees it. */
static const struct link_map *loaded(void)
{
    void *library = dlopen(MOCKCXI_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    struct link_map *map;
    assert_int_equal(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
    return map;
}

static Elf64_Xword dynamic(const struct link_map *map, Elf64_Sxword tag)
{
    for (const Elf64_Dyn *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == tag)
            return entry->d_un.d_val;
    fail_msg("there is no dynamic entry %jd", (intmax_t)tag);
    return 0;
}

#define TEST(name) UNIT_WITH(name, machine_start, machine_stop)

TEST(library__soname)
{
    const struct link_map *map = loaded();
    const char *strings = (const char *)dynamic(map, DT_STRTAB);
    assert_string_equal(strings + dynamic(map, DT_SONAME), "libcxi.so.1");
}

static bool is_known(const char *name)
{
#define KNOWN(call, returns, parameters, version)                                                  \
    if (!strcmp(name, "cxil_" #call))                                                              \
        return true;
    CXI_CALLS_NEEDED(KNOWN)
    CXI_CALLS_OTHER(KNOWN)
#undef KNOWN
    return false;
}

/* Of the symbols that the library offers, the hash table knows the first and, by a bit at the end
 * of its last chain, the last: one more is returned. */
static uint32_t end_of_symbols(const uint32_t *hash, uint32_t *first)
{
    const uint32_t *buckets = (const uint32_t *)((const Elf64_Addr *)(hash + 4) + hash[2]);
    const uint32_t *chains = buckets + hash[0];
    uint32_t last = *first = hash[1];
    for (uint32_t i = 0; i < hash[0]; i++)
        last = buckets[i] > last ? buckets[i] : last;
    while (!(chains[last - *first] & 1))
        last++;
    return last + 1;
}

/* A foreign program sees libcxi's names and no other of ours. */
TEST(library__exports_nothing_else)
{
    const struct link_map *map = loaded();
    const char *strings = (const char *)dynamic(map, DT_STRTAB);
    const Elf64_Sym *symbols = (const Elf64_Sym *)dynamic(map, DT_SYMTAB);
    uint32_t first;
    uint32_t count = end_of_symbols((const uint32_t *)dynamic(map, DT_GNU_HASH), &first);
    unsigned int functions = 0;
    unsigned int nodes = 0;
    for (uint32_t i = first; i < count; i++) {
        const char *name = strings + symbols[i].st_name;
        if (symbols[i].st_shndx == SHN_ABS) {
            assert_memory_equal(name, "LIBCXI_1.", 9);
            nodes++;
        } else if (is_known(name)) {
            functions++;
        } else {
            fail_msg("%s is visible", name);
        }
    }
    assert_int_equal(functions, 25);
    assert_int_equal(nodes, 12);
}

/* Each function is in its node (machine_load looked there), and in no other. */
TEST(library__version_nodes)
{
    void *library = dlopen(MOCKCXI_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    assert_non_null(dlvsym(library, "cxil_set_svc_lpr", "LIBCXI_1.8"));
    assert_null(dlvsym(library, "cxil_set_svc_lpr", "LIBCXI_1.0"));
    assert_null(dlvsym(library, "cxil_open_device", "LIBCXI_1.8"));
    assert_null(dlsym(library, "service_alloc"));
}

/* Slurm frees with free() what cxil_free_… is for. */
TEST(lists__are_plain_blocks)
{
    struct machine *machine = *state;
    struct cxil_device_list *devices = NULL;
    assert_int_equal(machine->get_device_list(&devices), 0);
    assert_int_equal(devices->count, 4);
    struct cxil_dev *dev = machine_open(machine, devices->info[3].dev_id);
    free(devices);
    struct cxil_svc_list *services = NULL;
    assert_int_equal(machine->get_svc_list(dev, &services), 0);
    assert_int_equal(services->count, 1);
    free(services);
    free(dev);
    machine->free_device_list(NULL);
    machine->close_device(NULL);
    machine->free_svc_list(NULL);
    machine->free_svc_rsrc_list(NULL);
}

TEST(devices__are_described)
{
    struct machine *machine = *state;
    machine_configure(machine, "[mock]\nnics = 3\n[nic]\nles = 8192\nlink = down\n"
                               "[cxi2]\nnid = 0x1f3\nlink = up\nles = 100\n[cxi1]\npresent=no\n");
    struct cxil_device_list *devices = NULL;
    assert_int_equal(machine->get_device_list(&devices), 0);
    assert_int_equal(devices->count, 2);
    assert_string_equal(devices->info[0].device_name, "cxi0");
    assert_int_equal(devices->info[0].num_les, 8192);
    assert_int_equal(devices->info[0].link_state, 0);
    assert_string_equal(devices->info[1].device_name, "cxi2");
    assert_int_equal(devices->info[1].dev_id, 2);
    assert_int_equal(devices->info[1].nid, 0x1f3);
    assert_int_equal(devices->info[1].num_les, 100);
    assert_int_equal(devices->info[1].link_state, 1);
    /* All of a Cassini 1 that is not said otherwise. */
    assert_int_equal(devices->info[1].num_ptes, 2048);
    assert_int_equal(devices->info[1].num_txqs, 1024);
    assert_int_equal(devices->info[1].num_tgqs, 512);
    assert_int_equal(devices->info[1].num_eqs, 2047);
    assert_int_equal(devices->info[1].num_cts, 2047);
    assert_int_equal(devices->info[1].num_tles, 2048);
    assert_int_equal(devices->info[1].num_acs, 1022);
    machine->free_device_list(devices);
    struct cxil_dev *dev = NULL;
    assert_int_equal(machine->open_device(1, &dev), -ENOENT);
    assert_int_equal(machine->open_device(3, &dev), -ENOENT);
    assert_null(dev);
}

/* Without a directory, or a file in it, the machine has no NIC; nothing is written. */
TEST(machine__without_nics)
{
    struct machine *machine = *state;
    struct cxil_device_list *devices = NULL;
    struct cxil_dev *dev = NULL;
    unlink(machine_path(machine, "cxi.conf"));
    for (int round = 0; round < 2; round++) {
        assert_int_equal(machine->get_device_list(&devices), 0);
        assert_int_equal(devices->count, 0);
        machine->free_device_list(devices);
        assert_int_equal(machine->open_device(0, &dev), -ENOENT);
        setenv("MOCK_CXI", machine_path(machine, "nowhere"), 1);
    }
    assert_int_equal(access(machine_path(machine, "log"), F_OK), -1);
    assert_int_equal(access(machine_path(machine, "state"), F_OK), -1);
}

TEST(arguments__that_libcxi_refuses)
{
    struct machine *machine = *state;
    struct cxil_dev *dev = machine_open(machine, 0);
    struct cxi_svc_desc desc = machine_service(100);
    assert_int_equal(machine->get_device_list(NULL), -EINVAL);
    assert_int_equal(machine->open_device(0, NULL), -EINVAL);
    assert_int_equal(machine->get_svc_list(NULL, NULL), -EINVAL);
    assert_int_equal(machine->get_svc_list(dev, NULL), -EINVAL);
    assert_int_equal(machine->alloc_svc(NULL, &desc, NULL), -EINVAL);
    assert_int_equal(machine->alloc_svc(dev, NULL, NULL), -EINVAL);
    assert_int_equal(machine->destroy_svc(dev, 0), -EINVAL);
    assert_int_equal(machine->destroy_svc(NULL, 2), -EINVAL);
    machine->close_device(dev);
}

UNIT_RUN(NULL, NULL)
