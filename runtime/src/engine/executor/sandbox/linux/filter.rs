//! The system calls that a confined program may not make, as a seccomp filter.
//!
//! It closes what namespaces and Landlock leave open: sockets through which a process outside acts for the program,
//! and changes of files that need no write permission.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};

/// What a filter prevents.
#[derive(Clone, Copy)]
pub(super) struct Denied {
    /// All sockets; otherwise only those that no network namespace holds, such as Unix sockets.
    pub(super) sockets: bool,
    /// Changes of modes, owners, times and attributes of files, which Landlock does not know.
    pub(super) metadata: bool,
}

/// The families of sockets that a network namespace holds: IPv4, IPv6 and netlink.
const NAMESPACED: [i32; 3] = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// The requests of `ioctl` that change no file, in the order of the table in Linux's `asm-generic/ioctls.h`: `TCGETS`,
/// `TIOCGPGRP`, `TIOCGWINSZ`, `FIONREAD`, `FIONBIO`, `FIONCLEX`, `FIOCLEX` and `FIOASYNC`.
const HARMLESS: [u64; 8] = [0x5401, 0x540f, 0x5413, 0x541b, 0x5421, 0x5450, 0x5451, 0x5452];

/// System calls that change a file without write permission.
const METADATA: &[i64] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SETXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    REMOVEXATTRAT,
    FILE_SETATTR,
];

// Newer than the oldest system libraries; the numbers are the same on all machines.
const FCHMODAT2: i64 = 452;
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const FILE_SETATTR: i64 = 469;

/// The bit of x32 system calls: such programs make the same calls by other numbers, where the system runs them.
#[cfg(target_arch = "x86_64")]
const X32: i64 = 0x4000_0000;
#[cfg(target_arch = "x86_64")]
const X32_IOCTL: i64 = X32 | 514;

/// Compiles a filter.
pub(super) fn compile(denied: Denied) -> Result<BpfProgram, String> {
    let arch = if cfg!(target_arch = "x86_64") {
        TargetArch::x86_64
    } else if cfg!(target_arch = "aarch64") {
        TargetArch::aarch64
    } else {
        TargetArch::riscv64
    };
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    rules(denied)
        .and_then(|rules| SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch)?.try_into())
        .map_err(|why| format!("no filter of system calls: {why}"))
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// The calls that are refused, each without conditions or if one of its rules holds.
fn rules(denied: Denied) -> Result<Rules, seccompiler::BackendError> {
    let other = if denied.sockets {
        Vec::new()
    } else {
        vec![none_of(0, &NAMESPACED.map(|family| u64::from(family.unsigned_abs())))?]
    };
    // Datagrams of a pair of sockets reach other sockets, too; the other bits are flags.
    let datagram = SeccompCondition::new(
        1,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::MaskedEq(0xf),
        u64::from(libc::SOCK_DGRAM.unsigned_abs()),
    )?;
    let mut rules = Rules::from([
        (libc::SYS_socket, other),
        (libc::SYS_socketpair, vec![SeccompRule::new(vec![datagram])?]),
        // What comes through its queues is not filtered.
        (libc::SYS_io_uring_setup, Vec::new()),
    ]);
    if denied.metadata {
        rules.extend(METADATA.iter().map(|call| (*call, Vec::new())));
        rules.insert(libc::SYS_ioctl, vec![none_of(1, &HARMLESS)?]);
    }
    #[cfg(target_arch = "x86_64")]
    {
        let x32: Vec<_> = rules.iter().map(|(call, rules)| (call | X32, rules.clone())).collect();
        rules.extend(x32);
        if let Some(ioctl) = rules.get(&libc::SYS_ioctl) {
            rules.insert(X32_IOCTL, ioctl.clone());
        }
    }
    Ok(rules)
}

/// A rule that holds if an argument is not one of these.
fn none_of(argument: u8, values: &[u64]) -> Result<SeccompRule, seccompiler::BackendError> {
    let differs =
        |value: &u64| SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, *value);
    SeccompRule::new(values.iter().map(differs).collect::<Result<_, _>>()?)
}
