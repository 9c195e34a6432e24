//! Seccomp filters: the system calls that a confined program cannot make.
//!
//! They cover what namespaces and Landlock do not: sockets through which another process could act for the program,
//! changes of files that need no write permission, and calls that affect other processes of the same user.

mod peers;

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

/// What a filter denies, in addition to keyrings.
#[derive(Clone, Copy)]
pub(super) struct DeniedCalls {
    /// The denied sockets, if any.
    pub(super) sockets: Option<Sockets>,
    /// Changes of mode, owner, times and attributes of files, which Landlock does not restrict.
    pub(super) metadata: bool,
    /// Locks that do not require the file to be open for writing, but block other processes.
    pub(super) locks: bool,
    /// Calls that affect other processes or shared resources, if no namespace hides them.
    pub(super) peers: bool,
}

/// The sockets that a filter denies.
#[derive(Clone, Copy)]
pub(super) enum Sockets {
    All,
    /// Sockets that are not confined by a network namespace, such as Unix sockets.
    Outside,
}

/// The socket families that a network namespace confines: IPv4, IPv6 and netlink.
const NAMESPACED: [i32; 3] = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// The `ioctl` requests that change no file, in the order of Linux's `asm-generic/ioctls.h`: `TCGETS`, `TIOCGPGRP`,
/// `TIOCGWINSZ`, `FIONREAD`, `FIONBIO`, `FIONCLEX`, `FIOCLEX` and `FIOASYNC`.
const HARMLESS_IOCTLS: [u64; 8] = [0x5401, 0x540f, 0x5413, 0x541b, 0x5421, 0x5450, 0x5451, 0x5452];

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

// These calls are newer than the oldest supported C libraries. Their numbers are the same on all architectures.
const FCHMODAT2: i64 = 452;
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const FILE_SETATTR: i64 = 469;

/// The first number that was unassigned when these lists were made.
const FIRST_UNKNOWN: u32 = 470;

/// Returns a filter that hides system calls that are newer than these lists, and the alternative system call numbers of
/// x32 programs.
pub(super) fn deny_unknown() -> BpfProgram {
    let instruction = |code: u32, jf: u8, k: u32| sock_filter { code: code as u16, jt: 0, jf, k };
    vec![
        // The number of the system call is the first field that a filter reads.
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 1, FIRST_UNKNOWN),
        instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs()),
        instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

/// Compiles a filter.
pub(super) fn compile(denied: DeniedCalls) -> Result<BpfProgram, String> {
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
        .map_err(|error| format!("no system call filter: {error}"))
}

type Error = seccompiler::BackendError;

/// The denied calls. A call is denied without conditions, or if one of its rules matches.
#[derive(Default)]
struct SeccompRules(BTreeMap<i64, Vec<SeccompRule>>);

impl SeccompRules {
    /// Denies calls unconditionally.
    fn deny(&mut self, calls: &[i64]) {
        self.0.extend(calls.iter().map(|call| (*call, Vec::new())));
    }

    /// Denies a call if all of these conditions hold.
    fn deny_if(&mut self, call: i64, conditions: Vec<Result<SeccompCondition, Error>>) -> Result<(), Error> {
        let rule = SeccompRule::new(conditions.into_iter().collect::<Result<_, _>>()?)?;
        self.0.entry(call).or_default().push(rule);
        Ok(())
    }
}

fn rules(denied: DeniedCalls) -> Result<BTreeMap<i64, Vec<SeccompRule>>, Error> {
    let mut rules = SeccompRules::default();
    peers::keys(&mut rules);
    if let Some(sockets) = denied.sockets {
        match sockets {
            Sockets::All => rules.deny(&[libc::SYS_socket]),
            Sockets::Outside => {
                let families = NAMESPACED.map(|family| u64::from(family.unsigned_abs()));
                rules.deny_if(libc::SYS_socket, none_of(0, &families))?;
            }
        }
        // Datagrams of a socket pair can reach other sockets as well. The other bits are flags.
        let datagram = u64::from(libc::SOCK_DGRAM.unsigned_abs());
        rules.deny_if(libc::SYS_socketpair, vec![condition(1, SeccompCmpOp::MaskedEq(0xf), datagram)])?;
        // Requests through io_uring queues are not filtered.
        rules.deny(&[libc::SYS_io_uring_setup]);
    }
    if denied.locks {
        peers::locks(&mut rules)?;
    }
    if denied.peers {
        peers::processes(&mut rules)?;
    }
    if denied.metadata {
        rules.deny(METADATA);
        rules.deny_if(libc::SYS_ioctl, none_of(1, &HARMLESS_IOCTLS))?;
    }
    Ok(rules.0)
}

/// Returns a condition on the lower half of an argument.
fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, Error> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}

/// Returns conditions that hold together if an argument is none of these values.
fn none_of(argument: u8, values: &[u64]) -> Vec<Result<SeccompCondition, Error>> {
    values.iter().map(|value| condition(argument, SeccompCmpOp::Ne, *value)).collect()
}
