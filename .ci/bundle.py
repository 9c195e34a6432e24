#!/usr/bin/env python3
"""Packs a built command line for people without Rust: a Python wheel and packages for npm.

Maturin, napi and similar programs build what they pack. Here the binary is that of the release's archive, already
built, and a wheel is a zip file with a few text files. So this needs Python 3.11 and nothing else, and the same input
gives the same bytes: entries are sorted, and have the time of the commit.

    .ci/bundle.py --binary FILE --target TRIPLE --time SECONDS --out DIR

npm gets two packages: the binary for one platform, and `cargo-toolgen`, which is the same for all platforms. It
depends on each platform's package optionally, npm installs those that fit, and .ci/npm/cargo-toolgen.js starts the
binary.
"""

import argparse
import base64
import collections
import gzip
import hashlib
import io
import json
import pathlib
import re
import struct
import sys
import tarfile
import time
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LICENSES = ["LICENSE-APACHE", "LICENSE-MIT"]

# `wheel` is the platform tag, `os`, `cpu` and `libc` are npm's names. Versions of macOS are the oldest that Rust
# supports.
Platform = collections.namedtuple("Platform", "wheel os cpu libc")
PLATFORMS = {
    "aarch64-apple-darwin": Platform("macosx_11_0_arm64", "darwin", "arm64", None),
    "aarch64-pc-windows-msvc": Platform("win_arm64", "win32", "arm64", None),
    "aarch64-unknown-linux-gnu": Platform("manylinux_{}_aarch64", "linux", "arm64", "glibc"),
    "aarch64-unknown-linux-musl": Platform("musllinux_1_1_aarch64", "linux", "arm64", "musl"),
    "x86_64-apple-darwin": Platform("macosx_10_12_x86_64", "darwin", "x64", None),
    "x86_64-pc-windows-msvc": Platform("win_amd64", "win32", "x64", None),
    "x86_64-unknown-linux-gnu": Platform("manylinux_{}_x86_64", "linux", "x64", "glibc"),
    "x86_64-unknown-linux-musl": Platform("musllinux_1_1_x86_64", "linux", "x64", "musl"),
}

# The oldest glibc of Rust's Linux targets: what a binary needs at least, whatever its symbols say.
OLDEST_GLIBC = (2, 17)
# Every system of a manylinux tag has these: glibc itself, and the unwinder of GCC.
SYSTEM_LIBRARIES = re.compile(r"(libc|libm|libdl|libpthread|librt|libresolv|libutil|libgcc_s|ld-linux-[a-z0-9-]+)\.so\.\d+")
# Versions that are no number, by the glibc that introduced them.
NAMED_VERSIONS = {"GLIBC_ABI_DT_RELR": (2, 36)}


def fail(message):
    sys.exit(f"bundle: {message}")


def built_for(binary):
    """npm's names of the system and processor that an executable is for."""
    if binary[:5] == b"\x7fELF\x02":
        machine = struct.unpack_from("<H", binary, 18)[0]
        return "linux", {62: "x64", 183: "arm64"}.get(machine)
    if binary[:4] == b"\xcf\xfa\xed\xfe":
        machine = struct.unpack_from("<I", binary, 4)[0]
        return "darwin", {0x01000007: "x64", 0x0100000C: "arm64"}.get(machine)
    if binary[:2] == b"MZ":
        machine = struct.unpack_from("<H", binary, struct.unpack_from("<I", binary, 60)[0] + 4)[0]
        return "win32", {0x8664: "x64", 0xAA64: "arm64"}.get(machine)
    return None, None


