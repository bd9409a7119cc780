# Reads a host's files each time a line arrives, and answers with lines PATH:LINE and then a dot.
#
# Enters: the server's first process (0: none), files, `--`, paths whose file systems are wanted.
# A line is `go`, and the processes whose titles are wanted. Never: outlives its input.
LC_ALL=C
export LC_ALL
server=$1
shift
while read -r _ untitled; do
  files=
  children=
  # The list has no newline at its end, which `read` calls a failure.
  { read -r children <"/proc/$server/task/$server/children"; } 2>/dev/null
  for pid in $children; do
    files="$files /proc/$pid/stat /proc/$pid/schedstat /proc/$pid/io"
  done
  # Directories that the second list may name are passed over; so are processes that have ended.
  # shellcheck disable=SC2086
  grep -s '' "$@" /dev/null $files 2>/dev/null
  mounts=
  for path; do
    [ "$path" = -- ] && mounts=1 && continue
    [ -n "$mounts" ] || continue
    stat -f -c '%S %b %a' -- "$path" 2>/dev/null | while read -r size all free; do
      echo "$path:size_bytes $((size * all))"
      echo "$path:free_bytes $((size * free))"
    done
  done
  for pid in $untitled; do
    printf '/proc/%s/cmdline:' "$pid"
    tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline"
    echo
  done 2>/dev/null
  echo .
done
