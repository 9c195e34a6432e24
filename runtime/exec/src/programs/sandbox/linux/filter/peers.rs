//! System calls that affect other processes of the same user, or resources that they share.

use seccompiler::{SeccompCmpArgLen, SeccompCmpOp, SeccompCondition};

use super::{Error, SeccompRules, condition, none_of};

/// Keyrings: a program shares the session keyring with the process that started it, even in its own namespaces.
const KEYS: &[i64] = &[libc::SYS_add_key, libc::SYS_request_key, libc::SYS_keyctl];

/// Resources that all processes of a user share by identifiers or by names outside of the file system: memory,
/// semaphores and queues. Also calls that inspect the whole system.
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

/// Calls whose first argument is a process ID, or 0 for the caller.
const SCHEDULING: &[i64] = &[
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
];

/// The commands of `fcntl` that choose the process that receives signals of a file: `F_SETOWN` and `F_SETOWN_EX`.
const OWNERS: [u64; 2] = [8, 15];
/// The command of `fcntl` that makes other processes wait when they open a file: `F_SETLEASE`.
const SET_LEASE: u64 = 1024;
/// The requests of `ioctl` that inject terminal input, or choose the process that receives signals of a file:
/// `TIOCSTI`, `TIOCLINUX`, `FIOSETOWN` and `SIOCSPGRP`.
const TERMINAL_REQUESTS: [u64; 4] = [0x5412, 0x541c, 0x8901, 0x8902];

/// The calls that set a priority. The number is the value of the first argument for which the second is a process ID:
/// `PRIO_PROCESS` and `IOPRIO_WHO_PROCESS`.
const PRIORITIES: [(i64, u64); 2] = [(libc::SYS_setpriority, 0), (libc::SYS_ioprio_set, 1)];

/// Denies keyring calls.
pub(super) fn keys(rules: &mut SeccompRules) {
    rules.deny(KEYS);
}

/// Denies locks that block other processes although the program can only read the file. Locks that require write
/// access need no rule. Shared locks are used by readers such as databases, so they remain allowed.
pub(super) fn locks(rules: &mut SeccompRules) -> Result<(), Error> {
    let exclusive = u64::from(libc::LOCK_EX.unsigned_abs());
    rules.deny_if(libc::SYS_flock, vec![condition(1, SeccompCmpOp::MaskedEq(exclusive), exclusive)])?;
    rules.deny_if(libc::SYS_fcntl, vec![condition(1, SeccompCmpOp::Eq, SET_LEASE)])
}

/// Denies changes of other processes. Landlock denies calls that require the right to trace a process.
pub(super) fn processes(rules: &mut SeccompRules) -> Result<(), Error> {
    rules.deny(SHARED);
    for call in SCHEDULING {
        rules.deny_if(*call, none_of(0, &[0]))?;
    }
    // Reading the limits of other processes is allowed: the pointer to the new value is null then.
    let changed = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0);
    rules.deny_if(libc::SYS_prlimit64, vec![condition(0, SeccompCmpOp::Ne, 0), changed])?;
    // Groups and users are denied as well: a program may have joined another process group.
    for (call, process) in PRIORITIES {
        rules.deny_if(call, none_of(0, &[process]))?;
        rules.deny_if(call, none_of(1, &[0]))?;
    }
    for command in OWNERS {
        rules.deny_if(libc::SYS_fcntl, vec![condition(1, SeccompCmpOp::Eq, command)])?;
    }
    for request in TERMINAL_REQUESTS {
        rules.deny_if(libc::SYS_ioctl, vec![condition(1, SeccompCmpOp::Eq, request)])?;
    }
    Ok(())
}