class Elf:
    """The libraries, and versions of their symbols, that the dynamic section of a 64-bit ELF file names."""

    def __init__(self, binary):
        self.binary = binary
        at, size, count = struct.unpack_from("<32xQ14xHH", binary)
        headers = [struct.unpack_from("<IIQQQQ", binary, at + size * index) for index in range(count)]
        self.loaded = [(address, offset, length) for kind, _, offset, address, _, length in headers if kind == 1]
        self.is_static = not any(kind == 3 for kind, *_ in headers)  # no interpreter
        self.entries = collections.defaultdict(list)
        for kind, _, offset, _, _, length in headers:
            if kind == 2:
                for tag, value in struct.iter_unpack("<QQ", binary[offset : offset + length]):
                    if tag == 0:
                        break
                    self.entries[tag].append(value)

    def offset(self, address):
        for start, offset, length in self.loaded:
            if start <= address < start + length:
                return address - start + offset
        fail(f"the binary's dynamic section names the address {address:#x}, which no segment contains")

    def text(self, index):
        start = self.offset(self.entries[5][0]) + index
        return self.binary[start : self.binary.index(b"\0", start)].decode()

    def libraries(self):
        return [self.text(index) for index in self.entries[1]]

    def versions(self):
        """The names in the table of needed versions, such as `GLIBC_2.34`."""
        found = set()
        if 0x6FFFFFFE not in self.entries:
            return found
        at = self.offset(self.entries[0x6FFFFFFE][0])
        for _ in range(self.entries[0x6FFFFFFF][0]):
            count, aux, following = struct.unpack_from("<2xH4xII", self.binary, at)
            entry = at + aux
            for _ in range(count):
                name, further = struct.unpack_from("<8xII", self.binary, entry)
                found.add(self.text(name))
                entry += further
            at += following
        return found


def needed_glibc(elf):
    """The oldest glibc that has all that the binary needs, such as (2, 34)."""
    foreign = [name for name in elf.libraries() if not SYSTEM_LIBRARIES.fullmatch(name)]
    if foreign:
        fail(f"the binary needs {', '.join(foreign)}, which not every Linux has; link it statically")
    needed = OLDEST_GLIBC
    for name in elf.versions():
        if not name.startswith("GLIBC_"):
            continue
        number = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)?", name)
        if not number and name not in NAMED_VERSIONS:
            fail(f"the binary needs {name}; look up the glibc that introduced it, and add it to NAMED_VERSIONS")
        needed = max(needed, (int(number[1]), int(number[2])) if number else NAMED_VERSIONS[name])
    return needed


def glibc_of(binary, platform):
    """The needed glibc, or None for a platform without glibc. Fails if the binary is for another platform."""
    system, processor = built_for(binary)
    if (system, processor) != (platform.os, platform.cpu):
        fail(f"the target is {platform.os} {platform.cpu}, and the binary is for {system} {processor}")
    if platform.os != "linux":
        return None
    elf = Elf(binary)
    if platform.libc == "musl":
        # One that is linked dynamically would need a certain musl, which its symbols do not name.
        if not elf.is_static:
            fail("the binary for musl is linked dynamically; without `-C target-feature=-crt-static`, it is static")
        return None
    return needed_glibc(elf)


def python_version(version):
    """A version of cargo as PyPI writes it: 0.2.0-rc.1 is 0.2.0rc1."""
    parts = re.fullmatch(r"(\d+\.\d+\.\d+)(?:-(alpha|beta|rc)\.(\d+))?", version)
    if not parts:
        fail(f"PyPI has no form for the version {version}; it has X.Y.Z, and X.Y.Z-alpha.N, -beta.N or -rc.N")
    return parts[1] + ({"alpha": "a", "beta": "b", "rc": "rc"}[parts[2]] + parts[3] if parts[2] else "")


class Package:
    """What all packages say about themselves, from the manifests of cargo."""

    def __init__(self):
        workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
        crate = tomllib.loads((ROOT / "toolgen/cli/Cargo.toml").read_text())["package"]
        self.version = workspace["version"]
        self.license = workspace["license"]
        self.repository = workspace["repository"]
        self.summary = crate["description"].replace("`", "")
        self.keywords = crate["keywords"]
        self.readme = (ROOT / "toolgen/cli" / crate["readme"]).read_text()
        self.licenses = {name: (ROOT / name).read_bytes() for name in LICENSES}


def metadata(package):
    return "\n".join([
        "Metadata-Version: 2.4",
        "Name: cargo-toolgen",
        f"Version: {python_version(package.version)}",
        f"Summary: {package.summary}",
        f"Keywords: {','.join(package.keywords)}",
        f"License-Expression: {package.license}",
        *(f"License-File: {name}" for name in LICENSES),
        f"Project-URL: Repository, {package.repository}",
        "Requires-Python: >=3.8",
        "Description-Content-Type: text/markdown",
        "",
        package.readme,
    ])


