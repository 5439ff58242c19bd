#!/bin/sh
# Creates the content of the image: the binary, its shared libraries, and the files that a network client needs. It contains no shell
# and no package manager.
#
# usage: rootfs.sh PROGRAM DIRECTORY
set -eu

program=$1
root=$2

mkdir -p "$root/etc/ssl/certs" "$root/run/secrets" "$root/tmp"
chmod 1777 "$root/tmp"
cp "$program" "$root/skills"

# `ldd` prints "name => path (address)" for libraries and "path (address)" for the loader.
ldd "$program" | grep -o '/[^ )]*' | sort -u | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
done

# CA certificates for fetching keys over https, and the configuration of name resolution.
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
echo 'hosts: files dns' > "$root/etc/nsswitch.conf"
echo 'nonroot:x:65532:65532:nonroot:/tmp:/sbin/nologin' > "$root/etc/passwd"
echo 'nonroot:x:65532:' > "$root/etc/group"
