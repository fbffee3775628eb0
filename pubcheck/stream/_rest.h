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

/* In `_usual.c`. A form is a tuple of one or two rows: those of a message, in its order. A row is a tuple of its columns
   and of the object that `count_usual` appends to its last argument when it appends to one of the row's lists that is
   empty. A column is a tuple: the letters of right values (of `t`, `n` and `u`); an automaton of right texts, or None;
   a list that takes the texts that it does not accept, or None; a list that takes each value, or None. Without an
   automaton and the first list, every text is right. If an old key comes before a new row, they have to differ. */
PyObject *read_form(PyObject *module, PyObject *source);

/* The arguments are a list of frames and the place of the first one; a dict of forms by the first six bytes of changes; a
   transaction ID, the position of the change before, and the position at which the transaction ends; a list. The result is
   the number of usual changes, and the position of the last. */
PyObject *count_usual(PyObject *module, PyObject *arguments);
