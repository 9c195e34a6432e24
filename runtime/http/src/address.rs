//! Classifies addresses by the special-purpose ranges: public, private, or never allowed.
//!
//! The ranges are those of the IANA IPv4 and IPv6 Special-Purpose Address Registries
//! (<https://www.iana.org/assignments/iana-ipv4-special-registry>,
//! <https://www.iana.org/assignments/iana-ipv6-special-registry>) as of 9 October 2025, the multicast ranges, and
//! everything outside the unicast space that IANA allocates (`2000::/3`). The metadata addresses of cloud services
//! come first: they return credentials to any caller in the network, and some of them are in ordinary ranges.
//!
//! An IPv6 address that embeds an IPv4 address is classified by the embedded address, because packets go there.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether requests may go to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Access {
    /// Always: the address is on the public Internet.
    Public,
    /// Only if the program allows it.
    Private,
    /// Never, regardless of the settings.
    Closed,
}

/// The range that contains an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) access: Access,
    /// The name of the range in the registry.
    name: &'static str,
    /// The IPv4 address that an IPv6 address embeds, and how it is embedded.
    embedded: Option<(&'static str, Ipv4Addr)>,
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        match self.embedded {
            Some((how, address)) => write!(f, " ({how} {address})"),
            None => Ok(()),
        }
    }
}

use Access::{Closed, Private, Public};

/// A row of a table: address, prefix length, access and name. The first match applies.
type Row<const N: usize> = ([u16; N], u32, Access, &'static str);

/// The ranges of IPv4. Addresses are written as four numbers.
const IPV4: &[Row<4>] = &[
    ([100, 100, 100, 200], 32, Closed, "cloud metadata service"),
    ([168, 63, 129, 16], 32, Closed, "cloud metadata service"),
    ([192, 0, 0, 192], 32, Closed, "cloud metadata service"),
    ([0, 0, 0, 0], 8, Closed, "\"This network\""),
    ([10, 0, 0, 0], 8, Private, "Private-Use"),
    ([100, 64, 0, 0], 10, Private, "Shared Address Space"),
    ([127, 0, 0, 0], 8, Private, "Loopback"),
    ([169, 254, 0, 0], 16, Closed, "Link Local"),
    ([172, 16, 0, 0], 12, Private, "Private-Use"),
    ([192, 0, 0, 0], 24, Closed, "IETF Protocol Assignments"),
    ([192, 0, 2, 0], 24, Closed, "Documentation (TEST-NET-1)"),
    ([192, 31, 196, 0], 24, Closed, "AS112-v4"),
    ([192, 52, 193, 0], 24, Closed, "AMT"),
    ([192, 88, 99, 0], 24, Closed, "Deprecated (6to4 Relay Anycast)"),
    ([192, 168, 0, 0], 16, Private, "Private-Use"),
    ([192, 175, 48, 0], 24, Closed, "Direct Delegation AS112 Service"),
    ([198, 18, 0, 0], 15, Private, "Benchmarking"),
    ([198, 51, 100, 0], 24, Closed, "Documentation (TEST-NET-2)"),
    ([203, 0, 113, 0], 24, Closed, "Documentation (TEST-NET-3)"),
    ([224, 0, 0, 0], 4, Closed, "Multicast"),
    ([255, 255, 255, 255], 32, Closed, "Limited Broadcast"),
    ([240, 0, 0, 0], 4, Closed, "Reserved"),
];

/// The ranges of IPv6. Addresses are written as eight groups.
const IPV6: &[Row<8>] = &[
    ([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0], 32, Closed, "cloud metadata service"),
    ([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128, Closed, "cloud metadata service"),
    ([0, 0, 0, 0, 0, 0, 0, 0], 128, Closed, "Unspecified Address"),
    ([0, 0, 0, 0, 0, 0, 0, 1], 128, Private, "Loopback Address"),
    ([0x100, 0, 0, 0, 0, 0, 0, 0], 64, Closed, "Discard-Only Address Block"),
    ([0x100, 0, 0, 1, 0, 0, 0, 0], 64, Closed, "Dummy IPv6 Prefix"),
    ([0x2001, 2, 0, 0, 0, 0, 0, 0], 48, Private, "Benchmarking"),
    ([0x2001, 3, 0, 0, 0, 0, 0, 0], 32, Closed, "AMT"),
    ([0x2001, 4, 0x112, 0, 0, 0, 0, 0], 48, Closed, "AS112-v6"),
    ([0x2001, 0x10, 0, 0, 0, 0, 0, 0], 28, Closed, "Deprecated (previously ORCHID)"),
    ([0x2001, 0x20, 0, 0, 0, 0, 0, 0], 28, Closed, "ORCHIDv2"),
    ([0x2001, 0x30, 0, 0, 0, 0, 0, 0], 28, Closed, "Drone Remote ID Protocol Entity Tags Prefix"),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, Closed, "IETF Protocol Assignments"),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, Closed, "Documentation"),
    ([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48, Closed, "Direct Delegation AS112 Service"),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, Closed, "Documentation"),
    ([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16, Closed, "Segment Routing (SRv6) SIDs"),
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, Private, "Unique-Local"),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, Closed, "Link-Local Unicast"),
    ([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, Closed, "Deprecated (Site-Local Unicast)"),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, Closed, "Multicast"),
    ([0x2000, 0, 0, 0, 0, 0, 0, 0], 3, Public, "Global Unicast"),
];

