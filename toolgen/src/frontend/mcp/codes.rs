//! Problems of locks and tool lists of MCP servers (06xx).

crate::problem::codes::table! {
    LOCK = "E0601", "A lock of an MCP server cannot be used", "
A lock says what the tools of a server were when somebody read them. It is written by `cargo toolgen mcp lock` and not
by hand: each digest is that of its descriptor, and each name follows from the names of the server's tools. A lock for
which this does not hold was edited, and none of its tools is compiled.

Lock the server again, and read what changed.
";
    DESCRIPTOR = "E0602", "A tool of an MCP server cannot be compiled", "
The descriptor does not follow the protocol: it has no name, the name of another tool, or no schema of its arguments.
The tool is left out, and the rest is compiled.

Ask the authors of the server to correct it, or leave the tool out with `exclude`.
";
    SCHEMA = "W0603", "A rule in a schema of an MCP server is dropped", "
A part of the schema means nothing, is not understood, or leads out of the schema: neither the network nor other files
are read for a reference. The tool is compiled without the part; the server checks it. So is a part of the descriptor
that has the wrong type, such as a hint that is a text.
";
    SUSPICIOUS = "W0604", "A text of an MCP server tries to steer the model or to hide something", "
What a server says about its tools stands in the prompt of every turn. This text has invisible characters, escape
sequences, instructions such as \"do not tell the user\", or the name of another server's tool. An honest description
needs none of that.

Read the text at this place. Give the tool another description with `overrides`, leave it out with `exclude`, or do
without the server.
";
    NO_LOCK = "W0605", "A list of tools is not a lock", "
The file is a server's answer to `tools/list`. Its tools are shown as they would be compiled, but the file does not say
how to reach the server, so they cannot be called.

    cargo toolgen mcp lock --alias shop --out shop.lock.json -- npx shop-server@1.2.3
";
    UNPINNED = "W0606", "The command of an MCP server may start a different version each time", "
The command names a package without its version, so whatever the registry has that day is run. The lock says what its
tools were, and cannot say what they do.

    npx -y shop-server                  write npx -y shop-server@1.2.3
    uvx shop-server                     write uvx shop-server==1.2.3
";
}
