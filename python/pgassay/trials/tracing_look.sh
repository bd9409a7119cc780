# What this host has for tracing a server, for tracing_checks.py: `==> NAME <==`, then a line.
# Argument: the process id of a backend, perhaps empty. Nothing is traced, set or mounted.
backend=$1
exec 2>/dev/null

say() { printf '==> %s <==\n%s\n' "$1" "$2"; }

# Whether a file holds a word; a section's name is in the program's own table of them.
holds() { grep -aqF -e "$2" -- "$1" && echo yes; }

say looked yes
say perf "$(command -v perf)"
say bpftrace "$(command -v bpftrace)"
say paranoid "$(cat /proc/sys/kernel/perf_event_paranoid)"
say rights "$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)"
for place in /sys/kernel/tracing /sys/kernel/debug/tracing; do
  if [ -e "$place/uprobe_events" ]; then
    say tracefs "$place"
    break
  fi
done
say uprobes "$(cat /sys/bus/event_source/devices/uprobe/type)"

if [ -n "$backend" ]; then
  program=$(readlink "/proc/$backend/exe")
  say program "$program"
  # Through /proc: the file that runs, also where its name leads elsewhere by now.
  file=/proc/$backend/exe
  if [ -r "$file" ]; then
    say readable yes
    say probes "$(holds "$file" .note.stapsdt)"
    say symbols "$(holds "$file" .symtab || holds "$file" .debug_info)"
    id=$(readelf -n "$file" | sed -n 's/.*Build ID: *//p' | head -n 1)
    rest=${id#??}
    aside=/usr/lib/debug/.build-id/${id%"$rest"}/$rest.debug
    if [ -n "$id" ] && [ -e "$aside" ]; then say symbols yes; fi
  fi
fi
exit 0
