/* Reads the frequent messages several times as fast as `readers.py`: Begin, Commit, Relation, Insert, Update, Delete.

   `read` and `read_in_block` return the message that some bytes are, and None for other ones: malformed messages, the
   other kinds, and what is not of the class bytes. `whole.py` gives those to `readers.py`, so that nothing here knows an
   error.

   A function that returns NULL without an exception has found bytes that are not a message. */

#include "_rest.h"

#ifndef SOURCE_CHECKSUM
#error "hatch_build.py compiles this file, and gives it the checksum that whole.py compares"
#endif

/* What `messages.py` defines, in the state of the module. */
enum { BEGIN, COMMIT, RELATION, COLUMN, INSERT, UPDATE, DELETE, UNCHANGED, DEFINITIONS };
static const char *const NAMES[DEFINITIONS] = {
    "Begin", "Commit", "Relation", "Column", "Insert", "Update", "Delete", "UNCHANGED_TOAST"};
typedef PyObject *const *Defined;

typedef PyObject *Item(Defined, Rest *);
typedef PyObject *Reader(Defined, Rest *, PyObject *xid);

/* The text of a number of bytes, of which there are as many. */
static PyObject *
text(Rest *rest, Py_ssize_t size)
{
    const char *start = (const char *)rest->next;
    rest->next += size;
    return PyUnicode_DecodeUTF8(start, size, "surrogateescape");
}

/* A text that ends in a zero byte. */
static PyObject *
name(Rest *rest)
{
    const unsigned char *zero = left(rest) > 0 ? memchr(rest->next, 0, left(rest)) : NULL;
    if (zero == NULL) {
        return NULL;
    }
    PyObject *result = text(rest, zero - rest->next);
    rest->next++;
    return result;
}

static PyObject *
value(Defined defined, Rest *rest)
{
    uint64_t kind = number(rest, 1);
    if (kind == 'n') {
        return Py_NewRef(Py_None);
    }
    if (kind == 'u') {
        return Py_NewRef(defined[UNCHANGED]);
    }
    if (kind != 't' && kind != 'b') {
        return NULL;
    }
    uint64_t size = number(rest, 4);
    if (rest->is_short || size > (uint64_t)left(rest)) {
        return NULL;
    }
    if (kind == 't') {
        return text(rest, (Py_ssize_t)size);
    }
    rest->next += size;
    return PyBytes_FromStringAndSize((const char *)rest->next - size, (Py_ssize_t)size);
}

/* A tuple of a number of items that one function reads. None is longer than the bytes explain, which are `size` for an
   item at least. */
static PyObject *
tuple(Defined defined, Rest *rest, Item *item, Py_ssize_t size)
{
    Py_ssize_t count = (Py_ssize_t)number(rest, 2);
    if (rest->is_short || count > left(rest) / size) {
        return NULL;
    }
    PyObject *result = PyTuple_New(count);
    for (Py_ssize_t place = 0; result != NULL && place < count; place++) {
        PyObject *next = item(defined, rest);
        if (next == NULL) {
            Py_CLEAR(result);
        } else {
            PyTuple_SET_ITEM(result, place, next);
        }
    }
    return result;
}

static PyObject *
row(Defined defined, Rest *rest)
{
    return tuple(defined, rest, value, 1);
}

/* An object of a class with these fields, to which the references are taken over. NULL if one of them is NULL. */
static PyObject *
create(PyObject *class, PyObject **fields, size_t count)
{
    PyObject *result = NULL;
    size_t known = 0;
    while (known < count && fields[known] != NULL) {
        known++;
    }
    if (known == count) {
        result = PyObject_Vectorcall(class, fields, count, NULL);
    }
    for (size_t field = 0; field < count; field++) {
        Py_XDECREF(fields[field]);
    }
    return result;
}

#define CREATE(class, ...) \
    create(class, (PyObject *[]){__VA_ARGS__}, sizeof((PyObject *[]){__VA_ARGS__}) / sizeof(PyObject *))
