#!/usr/bin/env bash
# Installs the vendors' packages that run.py asks, into a folder: install.sh DIR.
set -euo pipefail
mkdir -p "$1"
cd "$1"

# pydantic-ai wants Python 3.11 or newer. What is there already is not asked for again: a second run needs no network.
pinned=(anthropic==2.14.0 botocore==1.44.8 google-genai==3.6.1 openai==3.57.0 pydantic-ai-slim==2.68.0)
if [ "$(cat python/pinned 2>/dev/null)" != "${pinned[*]}" ]; then
  [ -x python/bin/python ] || python3 -m venv python
  python/bin/pip install --quiet --disable-pip-version-check "${pinned[@]}"
  echo "${pinned[*]}" > python/pinned
fi

npm=openai@7.57.0
if [ "$(cat node/pinned 2>/dev/null)" != "$npm" ]; then
  npm install --prefix node --silent --no-audit --no-fund --ignore-scripts "$npm"
  echo "$npm" > node/pinned
fi
