"""Job objects of Windows: a process with all that it starts, counted and ended as one.

Source: https://learn.microsoft.com/windows/win32/procthread/job-objects
"""

from __future__ import annotations

import ctypes
import errno
import sys
from typing import Any

KILL_ON_JOB_CLOSE = 0x2000
PROCESS_ID_LIST_CLASS = 3
EXTENDED_LIMIT_CLASS = 9
PROCESS_TERMINATE = 0x0001
PROCESS_SET_QUOTA = 0x0100
KILLED_CODE = 1
"""The code of a process that was ended with its job; nobody reads it."""
EXPECTED_PROCESSES = 32


class BasicLimits(ctypes.Structure):
    """JOBOBJECT_BASIC_LIMIT_INFORMATION. The widths are written out, as `wintypes` has those of Windows only there."""

    _fields_ = (
        ("per_process_user_time_limit", ctypes.c_int64),
        ("per_job_user_time_limit", ctypes.c_int64),
        ("limit_flags", ctypes.c_uint32),
        ("minimum_working_set_size", ctypes.c_size_t),
        ("maximum_working_set_size", ctypes.c_size_t),
        ("active_process_limit", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority_class", ctypes.c_uint32),
        ("scheduling_class", ctypes.c_uint32),
    )


class ExtendedLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION; `io_counters` stands for the six counters of IO_COUNTERS."""

    _fields_ = (
        ("basic", BasicLimits),
        ("io_counters", ctypes.c_uint64 * 6),
        ("process_memory_limit", ctypes.c_size_t),
        ("job_memory_limit", ctypes.c_size_t),
        ("peak_process_memory_used", ctypes.c_size_t),
        ("peak_job_memory_used", ctypes.c_size_t),
    )


def process_id_list(capacity: int) -> Any:
    """Return an empty JOBOBJECT_BASIC_PROCESS_ID_LIST with room for `capacity` pids."""

    class ProcessIdList(ctypes.Structure):
        _fields_ = (
            ("assigned", ctypes.c_uint32),
            ("listed", ctypes.c_uint32),
            ("pids", ctypes.c_size_t * capacity),
        )

    return ProcessIdList()


class JobObject:
    """One job, whose processes are killed when it is closed, or when the harness itself ends.

    Methods raise OSError where Windows refuses.
    """

    def __init__(self, kernel32: Any) -> None:
        """`kernel32` has the functions of that library, with their types."""
        self._kernel32 = kernel32
        self._handle = _given(kernel32.CreateJobObjectW(None, None))
        limits = ExtendedLimits()
        limits.basic.limit_flags = KILL_ON_JOB_CLOSE
        try:
            _given(
                kernel32.SetInformationJobObject(
                    self._handle, EXTENDED_LIMIT_CLASS, ctypes.byref(limits), ctypes.sizeof(limits)
                )
            )
        except OSError:
            self.close()
            raise

    def assign(self, pid: int) -> None:
        """Take in the process `pid`, and all that it starts from now on."""
        process = _given(self._kernel32.OpenProcess(PROCESS_SET_QUOTA | PROCESS_TERMINATE, 0, pid))
        try:
            _given(self._kernel32.AssignProcessToJobObject(self._handle, process))
        finally:
            self._kernel32.CloseHandle(process)

    def pids(self) -> list[int]:
        """Return the pids of the processes that run in the job."""
        capacity = EXPECTED_PROCESSES
        while True:
            found = process_id_list(capacity)
            complete = self._kernel32.QueryInformationJobObject(
                self._handle, PROCESS_ID_LIST_CLASS, ctypes.byref(found), ctypes.sizeof(found), None
            )
            if found.assigned <= capacity:
                _given(complete)
                return [int(pid) for pid in found.pids[: found.listed]]
            capacity = 2 * found.assigned  # it refuses a list that is too short, but says how many there are

    def terminate(self) -> None:
        """End every process of the job."""
        _given(self._kernel32.TerminateJobObject(self._handle, KILLED_CODE))

    def close(self) -> None:
        """Let go of the job, which ends what still runs in it."""
        self._kernel32.CloseHandle(self._handle)


def _given(result: int | None) -> int:
    """Return what a function gave; raises OSError where it gave nothing."""
    if result:
        return result
    if sys.platform == "win32":
        raise ctypes.WinError(ctypes.get_last_error())
    raise OSError(errno.ENOSYS, "Windows refused")
