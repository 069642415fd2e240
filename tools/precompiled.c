/* The module dask_graphflow.kernels._precompiled: it calls the kernels that precompile.py compiled into this
 * library, and has the functions of Numba's runtime that they call.
 *
 * An entry is a function int32 entry(const int64 *words, int64 *out). The words are the arguments one after
 * another: an array is its address and its shape, a tuple its items, and a number 8 bytes. None has no word.
 * The kinds of the arguments are text, which names the entry: the letter of each dtype in NumPy, for an array
 * followed by its dimensions and by w if it can be written to or r otherwise, n for None, and a tuple in
 * parentheses. An entry returns 0 and its results in out, or 1 and the address and length of a pickled
 * exception. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 512, WORDS = 128, ARRAYS = 48, RESULTS = 8 };

typedef struct {
    char kinds[KINDS];
    int64_t words[WORDS];
    Py_buffer arrays[ARRAYS];
    int letters, count, held;
} arguments;

static int letter(arguments *to, char kind)
{
    if (to->letters == KINDS)
        return 0;
    to->kinds[to->letters++] = kind;
    return 1;
}

static int word(arguments *to, const void *from)
{
    if (to->count == WORDS)
        return 0;
    memcpy(&to->words[to->count++], from, 8);
    return 1;
}

static int number(arguments *to, char kind, const void *at)
{
    int64_t whole;
    double real;
    switch (kind) {
    case 'd': return letter(to, 'd') && word(to, at);
    case 'l': case 'q': return letter(to, 'q') && word(to, at);
    case 'L': case 'Q': return letter(to, 'Q') && word(to, at);
    case 'i': whole = *(const int32_t *)at; break;
    case 'I': whole = *(const uint32_t *)at; break;
    case 'B': whole = *(const uint8_t *)at; break;
    case '?': whole = *(const uint8_t *)at; break;
    case 'f': real = *(const float *)at; return letter(to, 'f') && word(to, &real);
    default: return 0;
    }
    return letter(to, kind) && word(to, &whole);
}

/* Append the kinds and words of a value. Return whether an entry can take it; this may set an error. */
static int flatten(arguments *to, PyObject *value)
{
    if (PyLong_CheckExact(value)) {
        long long whole = PyLong_AsLongLong(value);
        return !(whole == -1 && PyErr_Occurred()) && number(to, 'q', &whole);
    }
    if (value == Py_None)
        return letter(to, 'n');
    if (PyTuple_Check(value)) {
        if (!letter(to, '('))
            return 0;
        for (Py_ssize_t i = 0, size = PyTuple_Size(value); i < size; i++)
            if (!flatten(to, PyTuple_GetItem(value, i)))
                return 0;
        return letter(to, ')');
    }
    if (PyFloat_CheckExact(value)) {
        double real = PyFloat_AsDouble(value);
        return number(to, 'd', &real);
    }
    if (PyBool_Check(value)) {
        int64_t truth = value == Py_True;
        return letter(to, '?') && word(to, &truth);
    }
    if (to->held == ARRAYS)
        return 0;
    Py_buffer *array = &to->arrays[to->held];
    if (PyObject_GetBuffer(value, array, PyBUF_FORMAT | PyBUF_STRIDES))
        return 0;
    to->held++;
    if (array->format[0] == 0 || array->format[1] != 0)
        return 0;
    if (array->ndim == 0)
        return number(to, array->format[0], array->buf);
    if (!PyBuffer_IsContiguous(array, 'C') || (uintptr_t)array->buf % array->itemsize)
        return 0;
    if (!letter(to, array->format[0]) || !letter(to, '0' + array->ndim)
        || !letter(to, array->readonly ? 'r' : 'w') || !word(to, &array->buf))
        return 0;
    for (int i = 0; i < array->ndim; i++)
        if (!word(to, &array->shape[i]))
            return 0;
    return 1;
}

static PyObject *object(char kind, const int64_t *at)
{
    double real;
    switch (kind) {
    case 'd': memcpy(&real, at, 8); return PyFloat_FromDouble(real);
    case 'Q': return PyLong_FromUnsignedLongLong((uint64_t)*at);
    case '?': return PyBool_FromLong((long)(*at & 1));
    default: return PyLong_FromLongLong(*at);
    }
}

