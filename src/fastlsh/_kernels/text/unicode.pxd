# How Python stores a str.

cdef extern from *:
    """
    #if PY_VERSION_HEX < 0x030C0000
    #define fastlsh_ready(text) PyUnicode_READY(text)
    #else
    #define fastlsh_ready(text) 0
    #endif
    """
    int fastlsh_ready(object text) except -1

cdef extern from "Python.h":
    bint PyUnicode_Check(object text)
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)
    bint PyUnicode_IS_ASCII(object text)
    bint PyUnicode_IS_COMPACT(object text)
    object PyUnicode_FromKindAndData(int kind, const void* data, Py_ssize_t n)
    object PyUnicode_DecodeUTF8(const char* data, Py_ssize_t n, const char* errors)
