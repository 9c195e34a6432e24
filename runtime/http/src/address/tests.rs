//! Tests every range at its first and last address, and just outside.

use super::*;

fn access_and_name(address: &str) -> (Access, String) {
    let range = range(address.parse().unwrap());
    (range.access, range.to_string())
}

/// First and last address, and access, for each row of the registries.
pub(in super::super) const RANGES: &[(&str, &str, Access)] = &[
    ("0.0.0.0", "0.255.255.255", Closed),
    ("10.0.0.0", "10.255.255.255", Private),
    ("100.64.0.0", "100.127.255.255", Private),
    ("127.0.0.0", "127.255.255.255", Private),
    ("169.254.0.0", "169.254.255.255", Closed),
    ("172.16.0.0", "172.31.255.255", Private),
    ("192.0.0.0", "192.0.0.255", Closed),
    ("192.0.2.0", "192.0.2.255", Closed),
    ("192.31.196.0", "192.31.196.255", Closed),
    ("192.52.193.0", "192.52.193.255", Closed),
    ("192.88.99.0", "192.88.99.255", Closed),
    ("192.168.0.0", "192.168.255.255", Private),
    ("192.175.48.0", "192.175.48.255", Closed),
    ("198.18.0.0", "198.19.255.255", Private),
    ("198.51.100.0", "198.51.100.255", Closed),
    ("203.0.113.0", "203.0.113.255", Closed),
    ("224.0.0.0", "255.255.255.255", Closed),
    ("::", "::", Closed),
    ("::1", "::1", Private),
    ("::2", "::ffff:ffff", Closed),
    ("100::", "100::ffff:ffff:ffff:ffff", Closed),
    ("100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff", Closed),
    ("2001:1::1", "2001:1::3", Closed),
    ("2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", Private),
    ("2001:3::", "2001:3:ffff:ffff:ffff:ffff:ffff:ffff", Closed),
    ("2001:4:112::", "2001:4:112:ffff:ffff:ffff:ffff:ffff", Closed),
    ("2001:10::", "2001:3f:ffff:ffff:ffff:ffff:ffff:ffff", Closed),
    ("2001:40::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", Closed),
    ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", Closed),
    ("2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", Closed),
    ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", Closed),
    ("4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Closed),
    ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Closed),
    ("fc00::", "fd00:ec1:ffff:ffff:ffff:ffff:ffff:ffff", Private),
    ("fd00:ec2::", "fd00:ec2:ffff:ffff:ffff:ffff:ffff:ffff", Closed),
    ("fd00:ec3::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Private),
    ("fe00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Closed),
];

#[test]
fn address_ranges_include_first_and_last() {
    for (first, last, access) in RANGES {
        for address in [first, last] {
            assert_eq!(access_and_name(address).0, *access, "{address} {:?}", access_and_name(address));
        }
    }
    for public in [
        "1.0.0.0",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "191.255.255.255",
        "192.0.1.0",
        "192.0.3.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "8.8.8.8",
        "2000::",
        "2001:200::",
        "2001:db7:ffff::",
        "2001:db9::",
        "2003::",
        "2606:4700::1111",
        "2620:4f:7fff::",
        "2620:4f:8001::",
        "3ffe:ffff::",
        "3fff:1000::",
    ] {
        assert_eq!(access_and_name(public), (Public, "Global Unicast".to_owned()), "{public}");
    }
}

#[test]
fn cloud_metadata_services_are_always_blocked() {
    let services = ["100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254"];
    for address in services {
        assert_eq!(access_and_name(address), (Closed, "cloud metadata service".to_owned()), "{address}");
    }
    assert_eq!(access_and_name("169.254.169.254"), (Closed, "Link Local".to_owned()));
    assert_eq!(access_and_name("fe80::a9fe:a9fe"), (Closed, "Link-Local Unicast".to_owned()));
}

#[test]
fn embedded_address_decides_access() {
    for (address, access, text) in [
        ("::ffff:127.0.0.1", Private, "Loopback (IPv4-mapped 127.0.0.1)"),
        ("::ffff:169.254.169.254", Closed, "Link Local (IPv4-mapped 169.254.169.254)"),
        ("::ffff:8.8.8.8", Public, "Global Unicast (IPv4-mapped 8.8.8.8)"),
        ("::ffff:0:10.0.0.1", Closed, "Private-Use (IPv4-translated 10.0.0.1)"),
        ("::127.0.0.1", Closed, "Loopback (IPv4-compatible 127.0.0.1)"),
        ("::8.8.8.8", Closed, "Global Unicast (IPv4-compatible 8.8.8.8)"),
        ("64:ff9b::a9fe:a9fe", Closed, "Link Local (NAT64 169.254.169.254)"),
        ("64:ff9b::a00:1", Private, "Private-Use (NAT64 10.0.0.1)"),
        ("64:ff9b::808:808", Public, "Global Unicast (NAT64 8.8.8.8)"),
        ("64:ff9b:1::808:808", Private, "Global Unicast (local NAT64 8.8.8.8)"),
        ("64:ff9b:1::a9fe:a9fe", Closed, "Link Local (local NAT64 169.254.169.254)"),
        ("2002:7f00:1::", Private, "Loopback (6to4 127.0.0.1)"),
        ("2002:a9fe:a9fe::1", Closed, "Link Local (6to4 169.254.169.254)"),
        ("2002:808:808::", Public, "Global Unicast (6to4 8.8.8.8)"),
        // Server 8.8.8.8 and client 127.0.0.1; then vice versa; then both public.
        ("2001:0:808:808::80ff:fffe", Private, "Loopback (Teredo 127.0.0.1)"),
        ("2001:0:7f00:1::f7f7:f7f7", Private, "Loopback (Teredo 127.0.0.1)"),
        ("2001:0:808:808::f7f7:f7f7", Public, "Global Unicast (Teredo 8.8.8.8)"),
        ("2606:4700::5efe:127.0.0.1", Private, "Loopback (ISATAP 127.0.0.1)"),
        ("2606:4700::200:5efe:169.254.169.254", Closed, "Link Local (ISATAP 169.254.169.254)"),
        ("2606:4700::5efe:8.8.8.8", Public, "Global Unicast"),
        ("2606:4700::100:5efe:127.0.0.1", Public, "Global Unicast"),
        ("fd12::200:5efe:169.254.169.254", Closed, "Link Local (ISATAP 169.254.169.254)"),
        ("fe80::5efe:8.8.8.8", Closed, "Link-Local Unicast"),
        ("2002:808:808::5efe:10.0.0.1", Private, "Private-Use (ISATAP 10.0.0.1)"),
    ] {
        assert_eq!(access_and_name(address), (access, text.to_owned()), "{address}");
    }
}