#define UNSIGNED(number) PyLong_FromUnsignedLongLong(number)
#define SIGNED(number) PyLong_FromLongLong(number)

static PyObject *
begin(Defined defined, Rest *rest)
{
    uint64_t final_lsn = number(rest, 8), commit_time = number(rest, 8), xid = number(rest, 4);
    if (rest->is_short || left(rest)) {
        return NULL;
    }
    return CREATE(defined[BEGIN], UNSIGNED(final_lsn), SIGNED((int64_t)commit_time), UNSIGNED(xid));
}

static PyObject *
commit(Defined defined, Rest *rest)
{
    uint64_t flags = number(rest, 1), lsn = number(rest, 8), end_lsn = number(rest, 8), time = number(rest, 8);
    if (flags || rest->is_short || left(rest)) {
        return NULL;
    }
    return CREATE(defined[COMMIT], UNSIGNED(lsn), UNSIGNED(end_lsn), SIGNED((int64_t)time));
}

static PyObject *
column(Defined defined, Rest *rest)
{
    uint64_t key = number(rest, 1);
    PyObject *column_name = key > 1 ? NULL : name(rest);
    uint64_t type_oid = number(rest, 4), type_modifier = number(rest, 4);
    if (column_name == NULL || rest->is_short) {
        Py_XDECREF(column_name);
        return NULL;
    }
    return CREATE(
        defined[COLUMN], column_name, UNSIGNED(type_oid), SIGNED((int32_t)type_modifier), PyBool_FromLong((long)key));
}

static PyObject *
relation(Defined defined, Rest *rest, PyObject *xid)
{
    uint64_t oid = number(rest, 4), identity = 0;
    PyObject *namespace = name(rest), *relation_name = namespace ? name(rest) : NULL, *columns = NULL;
    if (relation_name != NULL) {
        identity = number(rest, 1);
        if (identity == 'd' || identity == 'n' || identity == 'f' || identity == 'i') {
            columns = tuple(defined, rest, column, 10);
        }
    }
    if (columns == NULL || left(rest)) {
        Py_XDECREF(namespace);
        Py_XDECREF(relation_name);
        Py_XDECREF(columns);
        return NULL;
    }
    return CREATE(defined[RELATION], UNSIGNED(oid), namespace, relation_name, PyUnicode_FromOrdinal((int)identity),
        columns, Py_NewRef(xid));
}

static PyObject *
insert(Defined defined, Rest *rest, PyObject *xid)
{
    uint64_t oid = number(rest, 4);
    PyObject *new_row = number(rest, 1) == 'N' ? row(defined, rest) : NULL;
    if (new_row == NULL || left(rest)) {
        Py_XDECREF(new_row);
        return NULL;
    }
    return CREATE(defined[INSERT], UNSIGNED(oid), new_row, Py_NewRef(xid));
}

static PyObject *
update(Defined defined, Rest *rest, PyObject *xid)
{
    uint64_t oid = number(rest, 4), kind = number(rest, 1);
    PyObject *old_row = NULL, *new_row = NULL;
    if (kind == 'K' || kind == 'O') {
        old_row = row(defined, rest);
        if (old_row != NULL && number(rest, 1) == 'N') {
            new_row = row(defined, rest);
        }
    } else if (kind == 'N') {
        old_row = Py_NewRef(Py_None);
        new_row = row(defined, rest);
    }
    if (new_row == NULL || left(rest)) {
        Py_XDECREF(old_row);
        Py_XDECREF(new_row);
        return NULL;
    }
    PyObject *old_kind = kind == 'N' ? Py_NewRef(Py_None) : PyUnicode_FromOrdinal((int)kind);
    return CREATE(defined[UPDATE], UNSIGNED(oid), new_row, old_row, old_kind, Py_NewRef(xid));
}

