//! Problems of locks and tool lists of MCP servers (06xx).

crate::problem::codes::table! {
    LOCK = "E0601", "A lock of an MCP server cannot be used", "
A lock records the tools of a server when a person reviewed them. It is written by `cargo toolgen mcp lock` and not by
hand: each digest matches its descriptor, and each name follows from the names of the server's tools. A lock that does
not match was edited, and none of its tools is compiled.

Lock the server again, and review the changes.
";
    DESCRIPTOR = "E0602", "A tool of an MCP server cannot be compiled", "
The descriptor does not follow the protocol: it has no name, the name of another tool, or no schema of its arguments.
The tool is omitted, and the rest is compiled.

Ask the authors of the server to correct it, or drop the tool with `exclude`.
";
    SCHEMA = "W0603", "A rule in a schema of an MCP server is dropped", "
A part of the schema has no effect, is not understood, or refers to another document: neither the network nor other
files are read for a reference. The tool is compiled without the part; the server checks it. The same applies to a part
of the descriptor with the wrong type, such as a hint that is a string.
";
    SUSPICIOUS = "W0604", "A text of an MCP server tries to steer the model or to hide something", "
The descriptions of a server's tools are part of the prompt in every turn. This one has invisible characters, escape
sequences, instructions such as \"do not tell the user\", or the name of another server's tool. An honest description
needs none of these.

Review the text at this location. Replace the description with `overrides`, drop the tool with `exclude`, or do not use
the server.
";
    NO_LOCK = "W0605", "A list of tools is not a lock", "
The file is a server's response to `tools/list`. Its tools are shown as they would be compiled, but the file does not
declare how to connect to the server, so they cannot be called.

    cargo toolgen mcp lock --alias shop --out shop.lock.json -- npx shop-server@1.2.3
";
    UNPINNED = "W0606", "The command of an MCP server may start a different version each time", "
The command names a package without its version, so the registry's current version is run. The lock records the
descriptors of the tools, not their behavior.

    npx -y shop-server                  write npx -y shop-server@1.2.3
    uvx shop-server                     write uvx shop-server==1.2.3
";
}