static PyObject *result(const char *returns, const int64_t *out)
{
    if (returns[0] == 0)
        return Py_NewRef(Py_None);
    if (returns[0] != '(')
        return object(returns[0], out);
    Py_ssize_t size = (Py_ssize_t)strlen(returns) - 2;
    PyObject *tuple = PyTuple_New(size);
    for (Py_ssize_t i = 0; tuple != NULL && i < size; i++) {
        PyObject *item = object(returns[i + 1], &out[i]);
        if (item == NULL || PyTuple_SetItem(tuple, i, item))
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* Raise an exception that a kernel raised: a pickled class and its arguments. */
static PyObject *raise(const int64_t *out)
{
    PyObject *pickle = PyImport_ImportModule("pickle");
    PyObject *made = pickle == NULL ? NULL
        : PyObject_CallMethod(pickle, "loads", "y#", (const char *)(uintptr_t)out[0], (Py_ssize_t)out[1]);
    if (made != NULL)
        PyErr_SetObject(PyTuple_GetItem(made, 0), PyTuple_GetItem(made, 1));
    Py_XDECREF(pickle);
    Py_XDECREF(made);
    return NULL;
}

/* call(entries, arguments): run an entry without the GIL, or return NotImplemented if none has these types. */
static PyObject *call(PyObject *self, PyObject *const *from, Py_ssize_t count)
{
    arguments to;
    to.letters = to.count = to.held = 0;
    PyObject *answer = NULL;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "call takes the entries and the arguments");
        return NULL;
    }
    if (flatten(&to, from[1])) {
        PyObject *kinds = PyBytes_FromStringAndSize(to.kinds, to.letters);
        PyObject *entry = kinds == NULL ? NULL : PyDict_GetItemWithError(from[0], kinds);
        Py_XDECREF(kinds);
        if (entry != NULL) {
            int32_t (*run)(const int64_t *, int64_t *) = PyLong_AsVoidPtr(PyTuple_GetItem(entry, 0));
            const char *returns = PyBytes_AsString(PyTuple_GetItem(entry, 1));
            int64_t out[RESULTS];
            int32_t failed;
            Py_BEGIN_ALLOW_THREADS
            failed = run(to.words, out);
            Py_END_ALLOW_THREADS
            answer = failed ? raise(out) : result(returns, out);
        } else if (!PyErr_Occurred())
            answer = Py_NewRef(Py_NotImplemented);
    } else {
        PyErr_Clear();
        answer = Py_NewRef(Py_NotImplemented);
    }
    while (to.held)
        PyBuffer_Release(&to.arrays[--to.held]);
    return answer;
}

/* level(): the highest level of entries that this processor can run, or -1. The levels are those of the
 * x86-64 ABI, from 2 on. Other architectures have one. */
static PyObject *level(PyObject *self, PyObject *none)
{
    long highest = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("popcnt"))
        highest = -1;
    else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma"))
        highest = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
            && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq")
            && __builtin_cpu_supports("avx512vl") ? 2 : 1;
#endif
    return PyLong_FromLong(highest);
}

static PyMethodDef methods[] = {
    {"call", (PyCFunction)(void (*)(void))call, METH_FASTCALL, NULL},
    {"level", level, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_precompiled", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__precompiled(void) { return PyModule_Create(&module); }

/* The start of Numba's struct MemInfo, of which compiled code reads `refct` and `data`. */
typedef struct {
    size_t refct;
    void *dtor, *dtor_info, *data;
    size_t size;
    void *allocator;
} block;

void *NRT_MemInfo_alloc_aligned(size_t size, unsigned align)
{
    block *made = malloc(sizeof(block) + size + align);
    if (made == NULL)
        return NULL; /* the kernel raises MemoryError */
    uintptr_t data = (uintptr_t)(made + 1);
    made->refct = 1;
    made->dtor = made->dtor_info = made->allocator = NULL;
    made->data = (void *)((data + align - 1) / align * align);
    made->size = size;
    return made;
}

void NRT_MemInfo_call_dtor(void *made) { free(made); }
void NRT_Free(void *made) { free(made); }

double numba_frexp(double x, int *exponent)
{
    *exponent = 0;
    return isfinite(x) && x != 0 ? frexp(x, exponent) : x;
}

double numba_ldexp(double x, int exponent) { return isfinite(x) && x != 0 ? ldexp(x, exponent) : x; }
