#!/usr/bin/env node
// Starts the program from the package of this platform, one of the optional dependencies.
"use strict";

const { spawn } = require("node:child_process");
const path = require("node:path");
const { version, optionalDependencies } = require("../package.json");

const system = `${process.platform} ${process.arch}`;
const executable = process.platform === "win32" ? "cargo-toolgen.exe" : "cargo-toolgen";
const build = `With Rust, \`cargo install cargo-toolgen@${version}\` builds it for any platform.`;

function fail(...lines) {
  console.error(["cargo-toolgen: " + lines[0], ...lines.slice(1), build].join("\n"));
  process.exit(1);
}

// The version of glibc, such as "2.36", or undefined on systems without glibc.
function glibc() {
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime;
}

function older(one, other) {
  const [a, b] = [one, other].map((text) => text.split(".").map(Number));
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
}

function manifestOf(name) {
  try {
    return require.resolve(`${name}/package.json`);
  } catch {
    return undefined;
  }
}

// The program to start. The one for musl is static, and so it also runs on systems with glibc.
function program() {
  const name = `@toolgen/cli-${process.platform}-${process.arch}`;
  const libc = process.platform === "linux" ? glibc() : undefined;
  let names = [name];
  if (process.platform === "linux") names = libc ? [name, `${name}-musl`] : [`${name}-musl`];
  names = names.filter((name) => name in optionalDependencies);
  if (names.length === 0) {
    const known = Object.keys(optionalDependencies).map((name) => name.replace("@toolgen/cli-", ""));
    fail(`there is no package for ${system}; there are packages for ${known.join(", ")}.`);
  }
  let needed;
  for (const name of names) {
    const manifest = manifestOf(name);
    if (!manifest) continue;
    const { glibc: needs } = require(manifest);
    if (!needs || !older(libc, needs)) return path.join(path.dirname(manifest), "bin", executable);
    needed = needs;
  }
  if (needed) {
    return fail(
      `${name} needs glibc ${needed}, and this system has ${libc}.`,
      `A static program needs none: npm install --libc=musl cargo-toolgen@${version}`,
    );
  }
  return fail(
    `the package ${names[0]}, which has the program for ${system}, is not installed.`,
    "npm leaves it out with `--omit=optional`, or if node_modules is from another platform. To install it here:",
    `npm install --include=optional cargo-toolgen@${version}`,
  );
}

const file = program();
const child = spawn(file, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => fail(`cannot start ${file}: ${error.message}.`));
// The client of a server signals this process, and the server must not outlive it. After SIGKILL, which no process can
// pass on, the server ends when the client closes its input.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => {
  if (!signal) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
