//! System calls that reach other processes of the same user, or what such processes share.

use seccompiler::{SeccompCmpArgLen, SeccompCmpOp, SeccompCondition};

use super::{Error, SeccompRules, is, none_of};

/// Keyrings: a program shares those of its session with the process that started it, also in namespaces of its own.
const KEYS: &[i64] = &[libc::SYS_add_key, libc::SYS_request_key, libc::SYS_keyctl];

/// What all processes of a user share, by numbers and names that are no files: memory, semaphores and queues. And what
/// looks at the whole system, or into it.
const SHARED: &[i64] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_setns,
    libc::SYS_perf_event_open,
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
];

/// Calls whose first argument is a process, or 0 for the one that calls.
const SCHEDULING: &[i64] = &[
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
];

/// The commands of `fcntl` that choose who is sent signals of a file: `F_SETOWN` and `F_SETOWN_EX`.
const OWNERS: [u64; 2] = [8, 15];
/// The command of `fcntl` by which whoever opens a file must wait: `F_SETLEASE`.
const LEASE: u64 = 1024;
/// The requests of `ioctl` that type into a terminal, or choose who is sent signals of a file: `TIOCSTI`, `TIOCLINUX`,
/// `FIOSETOWN` and `SIOCSPGRP`.
const TYPING: [u64; 4] = [0x5412, 0x541c, 0x8901, 0x8902];

/// The calls that set a priority, with the number by which their first argument says that the second is a process:
/// `PRIO_PROCESS` and `IOPRIO_WHO_PROCESS`.
const PRIORITIES: [(i64, u64); 2] = [(libc::SYS_setpriority, 0), (libc::SYS_ioprio_set, 1)];

/// Refuses what concerns keys.
pub(super) fn keys(rules: &mut SeccompRules) {
    rules.all(KEYS);
}

/// Refuses locks that keep others from a file that the program can only read. Those for which a file must be open for
/// writing need no rule; a shared lock is what readers use, such as databases, so it stays.
pub(super) fn locks(rules: &mut SeccompRules) -> Result<(), Error> {
    let exclusive = u64::from(libc::LOCK_EX.unsigned_abs());
    rules.when(libc::SYS_flock, vec![is(1, SeccompCmpOp::MaskedEq(exclusive), exclusive)])?;
    rules.when(libc::SYS_fcntl, vec![is(1, SeccompCmpOp::Eq, LEASE)])
}

/// Refuses what changes another process. What needs the right to trace it, Landlock refuses.
pub(super) fn processes(rules: &mut SeccompRules) -> Result<(), Error> {
    rules.all(SHARED);
    for call in SCHEDULING {
        rules.when(*call, none_of(0, &[0]))?;
    }
    // Limits of others may be read: their new value is a pointer to nothing then.
    let changed = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0);
    rules.when(libc::SYS_prlimit64, vec![is(0, SeccompCmpOp::Ne, 0), changed])?;
    // Neither groups nor users: a program may have joined the group of another.
    for (call, process) in PRIORITIES {
        rules.when(call, none_of(0, &[process]))?;
        rules.when(call, none_of(1, &[0]))?;
    }
    for command in OWNERS {
        rules.when(libc::SYS_fcntl, vec![is(1, SeccompCmpOp::Eq, command)])?;
    }
    for request in TYPING {
        rules.when(libc::SYS_ioctl, vec![is(1, SeccompCmpOp::Eq, request)])?;
    }
    Ok(())
}