static PyObject *
delete(Defined defined, Rest *rest, PyObject *xid)
{
    uint64_t oid = number(rest, 4), kind = number(rest, 1);
    PyObject *old_row = kind == 'K' || kind == 'O' ? row(defined, rest) : NULL;
    if (old_row == NULL || left(rest)) {
        Py_XDECREF(old_row);
        return NULL;
    }
    return CREATE(defined[DELETE], UNSIGNED(oid), old_row, PyUnicode_FromOrdinal((int)kind), Py_NewRef(xid));
}

static PyObject *
message(Defined defined, Rest *rest, int in_block)
{
    Reader *read;
    switch (number(rest, 1)) {
    case 'I': read = insert; break;
    case 'U': read = update; break;
    case 'D': read = delete; break;
    case 'R': read = relation; break;
    case 'B': return begin(defined, rest);
    case 'C': return commit(defined, rest);
    default: return NULL;
    }
    PyObject *xid = in_block ? UNSIGNED(number(rest, 4)) : Py_NewRef(Py_None);
    PyObject *result = xid == NULL ? NULL : read(defined, rest, xid);
    Py_XDECREF(xid);
    return result;
}

static PyObject *
message_or_none(PyObject *module, PyObject *data, int in_block)
{
    if (!PyBytes_CheckExact(data)) {
        Py_RETURN_NONE;
    }
    const unsigned char *start = (const unsigned char *)PyBytes_AS_STRING(data);
    Rest rest = {start, start + PyBytes_GET_SIZE(data), 0};
    PyObject *result = message(PyModule_GetState(module), &rest, in_block);
    if (result == NULL && !PyErr_Occurred()) {
        Py_RETURN_NONE;
    }
    return result;
}

static PyObject *
read_outside(PyObject *module, PyObject *data)
{
    return message_or_none(module, data, 0);
}

static PyObject *
read_in_block(PyObject *module, PyObject *data)
{
    return message_or_none(module, data, 1);
}

static PyMethodDef functions[] = {
    {"read", read_outside, METH_O, PyDoc_STR("Return the message outside streamed blocks that some bytes are, or None.")},
    {"read_in_block", read_in_block, METH_O, PyDoc_STR("Return the message inside a streamed block, or None.")},
    {"cut_changes", cut_changes, METH_VARARGS, PyDoc_STR("Return changes of one relation as buffers of Arrow columns.")},
    {"form", read_form, METH_O, PyDoc_STR("Return a form of usual changes, as `count_usual` takes it.")},
    {"count_usual", count_usual, METH_VARARGS, PyDoc_STR("Return how many frames are usual changes, and the last position.")},
    {NULL, NULL, 0, NULL},
};

static int
fill(PyObject *module)
{
    PyObject **defined = PyModule_GetState(module), *messages = PyImport_ImportModule("pubcheck.stream.messages");
    if (messages == NULL) {
        return -1;
    }
    for (int place = 0; place < DEFINITIONS; place++) {
        defined[place] = PyObject_GetAttrString(messages, NAMES[place]);
        if (defined[place] == NULL) {
            Py_DECREF(messages);
            return -1;
        }
    }
    Py_DECREF(messages);
    return PyModule_AddIntConstant(module, "SOURCE_CHECKSUM", SOURCE_CHECKSUM);
}

static int
visit(PyObject *module, visitproc visit, void *arg)
{
    PyObject **defined = PyModule_GetState(module);
    for (int place = 0; place < DEFINITIONS; place++) {
        Py_VISIT(defined[place]);
    }
    return 0;
}

static int
clear(PyObject *module)
{
    PyObject **defined = PyModule_GetState(module);
    for (int place = 0; place < DEFINITIONS; place++) {
        Py_CLEAR(defined[place]);
    }
    return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, fill},
    {0, NULL},
};

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "pubcheck.stream._readers",
    .m_doc = PyDoc_STR("Reads the frequent messages, cuts columns of changes, and counts usual changes."),
    .m_size = DEFINITIONS * sizeof(PyObject *),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = visit,
    .m_clear = clear,
};

PyMODINIT_FUNC
PyInit__readers(void)
{
    return PyModuleDef_Init(&definition);
}
