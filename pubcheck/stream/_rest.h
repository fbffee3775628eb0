/* What the files of the module in C share: how bytes are read, and never beyond their end. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

/* The bytes of a message that have not been read. `is_short` says that more were asked for. */
typedef struct {
    const unsigned char *next, *end;
    int is_short;
} Rest;

static inline Py_ssize_t
left(const Rest *rest)
{
    return rest->end - rest->next;
}

static inline uint64_t
number(Rest *rest, int size)
{
    uint64_t result = 0;
    if (left(rest) < size) {
        rest->is_short = 1;
        return 0;
    }
    while (size-- > 0) {
        result = result << 8 | *rest->next++;
    }
    return result;
}

/* In `_changes.c`. The arguments are buffers and a flag: the offsets (of 64 bits) and the data of an Arrow column of
   messages; the places (of 64 bits) of the messages to cut; the names of the relation's columns, where each of them ends
   (of 32 bits), and a byte for each that says whether it is of the key; whether transaction IDs precede OIDs. */
PyObject *cut_changes(PyObject *module, PyObject *arguments);
