# What a host says of itself, for host_reading.py: `==> NAME <==`, then its first line.
# Arguments: the data directory, a backend's process id, each perhaps empty; then files to be shown.
# Only what every Linux has: a POSIX shell, coreutils.
data=$1 backend=$2 postmaster=
shift 2
exec 2>/dev/null

say() { printf '==> %s <==\n%s\n' "$1" "$2"; }

# Queues of the disks that hold them; a partition has its disk's. What has no device has none.
queue_of() {
  number=$(stat -L -c '%d' -- "$2") || return 0
  major=$((number >> 8 & 4095)) minor=$((number & 255 | number >> 12 & 1048320))
  for queue in "/sys/dev/block/$major:$minor/queue" "/sys/dev/block/$major:$minor/../queue"; do
    if [ -d "$queue" ]; then
      for name in scheduler read_ahead_kb nr_requests; do
        say "queue $1 $name" "$(cat "$queue/$name")"
      done
      break
    fi
  done
}

# Wall clock between two readings of the time since the start; the closest pair is the best.
for turn in 1 2 3; do
  read -r began rest </proc/uptime
  wall=$(date +%s%N)
  read -r ended rest </proc/uptime
  say "clock $turn" "$began $wall $ended"
done

if [ -n "$backend" ]; then
  fields=$(head -n 1 "/proc/$backend/stat")
  fields=${fields##*) }
  fields=${fields#* }
  postmaster=${fields%% *}
fi
say postmaster "$postmaster"
if [ -n "$data" ]; then
  say "disk data" "$(stat -f -L -c '%b %f %a' -- "$data")"
  say "disk wal" "$(stat -f -L -c '%b %f %a' -- "$data/pg_wal")"
  queue_of data "$data"
  queue_of wal "$data/pg_wal"
fi

# head, not the shell's own read: files of /proc/sys give a byte-wise reader their first byte only.
head -v -n 1 -- "$@" \
  /sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor \
  /sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq \
  /sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/core_throttle_count
exit 0
