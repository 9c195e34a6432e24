"""A process and what it shares with others of its user, and attempts to change them from outside.

`peers.py victim PLACE` prints what it has, then its state each time it reads a line. `peers.py attack KNOWN` tries
everything and prints what the system let it do.
"""

import ctypes
import errno
import fcntl
import json
import os
import platform
import resource
import sys

C = ctypes.CDLL(None, use_errno=True)
X86 = platform.machine() == "x86_64"
IOPRIO_SET, IOPRIO_GET = (251, 252) if X86 else (30, 31)
ADD_KEY, KEYCTL = (248, 250) if X86 else (217, 219)
SCHED_SETATTR = 314 if X86 else 274
KCMP = 312 if X86 else 272
PIDFD_GETFD = 438
IPC_CREAT, IPC_RMID, IPC_STAT = 0o1000, 0, 2
OWN = -1
# No process has this user: an attempt on all of its processes changes none.
NOBODY = 54_321


def call(*values):
    """A system call, whose failure is an exception."""
    result = C.syscall(*[value if not isinstance(value, int) else ctypes.c_long(value) for value in values])
    return done(result)


def done(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def unfiltered(result):
    """A call that finds nobody, if it is not refused before."""
    if result < 0 and ctypes.get_errno() != errno.ESRCH:
        raise OSError(ctypes.get_errno(), "refused")


def message(text):
    return ctypes.create_string_buffer((1).to_bytes(8, sys.byteorder) + text)


def semaphore(number, command, value=0):
    return done(C.semctl(number, 0, command, value))


def shared(number):
    C.shmat.restype = ctypes.c_void_p
    at = C.shmat(number, None, 0)
    if at in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), "refused")
    return at


def victim(place):
    known = {"pid": os.getpid(), "parent": os.getppid(), "file": os.path.join(place, "locked")}
    with open(known["file"], "w") as file:
        file.write("text")
    known["memory"] = done(C.shmget(os.getpid(), 4096, IPC_CREAT | 0o600))
    known["semaphore"] = done(C.semget(os.getpid(), 1, IPC_CREAT | 0o600))
    known["queue"] = done(C.msgget(os.getpid(), IPC_CREAT | 0o600))
    known["name"] = f"/toolgen-{os.getpid()}"
    done(C.mq_open(known["name"].encode(), os.O_CREAT | os.O_RDWR, 0o600, None))
    memory = shared(known["memory"])
    ctypes.memset(memory, 7, 1)
    semaphore(known["semaphore"], 16, 3)
    print(json.dumps(known), flush=True)
    for _ in sys.stdin:
        state = {
            "limits": [resource.getrlimit(kind) for kind in range(16)],
            "priority": os.getpriority(os.PRIO_PROCESS, 0),
            "processors": sorted(os.sched_getaffinity(0)),
            "class": os.sched_getscheduler(0),
            "io": call(IOPRIO_GET, 1, 0),
            "memory": [C.shmctl(known["memory"], IPC_STAT, ctypes.create_string_buffer(512)), ctypes.string_at(memory, 1)[0]],
            "semaphore": C.semctl(known["semaphore"], 0, 12, 0),
            "queue": C.msgrcv(known["queue"], message(b"    "), 4, 0, 0o4000),
            "named": C.mq_open(known["name"].encode(), os.O_RDWR, 0, None) >= 0,
        }
        print(json.dumps(state), flush=True)
    C.shmctl(known["memory"], IPC_RMID, None)
    C.semctl(known["semaphore"], 0, IPC_RMID, 0)
    C.msgctl(known["queue"], IPC_RMID, None)
    C.mq_unlink(known["name"].encode())


def lease(path):
    file = os.open(path, os.O_RDONLY)
    fcntl.fcntl(file, 1024, 0)
    fcntl.fcntl(file, 1024, 2)


def lock(path):
    fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)


def memory_of(pid):
    class Part(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    part = Part(ctypes.cast(ctypes.create_string_buffer(8), ctypes.c_void_p), 8)
    done(C.process_vm_writev(pid, ctypes.byref(part), 1, ctypes.byref(part), 1, 0))


def write_memory(number):
    ctypes.memset(shared(number), 9, 1)


def owner(command, value):
    read, _ = os.pipe()
    fcntl.fcntl(read, command, value)


def attempts(known):
    pid, group = known["pid"], os.getpgid(known["pid"])
    processors = sorted(os.sched_getaffinity(0))[:1]
    scheduling = ctypes.create_string_buffer(b"\x30" + b"\0" * 3 + b"\x03" + b"\0" * 43)
    return {
        "prlimit": lambda: resource.prlimit(pid, resource.RLIMIT_NPROC, (4000, 5000)),
        "prlimit of files": lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (77, 100)),
        "setpriority": lambda: done(C.setpriority(0, pid, 7)),
        "setpriority of a group": lambda: done(C.setpriority(1, group, 8)),
        "setpriority of a user": lambda: unfiltered(C.setpriority(2, NOBODY, 9)),
        "sched_setaffinity": lambda: os.sched_setaffinity(pid, processors),
        "sched_setscheduler": lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)),
        "sched_setparam": lambda: os.sched_setparam(pid, os.sched_param(0)),
        "sched_setattr": lambda: call(SCHED_SETATTR, pid, scheduling, 0),
        "ioprio_set": lambda: call(IOPRIO_SET, 1, pid, 3 << 13),
        "ioprio_set of a group": lambda: call(IOPRIO_SET, 2, group, 2 << 13 | 6),
        "ioprio_set of a user": lambda: unfiltered(C.syscall(IOPRIO_SET, 3, NOBODY, 2 << 13 | 7)),
        "shmget": lambda: done(C.shmget(pid, 4096, 0)),
        "shmat": lambda: write_memory(known["memory"]),
        "semop": lambda: semaphore(known["semaphore"], 16, 1),
        "msgsnd": lambda: done(C.msgsnd(known["queue"], message(b"mine"), 4, 0o4000)),
        "shmctl": lambda: done(C.shmctl(known["memory"], IPC_RMID, None)),
        "semctl": lambda: semaphore(known["semaphore"], IPC_RMID),
        "msgctl": lambda: done(C.msgctl(known["queue"], IPC_RMID, None)),
        "mq_open": lambda: done(C.mq_open(known["name"].encode(), os.O_RDWR, 0, None)),
        "mq_unlink": lambda: done(C.mq_unlink(known["name"].encode())),
        "add_key": lambda: call(ADD_KEY, b"user", b"toolgen", b"mine", 4, OWN),
        "keyctl": lambda: call(KEYCTL, 0, OWN, 1),
        "flock": lambda: lock(known["file"]),
        "lease": lambda: lease(known["file"]),
        "F_SETOWN": lambda: owner(8, pid),
        "ptrace": lambda: done(C.ptrace(0x4206, pid, None, None)),
        "process_vm_writev": lambda: memory_of(pid),
        "pidfd_getfd": lambda: call(PIDFD_GETFD, os.pidfd_open(pid), 0, 0),
        "kcmp": lambda: call(KCMP, os.getpid(), pid, 0, 0, 0),
        "a call of x32 programs": lambda: call(0x40000000 | 302, pid, 0, ctypes.create_string_buffer(16), None) if X86 else done(-1),
        "a call that does not exist": lambda: call(4000),
    }


def attack(known):
    for name, attempt in attempts(known).items():
        try:
            attempt()
            print(name)
        except (OSError, PermissionError, ProcessLookupError, AttributeError, ValueError):
            pass


if sys.argv[1] == "victim":
    victim(sys.argv[2])
else:
    attack(json.loads(sys.argv[2]))
