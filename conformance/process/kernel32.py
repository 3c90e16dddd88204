"""The functions of Windows that Python has no module for."""

from __future__ import annotations

import ctypes
import errno
import sys
from typing import Any


def load_kernel32() -> Any:
    """Return kernel32 with the types of what is used of it: a handle does not fit the int that ctypes assumes."""
    if sys.platform != "win32":
        raise OSError(errno.ENOSYS, "this is not Windows")
    library = ctypes.WinDLL("kernel32", use_last_error=True)
    handle, dword, pointer = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p
    for name, result, arguments in (
        ("CreateJobObjectW", handle, (pointer, ctypes.c_wchar_p)),
        ("SetInformationJobObject", ctypes.c_int, (handle, ctypes.c_int, pointer, dword)),
        ("QueryInformationJobObject", ctypes.c_int, (handle, ctypes.c_int, pointer, dword, pointer)),
        ("OpenProcess", handle, (dword, ctypes.c_int, dword)),
        ("AssignProcessToJobObject", ctypes.c_int, (handle, handle)),
        ("TerminateJobObject", ctypes.c_int, (handle, ctypes.c_uint)),
        ("CloseHandle", ctypes.c_int, (handle,)),
        ("SetErrorMode", ctypes.c_uint, (ctypes.c_uint,)),
        ("GetShortPathNameW", dword, (ctypes.c_wchar_p, ctypes.c_wchar_p, dword)),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library
