#!/bin/sh
# The first process of a node: first_process.sh NUMBER STATE_FOLDER. Ends when it is killed, and with it the node.
set -e
read -r pid _ </proc/self/stat # its number as the machine counts, not as the node does
hostname "en$1"
[ "$1" = 0 ] || mount -t proc proc /proc
mount -t tmpfs tmpfs /dev/shm
mount --bind "$2/nodes/$1/tmp" "$2/tmp"
mount --bind "$2/hosts" /etc/hosts
echo "$pid $(readlink /proc/self/ns/net)" >"$2/nodes/$1/pid.new"
mv "$2/nodes/$1/pid.new" "$2/nodes/$1/pid"
sleep infinity &
wait # also takes in what lost its parent
