#!/bin/sh
# Copies what a production server needs from a built checkout to a new folder, and installs its packages there.
# The processor is that of this machine, unless it is named: deploy/assemble.sh <folder> [x64|arm64]
set -eu
cd "$(dirname "$0")/.."
target=$1
cpu=${2:-$(node --print process.arch)}

mkdir -p "$target/scripts" "$target/examples"
cp -R package.json package-lock.json .npmrc LICENSE dist stand-ins "$target"
cp scripts/prestart.js "$target/scripts"
cp -R examples/site "$target/examples"
for package in packages/*; do
  mkdir -p "$target/$package"
  cp -R "$package/package.json" "$package/dist" "$target/$package"
done
cd "$target"
npm ci --omit=dev --no-audit --no-fund --os=linux --libc=glibc --cpu="$cpu"
