#!/usr/bin/env bash
# Starts OpenStack Swift with its S3 interface on 127.0.0.1:8099, until it is stopped, for the tests of this folder:
#   apt-get install --no-install-recommends swift swift-proxy swift-account swift-container swift-object memcached
#   tests/storage/objects/start-swift.sh &
#   TEST_S3=http://test%3Atester:testing@127.0.0.1:8099 npm test -- tests/storage/objects
# Needs root, as it writes /etc/swift/swift.conf, and a file system with extended attributes.
set -euo pipefail

folder=$(mktemp -d /tmp/trellis-swift-XXXXXX)
mkdir -p "$folder/devices/d1" "$folder/cache" /etc/swift
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$folder"' EXIT

cat >/etc/swift/swift.conf <<'CONF'
[swift-hash]
swift_hash_path_suffix = trellis-tests
[storage-policy:0]
name = default
default = yes
CONF

port=6210
cd "$folder"
for server in object container account; do
  swift-ring-builder "$server.builder" create 4 1 1 >/dev/null
  swift-ring-builder "$server.builder" add "r1z1-127.0.0.1:$port/d1" 1 >/dev/null
  swift-ring-builder "$server.builder" rebalance >/dev/null
  cat >"$server.conf" <<CONF
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = $port
workers = 0
user = $(id -un)
swift_dir = $folder
devices = $folder/devices
mount_check = false
disable_fallocate = true
[pipeline:main]
pipeline = $server-server
[app:$server-server]
use = egg:swift#$server
allow_open_expired = true
[$server-replicator]
CONF
  "swift-$server-server" "$folder/$server.conf" >"$server.log" 2>&1 &
  port=$((port + 1))
done

memcached -u nobody -l 127.0.0.1 -p 6219 &
cat >proxy.conf <<CONF
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = 8099
workers = 0
user = $(id -un)
swift_dir = $folder
[pipeline:main]
pipeline = catch_errors cache listing_formats s3api tempauth slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:6219
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:slo]
use = egg:swift#slo
CONF
swift-proxy-server "$folder/proxy.conf" 2>&1 | tee proxy.log