def wheel(package, binary, platform, glibc, seconds):
    """The name of the wheel, and its bytes."""
    name = f"cargo_toolgen-{python_version(package.version)}"
    tag = "py3-none-" + platform.wheel.format("_".join(map(str, glibc or ())))
    info = f"{name}.dist-info"
    files = {
        f"{name}.data/scripts/{executable(platform)}": binary,
        f"{info}/METADATA": metadata(package).encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: toolgen\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
    }
    files |= {f"{info}/licenses/{file}": text for file, text in package.licenses.items()}
    files = dict(sorted(files.items()))
    record = ""
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, time.gmtime(seconds)[:6])
            entry.create_system = 3  # Unix, on every system
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if "/scripts/" in path else 0o100644) << 16
            archive.writestr(entry, content)
    return f"{name}-{tag}.whl", packed.getvalue()


def executable(platform):
    return "cargo-toolgen.exe" if platform.os == "win32" else "cargo-toolgen"


def npm_name(platform):
    return f"@toolgen/cli-{platform.os}-{platform.cpu}" + ("-musl" if platform.libc == "musl" else "")


def npm_package(package, name, summary, manifest, files, seconds):
    """The name of a package's file, as `npm pack` writes it, and its bytes."""
    manifest = {
        "name": name,
        "version": package.version,
        "description": summary,
        "license": package.license,
        "repository": {"type": "git", "url": f"git+{package.repository}.git"},
        **manifest,
    }
    files = {"package.json": json.dumps(manifest, indent=2).encode() + b"\n", **package.licenses, **files}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, content in sorted(files.items()):
            entry = tarfile.TarInfo(f"package/{path}")
            entry.size, entry.mtime = len(content), seconds
            entry.mode = 0o755 if path.startswith("bin/") else 0o644
            archive.addfile(entry, io.BytesIO(content))
    file = f"{name.removeprefix('@').replace('/', '-')}-{package.version}.tgz"
    return file, gzip.compress(packed.getvalue(), compresslevel=9, mtime=0)


def npm_binary(package, binary, platform, glibc, seconds):
    """npm's package of one platform."""
    manifest = {
        "os": [platform.os],
        "cpu": [platform.cpu],
        **({"libc": [platform.libc]} if platform.libc else {}),
        # npm does not know of versions of glibc: the launcher compares it.
        **({"glibc": ".".join(map(str, glibc))} if glibc else {}),
        # Yarn must unpack it, for a program in an archive cannot be started.
        "preferUnplugged": True,
    }
    where = " ".join(filter(None, [platform.os, platform.cpu, platform.libc]))
    readme = f"The program of the package `cargo-toolgen` for {where}. Install `cargo-toolgen`, which selects it.\n"
    files = {f"bin/{executable(platform)}": binary, "README.md": readme.encode()}
    return npm_package(package, npm_name(platform), f"cargo-toolgen for {where}", manifest, files, seconds)


def npm_launcher(package, seconds):
    """npm's package `cargo-toolgen`."""
    manifest = {
        "keywords": package.keywords,
        "bin": {"cargo-toolgen": "bin/cargo-toolgen.js"},
        "engines": {"node": ">=18"},
        "optionalDependencies": {name: package.version for name in sorted(map(npm_name, PLATFORMS.values()))},
    }
    files = {
        "bin/cargo-toolgen.js": (ROOT / ".ci/npm/cargo-toolgen.js").read_bytes(),
        "README.md": package.readme.encode(),
    }
    return npm_package(package, "cargo-toolgen", package.summary, manifest, files, seconds)


def bundles(binary, target, seconds):
    """The names of all files, with their bytes."""
    platform = PLATFORMS.get(target)
    if not platform:
        fail(f"no wheel and no package of npm for {target}; there are those of {', '.join(PLATFORMS)}")
    glibc, package = glibc_of(binary, platform), Package()
    return dict([
        wheel(package, binary, platform, glibc, seconds),
        npm_binary(package, binary, platform, glibc, seconds),
        npm_launcher(package, seconds),
    ])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--time", type=int, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    for name, content in bundles(options.binary.read_bytes(), options.target, options.time).items():
        (options.out / name).write_bytes(content)


if __name__ == "__main__":
    main()