/// IPv6 prefixes whose addresses embed an IPv4 address: the bit at which the IPv4 address starts, the most permissive
/// access, and the name.
const EMBEDDING_PREFIXES: &[([u16; 8], u32, u32, Access, &str)] = &[
    ([0, 0, 0, 0, 0, 0xffff, 0, 0], 96, 96, Public, "IPv4-mapped"),
    ([0, 0, 0, 0, 0xffff, 0, 0, 0], 96, 96, Closed, "IPv4-translated"),
    ([0, 0, 0, 0, 0, 0, 0, 0], 96, 96, Closed, "IPv4-compatible"),
    ([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96, 96, Public, "NAT64"),
    ([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, 96, Private, "local NAT64"),
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, 16, Public, "6to4"),
];

/// Returns the range that contains an address.
pub(super) fn range(address: IpAddr) -> Range {
    match address {
        IpAddr::V4(address) => of_ipv4(address),
        IpAddr::V6(address) => of_ipv6(address),
    }
}

fn of_ipv4(address: Ipv4Addr) -> Range {
    let row = IPV4.iter().find(|(start, length, ..)| {
        let start = start.iter().fold(0, |bits, number| bits << 8 | u32::from(*number));
        (address.to_bits() ^ start).leading_zeros() >= *length
    });
    let (access, name) = row.map_or((Public, "Global Unicast"), |(.., access, name)| (*access, *name));
    Range { access, name, embedded: None }
}

fn of_ipv6(address: Ipv6Addr) -> Range {
    let outer = range_by_prefix(address);
    // RFC 5214, section 6.1: under any prefix, the interface identifier may embed the address of a tunnel endpoint.
    let [.., kind, 0x5efe, _, _] = address.segments() else { return outer };
    let inner = embedded("ISATAP", address.to_bits() as u32, outer.access);
    if matches!(kind, 0 | 0x200) && inner.access > outer.access { inner } else { outer }
}

fn range_by_prefix(address: Ipv6Addr) -> Range {
    let is_in = |start: &[u16; 8], length: u32| {
        (address.to_bits() ^ Ipv6Addr::from(*start).to_bits()).leading_zeros() >= length
    };
    // `::` and `::1` match the prefix of an embedded address.
    let single_address = IPV6.iter().find(|(start, length, ..)| *length == 128 && is_in(start, *length));
    if single_address.is_none() {
        if let Some((_, _, bit, most_permissive, how)) =
            EMBEDDING_PREFIXES.iter().find(|(start, length, ..)| is_in(start, *length))
        {
            return embedded(how, (address.to_bits() >> (96 - bit)) as u32, *most_permissive);
        }
        if is_in(&[0x2001, 0, 0, 0, 0, 0, 0, 0], 32) {
            return teredo(address);
        }
    }
    let row = single_address.or_else(|| IPV6.iter().find(|(start, length, ..)| is_in(start, *length)));
    let (access, name) = row.map_or((Closed, "Reserved by IETF"), |(.., access, name)| (*access, *name));
    Range { access, name, embedded: None }
}

fn embedded(how: &'static str, bits: u32, most_permissive: Access) -> Range {
    let inner = Ipv4Addr::from_bits(bits);
    let Range { access, name, .. } = of_ipv4(inner);
    Range { access: access.max(most_permissive), name, embedded: Some((how, inner)) }
}

/// Returns the range of a Teredo address (RFC 4380, section 4): the more restricted range of the server's address and
/// the client's address, which is stored inverted in the last bits.
fn teredo(address: Ipv6Addr) -> Range {
    let bits = address.to_bits();
    let server = embedded("Teredo", (bits >> 64) as u32, Public);
    let client = embedded("Teredo", !(bits as u32), Public);
    if server.access > client.access { server } else { client }
}

#[cfg(test)]
pub(super) mod tests;
