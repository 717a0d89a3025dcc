#include "mock-fm/objects/nic.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

bool nic_parse(const char *text, uint32_t *nic)
{
    static const unsigned long most[3] = {0xF, 0xFF, 0xFF};
    uint32_t address = 0;

    for (int group = 0; group < 3; group++) {
        char *end;
        unsigned long value;

        /* strtoul would also take blanks, signs and "0x". */
        if (!isxdigit((unsigned char)text[0]) || text[1] == 'x' || text[1] == 'X')
            return false;
        value = strtoul(text, &end, 16);
        if (end - text > 2 || value > most[group] || *end != (group < 2 ? ':' : '\0'))
            return false;
        address = (address << 8) | (uint32_t)value;
        text = end + 1;
    }
    *nic = address;
    return true;
}

void nic_format_short(uint32_t nic, char text[NIC_TEXT_SIZE])
{
    snprintf(text, NIC_TEXT_SIZE, "%X:%02X:%02X", (nic >> 16) & 0xF, (nic >> 8) & 0xFF, nic & 0xFF);
}

void nic_format_long(uint32_t nic, char text[NIC_TEXT_SIZE])
{
    snprintf(text, NIC_TEXT_SIZE, "00:00:00:%02X:%02X:%02X", (nic >> 16) & 0xF, (nic >> 8) & 0xFF,
             nic & 0xFF);
}
